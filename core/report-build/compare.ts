import type { Diagnosis } from '../diagnosis/schema.ts';

export interface ComparedFault {
  readonly category: string;
  /** Who and what, the same in both runs; their step numbers may differ. */
  readonly place: string;
  readonly before: number | null;
  readonly after: number | null;
}

export interface Comparison {
  readonly fixed: readonly ComparedFault[];
  readonly new: readonly ComparedFault[];
  readonly same: readonly ComparedFault[];
}

/**
 * Two diagnoses side by side: two runs of one task, one run by two models, before and after a fix. Faults are the same
 * when category, agent and what was called are the same; the n-th of one kind answers to the n-th of the other.
 */
export function compareDiagnoses(before: Diagnosis, after: Diagnosis): Comparison {
  const left = faultsOf(before);
  const right = faultsOf(after);
  const keys = [...new Set([...left.keys(), ...right.keys()])];
  const all = keys.map((key): ComparedFault => {
    const earlier = left.get(key);
    const other = right.get(key);
    const [category = '', place = ''] = key.split('\0');
    return { category, place, before: earlier ?? null, after: other ?? null };
  });
  return {
    fixed: all.filter(({ after: there }) => there === null),
    new: all.filter(({ before: there }) => there === null),
    same: all.filter((fault) => fault.before !== null && fault.after !== null),
  };
}

/** Step numbers by what identifies a fault. */
function faultsOf({ failures, spans }: Diagnosis): Map<string, number> {
  const found = new Map<string, number>();
  const seen = new Map<string, number>();
  for (const { span_id, category } of failures) {
    const span = spans.find(({ spanId }) => spanId === span_id);
    const place =
      span === undefined ? span_id : [span.agent, span.name].filter((part) => part !== null).join(', ');
    for (const id of category) {
      const kind = `${id}\0${place}`;
      const nth = (seen.get(kind) ?? 0) + 1;
      seen.set(kind, nth);
      found.set(`${kind}\0${nth}`, span?.position ?? 0);
    }
  }
  return found;
}
