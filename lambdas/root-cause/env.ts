import * as z from 'zod';

export const rootCauseEnv = z.object({
  BUCKET_NAME: z.string().min(1),
  TABLE_NAME: z.string().min(1),
  /** Days until a diagnosis expires. */
  RETENTION_DAYS: z.coerce.number().int().positive(),
});
