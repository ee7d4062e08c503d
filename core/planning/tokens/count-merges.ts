import type { Ranks } from './o200k-ranks.ts';

const NO_RANK = Number.POSITIVE_INFINITY;

/**
 * Number of tokens that byte-pair merging leaves of one piece: the adjacent pair of the lowest rank, leftmost
 * first, is joined until no pair has a rank. Quadratic in the bytes, so the caller caps the piece.
 */
export function countMerges(bytes: string, ranks: Ranks): number {
  if (bytes.length === 1 || ranks.has(bytes)) return 1;
  // starts[i] begins part i and the last entry ends the last part; pair[i] ranks parts i and i + 1 together.
  const starts: number[] = [];
  for (let i = 0; i <= bytes.length; i++) starts.push(i);
  const rankAt = (i: number): number => {
    const end = starts[i + 2];
    return end === undefined ? NO_RANK : (ranks.get(bytes.slice(starts[i], end)) ?? NO_RANK);
  };
  const pair: number[] = [];
  for (let i = 0; i < bytes.length; i++) pair.push(rankAt(i));
  for (;;) {
    let lowest = NO_RANK;
    let at = -1;
    for (let i = 0; i < pair.length; i++) {
      const rank = pair[i] ?? NO_RANK;
      if (rank < lowest) {
        lowest = rank;
        at = i;
      }
    }
    if (at === -1) return starts.length - 1;
    starts.splice(at + 1, 1);
    pair.splice(at + 1, 1);
    pair[at] = rankAt(at);
    if (at > 0) pair[at - 1] = rankAt(at - 1);
  }
}
