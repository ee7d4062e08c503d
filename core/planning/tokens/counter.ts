/** Counts o200k_base tokens. Implementations are pure and memoise. */
export interface TokenCounter {
  /** Exact count (as js-tiktoken's o200k_base, special tokens treated as plain text). */
  count(text: string): number;
  /**
   * Cheap bounds from the UTF-8 length (÷ 8 and ÷ 1.4), for skipping exact counts far from a limit. Measured on
   * traces (÷ 6.5 and ÷ 1.9 at the extremes), not laws of the encoding: runs of white space take fewer, rare
   * scripts more.
   */
  bounds(text: string): { readonly low: number; readonly high: number };
}
