import * as z from 'zod';

export const ingestEnv = z.object({
  BUCKET_NAME: z.string().min(1),
  TABLE_NAME: z.string().min(1),
  DELIVERY_QUEUE_URL: z.string().min(1),
  /** Days that the session index is kept. */
  RETENTION_DAYS: z.coerce.number().int().positive(),
  /** First wait of a new session, seconds; the closing knows the agent's own idle time. */
  IDLE_SECONDS: z.coerce.number().int().positive(),
  /** Prefixes of our own log groups, comma-separated: their records are dropped. */
  OWN_LOG_GROUPS: z.string().min(1),
});
