import o200k from 'js-tiktoken/ranks/o200k_base';

/** Rank of each token by its bytes, written as a string of code units 0–255. */
export type Ranks = ReadonlyMap<string, number>;

let loaded: Ranks | null = null;

/**
 * The 199,998 ranks of o200k_base, decoded at the first call and kept. js-tiktoken's own class keeps a second map
 * for decoding and keys its bytes as `104,101,…`: 0.8 s and 155 MB; this takes about a quarter of both.
 */
export function o200kRanks(): Ranks {
  loaded ??= decodeRanks(o200k.bpe_ranks);
  return loaded;
}

/** Lines of `! <rank of the first> <base64> <base64> …`. */
function decodeRanks(lines: string): Ranks {
  const ranks = new Map<string, number>();
  for (const line of lines.split('\n')) {
    if (line === '') continue;
    const [, offset, ...tokens] = line.split(' ');
    const first = Number.parseInt(offset ?? '', 10);
    for (const [i, token] of tokens.entries()) ranks.set(atob(token), first + i);
  }
  return ranks;
}

/** How the encoding cuts text into pieces before it merges bytes. */
export const o200kPieces = (flags: string): RegExp => new RegExp(o200k.pat_str, flags);
