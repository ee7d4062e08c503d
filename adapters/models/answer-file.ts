import * as z from 'zod';
import { usageSchema } from '../../core/diagnosis/schema.ts';

/** A ModelAnswer as it lies in a cache or a recording. */
export const answerSchema = z.object({
  text: z.string().min(1),
  usage: usageSchema,
  model: z.string(),
  outputMode: z.enum(['native-schema', 'strict-tool', 'text']),
  requestHash: z.string(),
  cached: z.boolean(),
  durationMs: z.number(),
});
