import * as z from 'zod';

/** Variables of a step that pays for model calls. `none`: no limit. */
export const dailyBudgetEnv = {
  TABLE_NAME: z.string().min(1),
  DAILY_BUDGET_USD: z.union([z.literal('none').transform(() => null), z.coerce.number().positive()]),
};
