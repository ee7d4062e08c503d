import * as z from 'zod';

/** What a person said of a failure of a diagnosis. */
export const feedbackSchema = z.object({
  spanId: z.string(),
  verdict: z.enum(['confirmed', 'rejected']),
  /** ISO time. */
  at: z.string(),
  note: z.string().nullable(),
});
export type Feedback = z.infer<typeof feedbackSchema>;

/** A finding that was left out because its issue was rejected before. */
export const suppressedSchema = z.object({
  spanId: z.string(),
  category: z.string(),
  issue: z.string(),
  /** Session and time of the rejection. */
  rejectedIn: z.string(),
  at: z.string(),
});
export type Suppressed = z.infer<typeof suppressedSchema>;
