import type { ModelLimits } from '../model/port.ts';
import type { ChunkSettings } from './plan.ts';

/**
 * Default settings for a model. `promptTokens` are those of the instructions around the chunk. The window is stated
 * in our tokens (o200k_base), so the model's own tokenizer is allowed for once, here.
 */
export function chunkSettings(limits: ModelLimits, promptTokens: number): ChunkSettings {
  return {
    contextTokens: Math.floor(limits.contextTokens / limits.tokenFactor),
    preflightShare: 0.65,
    chunkShare: 0.5,
    promptTokens,
    overlapSpans: 5,
    overlapShare: 0.5,
  };
}

/** Tokens that one chunk, header included, may take beside the instructions. */
export function chunkBudget(settings: ChunkSettings): number {
  return Math.floor(settings.contextTokens * settings.chunkShare) - settings.promptTokens;
}
