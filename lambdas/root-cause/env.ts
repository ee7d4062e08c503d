import * as z from 'zod';
import { dailyBudgetEnv } from '../../core/ports/daily-budget-env.ts';

export const rootCauseEnv = z.object({
  BUCKET_NAME: z.string().min(1),
  ...dailyBudgetEnv,
  /** Days until a diagnosis expires. */
  RETENTION_DAYS: z.coerce.number().int().positive(),
});
