import * as z from 'zod';

export const recordFailureEnv = z.object({
  BUCKET_NAME: z.string().min(1),
  TABLE_NAME: z.string().min(1),
  /** Days until the row of a failure expires. */
  RETENTION_DAYS: z.coerce.number().int().positive(),
});
