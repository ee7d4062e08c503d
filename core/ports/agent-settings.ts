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
  /**
   * Least distance between the first diagnosis of a session and the second, seconds; doubles with each further one, up to
   * a day. A session that comes back thirty times is not diagnosed thirty times.
   */
  returnSeconds: z.number().int().min(0).max(86_400),
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
  returnSeconds: 3600,
  model: null,
  depth: 'standard',
  confidence: 'low',
  votes: 1,
  deepRule: 'always',
  sampling: 1,
  redaction: 'credentials',
};

/** A session that does not fall silent is closed once a day and goes on as a next part. */
export const DEFAULT_MAX_AGE_SECONDS = 86_400;

/** The most that an agent's name may choose. */
const boundsSchema = z.strictObject({
  depth: z.enum(DEPTHS).optional(),
  votes: z.number().int().min(1).max(9).optional(),
});

/** Unset fields of an agent take those of `default`, and those of `default` take DEFAULT_SETTINGS. */
export const agentConfigurationSchema = z
  .strictObject({
    default: settingsSchema.partial().optional(),
    agents: z.record(z.string(), settingsSchema.partial()).optional(),
    /**
     * The name of an agent stands in telemetry, where whoever writes to a log group can put any: it chooses nothing dearer
     * than `default` unless the account says here how far it may go.
     */
    bounds: boundsSchema.optional(),
    /** Age, seconds, at which a session that goes on is closed and continued as a next part. Default: a day. */
    maxAgeSeconds: z.number().int().min(3600).max(604_800).optional(),
  })
  .superRefine((configuration, context) => {
    const most = { ...DEFAULT_SETTINGS, ...stated(configuration.default), ...stated(configuration.bounds) };
    for (const [name, ofAgent] of Object.entries(configuration.agents ?? {})) {
      const isDeeper =
        ofAgent.depth !== undefined && DEPTHS.indexOf(ofAgent.depth) > DEPTHS.indexOf(most.depth);
      if (!isDeeper && (ofAgent.votes ?? 1) <= most.votes) continue;
      context.addIssue({
        code: 'custom',
        path: ['agents', name],
        message:
          `asks for more than an agent's name may choose (depth ${most.depth}, votes ${most.votes}): ` +
          'raise `bounds`, if whoever can write into the log groups may spend that much',
      });
    }
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
  const ofAgent = agent !== null && Object.hasOwn(agents, agent) ? agents[agent] : undefined;
  return settingsSchema.parse({ ...DEFAULT_SETTINGS, ...stated(configuration.default), ...stated(ofAgent) });
}

/** A key that is present but undefined must not hide the value below it. */
function stated(settings: object | undefined): object {
  return Object.fromEntries(Object.entries(settings ?? {}).filter(([, value]) => value !== undefined));
}

export const maxAgeSeconds = (configuration: AgentConfiguration): number =>
  configuration.maxAgeSeconds ?? DEFAULT_MAX_AGE_SECONDS;

/** The shortest idle time of any agent: what the first timer of a session waits, whoever it turns out to be. */
export function shortestIdleSeconds(configuration: AgentConfiguration): number {
  const names = [null, ...Object.keys(configuration.agents ?? {})];
  return Math.min(...names.map((name) => settingsFor(configuration, name).idleSeconds));
}
