import * as z from 'zod';

export const preflightEnv = z.object({
  BUCKET_NAME: z.string().min(1),
  /** Model spec of sessions that bring none of their own. */
  MODEL_SPEC: z.string().min(1),
});
