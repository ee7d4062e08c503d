/** Counts o200k_base tokens. Implementations are pure and memoise. */
export interface TokenCounter {
  /** Exact count (as js-tiktoken's o200k_base, special tokens treated as plain text). */
  count(text: string): number;
  /** Cheap bounds from the UTF-8 length, for skipping exact counts far from a limit. */
  bounds(text: string): { readonly low: number; readonly high: number };
}
