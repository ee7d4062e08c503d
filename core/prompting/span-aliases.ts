import type { Trajectory } from '../trajectory/trajectory.ts';

/** Short names of spans for prompts (a 16-digit hex id costs some ten tokens), and the way back. */
export interface SpanAliases {
  /** Alias of a step. */
  of(stepIndex: number): string;
  /**
   * Real span id for what a model answered: an alias or a real id, also in `@`, quotes or brackets. `null` when
   * it is neither.
   */
  spanIdOf(answer: string): string | null;
}

const SHORT_ID = /^[a-z]\d{1,6}$/;

/**
 * Aliases are `s0`, `s1`, … by step. Ids that are short already (`m12` of a message list) are their own alias, and
 * where a real id looks like an alias another letter is taken, so that no answer can mean two spans.
 */
export function makeSpanAliases(trajectory: Trajectory): SpanAliases {
  const { steps, stepBySpan } = trajectory;
  const unique = stepBySpan.size === steps.length;
  const ownIds = unique && steps.every((step) => SHORT_ID.test(step.spanId));
  const taken = new Set(steps.filter((step) => SHORT_ID.test(step.spanId)).map((step) => step.spanId[0]));
  const letter = [...'stpqrxyzabcdefghijklmnouvw'].find((candidate) => !taken.has(candidate)) ?? 's';
  const aliases = steps.map((step) => (ownIds ? step.spanId : `${letter}${step.index}`));
  const byAlias = new Map(steps.map((step) => [aliases[step.index] ?? '', step.spanId]));
  return {
    of(stepIndex) {
      const alias = aliases[stepIndex];
      if (alias === undefined) throw new RangeError(`no step ${stepIndex} among ${steps.length}`);
      return alias;
    },
    spanIdOf(answer) {
      const exact = answer.trim();
      if (stepBySpan.has(exact)) return exact;
      const bare = exact.replace(/^[@"'`([<]{1,4}/, '').replace(/[\])>"'`:.,]{1,4}$/, '');
      return byAlias.get(bare) ?? (stepBySpan.has(bare) ? bare : null);
    },
  };
}
