import * as z from 'zod';

/** What a run should have done, where a user knows it: tool calls with their arguments. */
export const expectedActionsSchema = z
  .array(z.strictObject({ name: z.string().min(1), arguments: z.record(z.string(), z.json()) }))
  .max(500);
export type ExpectedAction = z.infer<typeof expectedActionsSchema>[number];
