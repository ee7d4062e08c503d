import * as z from 'zod';

/** A ModelAnswer as it lies in a cache or a recording. */
export const answerSchema = z.object({
  text: z.string().min(1),
  usage: z.object({
    inputTokens: z.number(),
    outputTokens: z.number(),
    cacheReadTokens: z.number(),
    cacheWriteTokens: z.number(),
    costUsd: z.number().nullable(),
    calls: z.number(),
  }),
  model: z.string(),
  rung: z.enum(['native-schema', 'strict-tool', 'text']),
  requestHash: z.string(),
  cached: z.boolean(),
  durationMs: z.number(),
});
