import { parseModelSpec } from './parse-spec.ts';
import { CALLS_AT_ONCE, type ModelLimits } from './port.ts';

/** USD per million tokens, valid while the prompt (cached parts included) has at most `upToPromptTokens`. */
export interface PriceTier {
  readonly upToPromptTokens: number;
  readonly input: number;
  readonly output: number;
}

export interface ModelCapabilities extends Required<ModelLimits> {
  /** Name of the row, for messages. */
  readonly family: string;
  /** Temperature may be set. Newer Claude models answer 400 to it. */
  readonly sampling: boolean;
  /** `toolChoice` may name a tool. Newer Claude models answer 400 to it. */
  readonly forcedTools: boolean;
  /** Tries `outputConfig.textFormat` first. A 400 steps down, so a wrong `true` costs one call. */
  readonly nativeSchema: boolean;
  /** Offered for batch inference, at half the price. */
  readonly batch: boolean;
  /** Least prefix that a cache point stores; null when the model has no cache points. */
  readonly cacheMinimumTokens: number | null;
  /** In rising order; empty when there is no price on file, and cost is then null. */
  readonly prices: readonly PriceTier[];
}

/** Day on which the table was last compared with the vendors' lists. */
export const CAPABILITIES_AS_OF = '2026-11-30';

/** Cache writes cost a quarter more than plain input, reads a tenth; batch halves the whole. */
export const CACHE_WRITE_FACTOR = 1.25;
export const CACHE_READ_FACTOR = 0.1;
export const BATCH_FACTOR = 0.5;

interface Row extends ModelCapabilities {
  /** Found anywhere in the model id: profile prefixes (`global.`, `eu.`), ARNs and version endings vary. */
  readonly match: RegExp;
}

const flat = (input: number, output: number): readonly PriceTier[] => [
  { upToPromptTokens: Number.POSITIVE_INFINITY, input, output },
];

/**
 * Services run many requests side by side, and what an account's quota bears differs by account: where it is less, the
 * model says so (throttling), and the adapter then has fewer under way.
 */
const SERVICE_CALLS_AT_ONCE = 16;

const CLAUDE_4 = {
  callsAtOnce: SERVICE_CALLS_AT_ONCE,
  contextTokens: 200_000,
  maxOutputTokens: 64_000,
  // Not measured by us: Claude's tokenizer is public only through CountTokens. A fifth is the usual gap on English and JSON.
  tokenFactor: 1.2,
  sampling: true,
  forcedTools: true,
  nativeSchema: true,
  batch: true,
} as const;

const CLAUDE_5 = { ...CLAUDE_4, tokenFactor: 1.35, sampling: false, forcedTools: false } as const;

/**
 * Bedrock's list prices for `global.` profiles (regional profiles can cost about a tenth more) and limits.
 * First match wins. Where a limit is not published, the row holds the lower guess.
 */
const ROWS: readonly Row[] = [
  {
    ...CLAUDE_5,
    family: 'claude-sonnet-5-5',
    match: /claude-sonnet-5-5/,
    contextTokens: 1_000_000,
    cacheMinimumTokens: 2048,
    prices: flat(2, 10),
  },
  {
    ...CLAUDE_5,
    family: 'claude-opus-5-5',
    match: /claude-opus-5-5/,
    cacheMinimumTokens: 4096,
    prices: [],
  },
  {
    ...CLAUDE_5,
    family: 'claude-haiku-5-5',
    match: /claude-haiku-5-5/,
    cacheMinimumTokens: 4096,
    // Two 80K chunks cost a fifth of one 160K prompt.
    prices: [
      { upToPromptTokens: 100_000, input: 0.1, output: 0.5 },
      { upToPromptTokens: Number.POSITIVE_INFINITY, input: 0.5, output: 2.5 },
    ],
  },
  {
    ...CLAUDE_4,
    family: 'claude-sonnet-4-6',
    match: /claude-sonnet-4-6/,
    contextTokens: 1_000_000,
    cacheMinimumTokens: 2048,
    prices: flat(3, 15),
  },
  {
    ...CLAUDE_4,
    family: 'claude-sonnet-4-5',
    match: /claude-sonnet-4-5/,
    cacheMinimumTokens: 1024,
    prices: flat(3, 15),
  },
  {
    ...CLAUDE_4,
    family: 'claude-opus-4',
    match: /claude-opus-4-[56]/,
    cacheMinimumTokens: 4096,
    prices: flat(5, 25),
  },
  {
    ...CLAUDE_4,
    family: 'claude-haiku-4-5',
    match: /claude-haiku-4-5/,
    cacheMinimumTokens: 4096,
    prices: flat(1, 5),
  },
  {
    callsAtOnce: SERVICE_CALLS_AT_ONCE,
    family: 'nova-2-lite',
    match: /nova-2-lite/,
    contextTokens: 1_000_000,
    maxOutputTokens: 64_000,
    tokenFactor: 1.2,
    sampling: true,
    forcedTools: true,
    nativeSchema: false,
    batch: true,
    cacheMinimumTokens: 1024,
    prices: flat(0.3, 2.5),
  },
  {
    callsAtOnce: SERVICE_CALLS_AT_ONCE,
    family: 'gpt-oss-120b',
    match: /gpt-oss-120b/,
    contextTokens: 128_000,
    maxOutputTokens: 32_000,
    // Its harmony tokenizer is o200k with a few special tokens more.
    tokenFactor: 1,
    sampling: true,
    forcedTools: false,
    nativeSchema: true,
    batch: true,
    cacheMinimumTokens: null,
    prices: flat(0.15, 0.6),
  },
];

const OPENAI = {
  callsAtOnce: SERVICE_CALLS_AT_ONCE,
  tokenFactor: 1,
  // Its reasoning models refuse it, and the name does not always tell which they are.
  sampling: false,
  forcedTools: false,
  nativeSchema: true,
  batch: false,
  cacheMinimumTokens: null,
  prices: [],
} as const;

/** OpenAI's own models, for windows only. */
const OPENAI_ROWS: readonly Row[] = [
  { ...OPENAI, family: 'gpt-5', match: /^gpt-5/, contextTokens: 272_000, maxOutputTokens: 128_000 },
  { ...OPENAI, family: 'gpt-4.1', match: /^gpt-4\.1/, contextTokens: 1_000_000, maxOutputTokens: 32_000 },
  { ...OPENAI, family: 'gpt-4o', match: /^gpt-4o/, contextTokens: 128_000, maxOutputTokens: 16_000 },
];

/** For a model id that no row knows. */
export const UNKNOWN_MODEL: ModelCapabilities = {
  callsAtOnce: SERVICE_CALLS_AT_ONCE,
  family: 'unknown',
  contextTokens: 128_000,
  maxOutputTokens: 8_192,
  tokenFactor: 1.35,
  sampling: false,
  forcedTools: false,
  nativeSchema: true,
  batch: false,
  cacheMinimumTokens: null,
  prices: [],
};

/** For specs that name no model: the reference's window of 200,000 tokens. */
export const UNNAMED_MODEL: ModelCapabilities = {
  ...UNKNOWN_MODEL,
  callsAtOnce: CALLS_AT_ONCE,
  family: 'unnamed',
  contextTokens: 200_000,
  maxOutputTokens: 32_000,
  tokenFactor: 1.2,
};

/** Row of a model id, profile id or ARN; `UNKNOWN_MODEL` if there is none. */
export function findCapabilities(modelId: string): ModelCapabilities {
  const id = modelId.toLowerCase();
  return [...ROWS, ...OPENAI_ROWS].find((row) => row.match.test(id)) ?? UNKNOWN_MODEL;
}

/** What is known of a spec without any call: used for estimates and chunk plans. ConfigurationInvalidError for a bad spec. */
export function capabilitiesOfSpec(spec: string): ModelCapabilities {
  const parsed = parseModelSpec(spec);
  switch (parsed.kind) {
    case 'bedrock':
      return findCapabilities(parsed.modelId);
    case 'openai':
      // Bedrock's prices say nothing of another host's.
      return { ...findCapabilities(parsed.model), prices: [], cacheMinimumTokens: null };
    default:
      return UNNAMED_MODEL;
  }
}

export function limitsOf({
  contextTokens,
  maxOutputTokens,
  tokenFactor,
  callsAtOnce,
}: ModelCapabilities): Required<ModelLimits> {
  return { contextTokens, maxOutputTokens, tokenFactor, callsAtOnce };
}
