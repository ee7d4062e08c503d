import type { CriticalStep } from '../../diagnosis/schema.ts';

/** One usable vote: the step it names, or `null` for "there is none". */
export type Vote = CriticalStep | null;

const MAX_ALTERNATIVES = 3;

/**
 * One verdict from several votes. Most votes win; a tie goes to "none" over a step, then to the higher sum of
 * confidences, then to the earlier step. The category is the most frequent one among the votes for the step. What
 * the voters were not agreed on weighs less: the confidence is their mean times the agreement.
 *
 * With `assumeFailed`, votes for "none" are set aside as long as any vote names a step.
 */
export function countVotes(votes: readonly Vote[], assumeFailed: boolean): Vote {
  const named = votes.filter((vote) => vote !== null);
  const none = votes.length - named.length;
  const counted = assumeFailed ? named.length : votes.length;
  const bySpan = [...Map.groupBy(named, (vote) => vote.spanId).values()].sort(
    (a, b) => b.length - a.length || sum(b) - sum(a) || positionOf(a) - positionOf(b),
  );
  const [winners, ...others] = bySpan;
  if (winners === undefined || (!assumeFailed && none >= winners.length)) return null;
  const category = mostFrequent(winners);
  const spokesman = winners
    .filter((vote) => vote.category === category)
    .toSorted((a, b) => b.confidence - a.confidence)[0];
  if (spokesman === undefined) return null;
  if (votes.length === 1) return spokesman;
  const agreement = winners.length / counted;
  const fromOthers = others.flatMap(([vote]) => (vote === undefined ? [] : [asAlternative(vote)]));
  return {
    ...spokesman,
    confidence: (sum(winners) / winners.length) * agreement,
    agreement,
    alternatives: distinct(spokesman.spanId, [
      ...fromOthers,
      ...winners.flatMap((vote) => vote.alternatives),
    ]),
  };
}

const sum = (votes: readonly CriticalStep[]): number =>
  votes.reduce((total, vote) => total + vote.confidence, 0);
const positionOf = (votes: readonly CriticalStep[]): number => votes[0]?.position ?? 0;

function mostFrequent(votes: readonly CriticalStep[]): CriticalStep['category'] | null {
  const groups = [...Map.groupBy(votes, (vote) => vote.category)];
  groups.sort(([, a], [, b]) => b.length - a.length || sum(b) - sum(a));
  return groups[0]?.[0] ?? null;
}

type Alternative = CriticalStep['alternatives'][number];

function asAlternative({ spanId, position, agent, category, confidence }: CriticalStep): Alternative {
  return { spanId, position, agent, category, confidence };
}

function distinct(chosen: string, alternatives: readonly Alternative[]): Alternative[] {
  const seen = new Set([chosen]);
  const kept = alternatives.filter(({ spanId }) => !seen.has(spanId) && seen.add(spanId));
  return kept.slice(0, MAX_ALTERNATIVES);
}
