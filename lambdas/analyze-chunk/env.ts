import * as z from 'zod';
import { dailyBudgetEnv } from '../../core/ports/daily-budget-env.ts';

export const analyzeChunkEnv = z.object({ BUCKET_NAME: z.string().min(1), ...dailyBudgetEnv });
