import * as z from 'zod';

export const closeSessionEnv = z.object({
  BUCKET_NAME: z.string().min(1),
  TABLE_NAME: z.string().min(1),
  TIMER_QUEUE_URL: z.string().min(1),
  STATE_MACHINE_ARN: z.string().min(1),
  RETENTION_DAYS: z.coerce.number().int().positive(),
  /** JSON of `agentConfigurationSchema` (core/ports/agent-settings.ts). */
  AGENT_CONFIGURATION: z.string().min(2),
});
