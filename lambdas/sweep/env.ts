import * as z from 'zod';

export const sweepEnv = z.object({
  TABLE_NAME: z.string().min(1),
  RETENTION_DAYS: z.coerce.number().int().positive(),
  TIMER_QUEUE_URL: z.string().min(1),
  STATE_MACHINE_ARN: z.string().min(1),
  /** Diagnoses that may run at the same time. */
  MAX_RUNNING: z.coerce.number().int().positive(),
  /** JSON of `agentConfigurationSchema` (core/ports/agent-settings.ts). */
  AGENT_CONFIGURATION: z.string().min(2),
});
