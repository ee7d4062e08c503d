import {
  BATCH_FACTOR,
  CACHE_READ_FACTOR,
  CACHE_WRITE_FACTOR,
  type ModelCapabilities,
} from './capabilities.ts';
import type { Usage } from './port.ts';

/** Tokens of one call. `inputTokens` leaves out what was read from or written to the cache. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

export const NO_TOKENS: TokenUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

/** Usage of one call. Null tokens (the server reported none) and models without a price have a null cost. */
export function priceUsage(
  tokens: TokenUsage | null,
  { prices }: Pick<ModelCapabilities, 'prices'>,
  how: 'online' | 'batch' = 'online',
): Usage {
  if (tokens === null) return { ...NO_TOKENS, costUsd: null, calls: 1 };
  const prompt = tokens.inputTokens + tokens.cacheReadTokens + tokens.cacheWriteTokens;
  const tier = prices.find((price) => prompt <= price.upToPromptTokens);
  if (tier === undefined) return { ...tokens, costUsd: null, calls: 1 };
  const input =
    tokens.inputTokens +
    tokens.cacheReadTokens * CACHE_READ_FACTOR +
    tokens.cacheWriteTokens * CACHE_WRITE_FACTOR;
  const usd = (input * tier.input + tokens.outputTokens * tier.output) / 1_000_000;
  return { ...tokens, costUsd: how === 'batch' ? usd * BATCH_FACTOR : usd, calls: 1 };
}
