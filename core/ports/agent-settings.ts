import * as z from 'zod';
import { DEPTHS } from '../diagnosis/schema.ts';
import { ConfigurationInvalidError } from '../errors/errors.ts';

/**
 * Spans become queryable 2–3 minutes after the run (AgentCore): less silence would close half a session. The
 * construct refuses less; a desk with a clock of its own need not.
 */
export const MIN_IDLE_SECONDS = 180;

/** What an account decides about an agent's sessions. */
const settingsSchema = z.strictObject({
  /** Silence by arrival clock after which a session is over, seconds. */
  idleSeconds: z.number().int().min(1).max(86_400),
  /** Model spec; `null` takes the stack's. */
  model: z.string().min(1).nullable(),
  depth: z.enum(DEPTHS),
  confidence: z.enum(['low', 'medium', 'high']),
  votes: z.number().int().min(1).max(9),
  /** Depth by rule: at depth `deep`, ask for constraints always or only where something was found. */
  deepRule: z.enum(['always', 'on-findings']),
  /** Share of sessions diagnosed, 0–1; decided by the session id, so that all versions agree. */
  sampling: z.number().min(0).max(1),
  /**
   * What is replaced by placeholders before a session is frozen, and so before a model or a report sees it.
   * Credentials always are; `personal` adds e-mail addresses, telephone, card, account and social security numbers.
   */
  redaction: z.enum(['credentials', 'personal']),
});
export type AgentSettings = z.infer<typeof settingsSchema>;

/** 15 minutes is what comparable systems wait by default (AgentCore online evaluation). */
export const DEFAULT_SETTINGS: AgentSettings = {
  idleSeconds: 900,
  model: null,
  depth: 'standard',
  confidence: 'low',
  votes: 1,
  deepRule: 'always',
  sampling: 1,
  redaction: 'credentials',
};

/** Unset fields of an agent take those of `default`, and those of `default` take DEFAULT_SETTINGS. */
export const agentConfigurationSchema = z.strictObject({
  default: settingsSchema.partial().optional(),
  agents: z.record(z.string(), settingsSchema.partial()).optional(),
});
export type AgentConfiguration = z.infer<typeof agentConfigurationSchema>;

/** From the JSON text in the function's environment. ConfigurationInvalidError says what is wrong with it. */
export function parseAgentConfiguration(text: string): AgentConfiguration {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new ConfigurationInvalidError('the configuration of the agents is not JSON', { cause });
  }
  const parsed = agentConfigurationSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new ConfigurationInvalidError(
    `the configuration of the agents is wrong: ${z.prettifyError(parsed.error)}`,
  );
}

export function settingsFor(configuration: AgentConfiguration, agent: string | null): AgentSettings {
  const agents = configuration.agents ?? {};
  const own = agent !== null && Object.hasOwn(agents, agent) ? agents[agent] : undefined;
  return settingsSchema.parse({ ...DEFAULT_SETTINGS, ...given(configuration.default), ...given(own) });
}

/** A key that is present but undefined must not hide the value below it. */
function given(settings: object | undefined): object {
  return Object.fromEntries(Object.entries(settings ?? {}).filter(([, value]) => value !== undefined));
}

/** The shortest idle time of any agent: what the first timer of a session waits, whoever it turns out to be. */
export function shortestIdleSeconds(configuration: AgentConfiguration): number {
  const names = [null, ...Object.keys(configuration.agents ?? {})];
  return Math.min(...names.map((name) => settingsFor(configuration, name).idleSeconds));
}
