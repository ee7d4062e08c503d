import * as z from 'zod';

/** Text of JSON: variables hold nothing else. */
const jsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'is not JSON' });
    return z.NEVER;
  }
});

export const preflightEnv = z.object({
  BUCKET_NAME: z.string().min(1),
  /** JSON list of the model specs that sessions may be sent to; the first is for sessions that name none. */
  MODEL_SPECS: jsonText.pipe(z.tuple([z.string().min(1)], z.string().min(1))),
});
