import { ACCEPTABLE_HEALTHY_RATE, measureFiring, type TrialSession } from './check-constraints.ts';
import type { CompiledConstraint } from './compile.ts';
import type { ConstraintTally } from './run.ts';

/**
 * Reflection and pruning. The price of a constraint is how often it fires where nothing is wrong: above half of the
 * healthy sessions it says nothing and is dropped, above a tenth it counts as low.
 */
const DROP_RATE = 0.5;
/** Fewer sessions than this prove nothing about a rate. */
const ENOUGH_HEALTHY = 5;
/** A rule broken nearly everywhere it applies is more likely wrong than the run. */
const TOO_STRICT = { places: 5, share: 0.8 } as const;

export interface Pruned {
  readonly kept: readonly CompiledConstraint[];
  readonly dropped: readonly { readonly compiled: CompiledConstraint; readonly reason: string }[];
}

/** Measures on the healthy sessions. Constraints of users are weighed and never dropped: they know their rules. */
export function pruneByFiring(
  constraints: readonly CompiledConstraint[],
  healthy: readonly TrialSession[],
): Pruned {
  const sessions = healthy.filter(({ outcome }) => outcome === 'healthy');
  if (sessions.length === 0) return { kept: constraints, dropped: [] };
  // Spans of one run mean nothing in another: the rate of a constraint is that of its rule.
  const firing = measureFiring(
    constraints.map((compiled) => ({ ...compiled, only: null })),
    sessions,
  );
  const kept: CompiledConstraint[] = [];
  const dropped: Pruned['dropped'][number][] = [];
  for (const compiled of constraints) {
    const seen = firing.get(compiled.constraint.name)?.firing.healthy;
    // Where it could never be decided, that it did not fire says nothing.
    const undecided = seen === undefined || (seen.fired === 0 && seen.applied <= seen.unclear);
    if (compiled.assertion === null || undecided) {
      kept.push(compiled);
      continue;
    }
    const rate = seen.fired / seen.sessions;
    const weighed = { ...compiled, healthyFiringRate: rate };
    const enough = seen.sessions >= ENOUGH_HEALTHY;
    if (enough && rate > DROP_RATE && compiled.origin !== 'user') {
      dropped.push({
        compiled: weighed,
        reason: `fires on ${seen.fired} of ${seen.sessions} healthy sessions`,
      });
    } else {
      kept.push(enough && rate > ACCEPTABLE_HEALTHY_RATE ? asLow(weighed) : weighed);
    }
  }
  return { kept, dropped };
}

export function asLow(compiled: CompiledConstraint): CompiledConstraint {
  return { ...compiled, constraint: { ...compiled.constraint, severity: 'low' } };
}

/** Whether a constraint looks too strict by this run alone; says why, or `null`. */
export function tooStrict(tally: ConstraintTally): string | null {
  const strict = tally.applied >= TOO_STRICT.places && tally.violated >= tally.applied * TOO_STRICT.share;
  return strict
    ? `broken at ${tally.violated} of the ${tally.applied} places where it applies: likely too strict`
    : null;
}

const WHITE_SPACE_OR_TEXT = /"[^"]*"|'[^']*'|\s+/g;
const squeeze = (expression: string): string =>
  expression.replace(WHITE_SPACE_OR_TEXT, (found) => (found.trim() === '' ? '' : found));

/** One of each rule: the first by name, and by what it says. Those of users are all kept: each is owed its entry. */
export function withoutDuplicates(constraints: readonly CompiledConstraint[]): readonly CompiledConstraint[] {
  const seen = new Set<string>();
  return constraints.filter(({ constraint, only, origin }) => {
    const { each, guard, assertion, rubric } = constraint;
    const says = [each, squeeze(guard), assertion === null ? rubric.join('\n') : squeeze(assertion)].join(
      '\n',
    );
    const keys = [
      `name ${constraint.name}`,
      `rule ${says} ${only === null ? '' : [...only].sort().join(',')}`,
    ];
    if (origin !== 'user' && keys.some((key) => seen.has(key))) return false;
    for (const key of keys) seen.add(key);
    return true;
  });
}
