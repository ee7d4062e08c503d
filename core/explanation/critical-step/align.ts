import { quarantine } from '../../diagnosis/quarantine.ts';
import { UNKNOWN_RECOVERY } from '../../diagnosis/recovery.ts';
import type { CriticalStep, Failure, Quarantined, RootCause } from '../../diagnosis/schema.ts';
import type { Trajectory } from '../../trajectory/trajectory.ts';
import { failureCategoryOf } from '../../vocabulary/critical-categories.ts';
import { type CategoryDefinition, TAXONOMY } from '../../vocabulary/taxonomy.ts';

/**
 * The critical step is a failure that nothing put right, by definition: the failure at its span is marked so, whatever
 * was said of it before, since who judges saw the whole run. When the failures do not hold it, it is added in its
 * place, so that a diagnosis never says "no failure" and names a critical step in one breath.
 */
export function withCriticalStep(
  trajectory: Trajectory,
  failures: readonly Failure[],
  critical: CriticalStep | null,
  taxonomy: readonly CategoryDefinition[] = TAXONOMY,
  source: Failure['source'][number],
): readonly Failure[] {
  if (critical === null) return failures;
  if (failures.some(({ span_id }) => span_id === critical.spanId)) {
    return failures.map((failure) =>
      failure.span_id === critical.spanId
        ? { ...failure, recovered: 'no' as const, recoveredBy: null }
        : failure,
    );
  }
  const meant = failureCategoryOf(critical.category);
  const place = (failure: Failure): number =>
    trajectory.stepBySpan.get(failure.span_id)?.index ?? Number.MAX_SAFE_INTEGER;
  return [
    ...failures,
    {
      span_id: critical.spanId,
      category: [taxonomy.some(({ id }) => id === meant) ? meant : 'other'],
      confidence: [critical.confidence],
      evidence: [critical.reason],
      source: [source],
      ...UNKNOWN_RECOVERY,
      recovered: 'no' as const,
    },
  ].toSorted((a, b) => place(a) - place(b));
}

/** Who says that the critical step is one. */
export function sourceOf(critical: CriticalStep | null, requestHash: string): Failure['source'][number] {
  switch (critical?.judgedBy) {
    case 'reference':
      return { kind: 'user', ref: 'expected-actions' };
    case 'checks':
      return { kind: 'check', ref: 'judge-without-model' };
    default:
      return { kind: 'model', ref: requestHash };
  }
}

/** The failure at the critical step set things going: its root cause is PRIMARY, whatever was said. */
export function makePrimary(
  rootCauses: readonly RootCause[],
  critical: CriticalStep | null,
): { readonly rootCauses: readonly RootCause[]; readonly quarantined: readonly Quarantined[] } {
  const quarantined: Quarantined[] = [];
  const aligned = rootCauses.map((cause) => {
    if (cause.failure_span_id !== critical?.spanId || cause.causality === 'PRIMARY_FAILURE') return cause;
    quarantined.push(
      quarantine(
        'root-cause',
        `causality ${cause.causality} of the critical step read as PRIMARY_FAILURE`,
        cause.root_cause_explanation,
      ),
    );
    return { ...cause, causality: 'PRIMARY_FAILURE' as const };
  });
  return { rootCauses: aligned, quarantined };
}
