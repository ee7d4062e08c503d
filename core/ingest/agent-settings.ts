import * as z from 'zod';
import { DEPTHS } from '../diagnosis/schema.ts';

/**
 * What an account decides about an agent's sessions. At least 3 minutes of silence: spans become queryable 2–3
 * minutes after the run (AgentCore), so less would close half a session.
 */
const settingsSchema = z.strictObject({
  /** Silence by arrival clock after which a session is over, seconds. */
  idleSeconds: z.number().int().min(180).max(86_400),
  depth: z.enum(DEPTHS),
  confidence: z.enum(['low', 'medium', 'high']),
  votes: z.number().int().min(1).max(9),
  /** Share of sessions diagnosed, 0–1; decided by the session id, so that all versions agree. */
  sampling: z.number().min(0).max(1),
});
export type AgentSettings = z.infer<typeof settingsSchema>;

/** 15 minutes is what comparable systems wait by default (AgentCore online evaluation). */
export const DEFAULT_SETTINGS: AgentSettings = {
  idleSeconds: 900,
  depth: 'standard',
  confidence: 'low',
  votes: 1,
  sampling: 1,
};

/** Unset fields of an agent take those of `default`, and those of `default` take DEFAULT_SETTINGS. */
export const agentConfigurationSchema = z.strictObject({
  default: settingsSchema.partial().optional(),
  agents: z.record(z.string(), settingsSchema.partial()).optional(),
});
export type AgentConfiguration = z.infer<typeof agentConfigurationSchema>;

export function settingsFor(configuration: AgentConfiguration, agent: string | null): AgentSettings {
  const agents = configuration.agents ?? {};
  const own = agent !== null && Object.hasOwn(agents, agent) ? agents[agent] : undefined;
  return settingsSchema.parse({ ...DEFAULT_SETTINGS, ...given(configuration.default), ...given(own) });
}

/** A key that is present but undefined must not hide the value below it. */
function given(settings: object | undefined): object {
  return Object.fromEntries(Object.entries(settings ?? {}).filter(([, value]) => value !== undefined));
}
