import type { Looked } from '../diagnosis/schema.ts';
import type { ChunkResult, Prepared } from '../diagnosis/stages.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';

/** `s` for a whole span, `s#2` for its third part. */
const pieceKey = (spanId: string, part: { readonly index: number } | null): string =>
  part === null ? spanId : `${spanId}#${part.index}`;

/**
 * What a model really looked at. A span counts only when it was seen whole in one chunk, or each of its parts was
 * seen in the chunk that holds it. Tokens are shared out over the spans by the length of their text: the plan knows
 * the exact total, and the shares need no second count.
 */
export function coverageOf(
  prepared: Prepared,
  trajectory: Trajectory,
  results: readonly ChunkResult[],
): Omit<Looked, 'gaps'> & { readonly unseen: readonly string[] } {
  const seenBy = new Map(results.map((result) => [result.index, new Set(result.spanIdsSeen)]));
  const wanted = new Map<string, Set<string>>();
  const seen = new Set<string>();
  for (const chunk of prepared.plan.chunks) {
    for (const { spanId, part } of chunk.spans) {
      const key = pieceKey(spanId, part);
      const pieces = wanted.get(spanId) ?? new Set<string>();
      wanted.set(spanId, pieces.add(key));
      if (seenBy.get(chunk.index)?.has(spanId) === true) seen.add(key);
    }
  }
  const isSeen = (spanId: string): boolean => {
    if (seen.has(spanId)) return true;
    const parts = [...(wanted.get(spanId) ?? [])].filter((key) => key !== spanId);
    return parts.length > 0 && parts.every((key) => seen.has(key));
  };
  const unseen = trajectory.steps.filter(({ spanId }) => !isSeen(spanId));
  const weight = (step: Trajectory['steps'][number]): number => JSON.stringify(step.parts).length + 40;
  const total = trajectory.steps.reduce((sum, step) => sum + weight(step), 0);
  const left = unseen.reduce((sum, step) => sum + weight(step), 0);
  const { totalTokens } = prepared.plan;
  return {
    spansTotal: trajectory.steps.length,
    spansAnalysed: trajectory.steps.length - unseen.length,
    tokensTotal: totalTokens,
    tokensAnalysed: total === 0 ? 0 : Math.round((totalTokens * (total - left)) / total),
    unseen: unseen.map(({ spanId }) => spanId),
  };
}
