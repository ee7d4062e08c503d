import type { SessionView } from '../html/session-view.ts';

/** What a diagnosis says about one step. */
export interface Mark {
  readonly kind: 'critical' | 'alternative' | 'failure' | 'cause' | 'violation' | 'check' | 'error';
  readonly label: string;
}

/** The marks of each step, by span id, what matters most first. */
export function marksBySpan({ diagnosis, steps }: SessionView): ReadonlyMap<string, readonly Mark[]> {
  const marks = new Map<string, Mark[]>();
  const add = (spanId: string, mark: Mark): void => {
    const ofSpan = marks.get(spanId) ?? [];
    if (!ofSpan.some(({ kind, label }) => kind === mark.kind && label === mark.label)) ofSpan.push(mark);
    marks.set(spanId, ofSpan);
  };
  const { criticalStep } = diagnosis;
  if (criticalStep !== null) {
    add(criticalStep.spanId, { kind: 'critical', label: 'point of no return' });
    for (const other of criticalStep.alternatives)
      add(other.spanId, { kind: 'alternative', label: 'possible point of no return' });
  }
  for (const [index, { span_id }] of diagnosis.failures.entries())
    add(span_id, { kind: 'failure', label: `failure ${index + 1}` });
  for (const [index, { location, failure_span_id }] of diagnosis.rootCauses.entries())
    if (location !== failure_span_id)
      add(location, { kind: 'cause', label: `cause of failure ${index + 1}` });
  for (const { verdict, spanId, constraint, origin } of diagnosis.validationLog)
    if (verdict === 'violated' && origin !== 'built-in')
      add(spanId, { kind: 'violation', label: `violates ${constraint}` });
  for (const { findings } of diagnosis.checks)
    for (const { spanId, checkId } of findings) add(spanId, { kind: 'check', label: `check: ${checkId}` });
  for (const { spanId, failed } of steps) if (failed) add(spanId, { kind: 'error', label: 'error' });
  return marks;
}
