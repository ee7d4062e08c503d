import { type CriticalStep, EFFECTS, type Failure, type RootCause } from '../diagnosis/schema.ts';

/** Impacts of a root cause that leave the goal reachable, at a price. */
const DEGRADING: readonly RootCause['propagation_impact'][number][] = [
  'QUALITY_DEGRADATION',
  'INCORRECT_PATH',
  'STATE_CORRUPTION',
];

/**
 * What each failure did to the goal: the critical one lost it, and so did those whose cause lies in it; one that was
 * put right did nothing; of the others their root cause says it, where a model gave one.
 */
export function withEffects(
  failures: readonly Failure[],
  rootCauses: readonly RootCause[],
  criticals: readonly CriticalStep[],
): readonly Failure[] {
  const critical = new Set(criticals.map(({ spanId }) => spanId));
  const causeOf = new Map(rootCauses.map((cause) => [cause.failure_span_id, cause]));
  const leadsToCritical = (spanId: string): boolean => {
    const seen = new Set<string>();
    for (let at = spanId; !seen.has(at); at = causeOf.get(at)?.location ?? at) {
      if (critical.has(at)) return true;
      seen.add(at);
    }
    return false;
  };
  return failures.map((failure): Failure => {
    if (critical.has(failure.span_id)) return { ...failure, effect: 'goal-lost' };
    if (failure.recovered === 'yes') return { ...failure, effect: 'none' };
    if (leadsToCritical(failure.span_id)) return { ...failure, effect: 'goal-lost' };
    const impacts = causeOf.get(failure.span_id)?.propagation_impact ?? [];
    if (impacts.some((impact) => DEGRADING.includes(impact))) return { ...failure, effect: 'degraded' };
    return { ...failure, effect: impacts.join() === 'NO_PROPAGATION' ? 'none' : 'unknown' };
  });
}

/** The worst first, then in the given order; each with its root cause. */
export function byEffect<T extends { readonly failure: Failure }>(items: readonly T[]): readonly T[] {
  return items.toSorted((a, b) => EFFECTS.indexOf(a.failure.effect) - EFFECTS.indexOf(b.failure.effect));
}
