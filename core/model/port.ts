import type { JsonObject } from '../base/json.ts';

/** Tokens and money of one or many calls. `costUsd` is null when the model has no price on file. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costUsd: number | null;
  readonly calls: number;
}

export const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsd: 0,
  calls: 0,
};

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    costUsd: a.costUsd === null || b.costUsd === null ? null : a.costUsd + b.costUsd,
    calls: a.calls + b.calls,
  };
}

/** A piece of the user message. `cache` marks the end of a prefix worth a cache point. */
export interface PromptText {
  readonly text: string;
  readonly cache?: boolean;
}

/** Static, small and closed: never put a session's own values into it. */
export interface AnswerSchema {
  /** `[a-zA-Z0-9_-]+`, stable: part of the request hash. */
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
}

export interface ModelRequest {
  /** What the call is for, e.g. `detect`, `root-cause`, `repair`; goes to usage by stage. */
  readonly purpose: string;
  readonly promptVersion: string;
  /** Everything goes in user content by default (detection): a system text is optional. */
  readonly system?: string;
  readonly user: readonly PromptText[];
  readonly answer: AnswerSchema;
  /** Reserved against the quota, so keep it honest. */
  readonly maxOutputTokens: number;
  /** 0-based index among votes: makes otherwise equal requests distinct. */
  readonly sample?: number;
}

export interface ModelAnswer {
  /** The text to parse. Never empty: an empty text is a ModelOutputInvalidError. */
  readonly text: string;
  readonly usage: Usage;
  /** The model id that answered, as far as known. */
  readonly model: string;
  /** Which output mode of structured answers was used. */
  readonly outputMode: 'native-schema' | 'strict-tool' | 'text';
  /** SHA-256 of the canonical request: cache key, batch record id. */
  readonly requestHash: string;
  readonly cached: boolean;
  readonly durationMs: number;
}

/**
 * The one way to a language model. `ask` resolves with a complete answer or rejects with a named error of
 * `core/errors/errors.ts`: stop reasons that mean "not an answer" (max_tokens, malformed, guardrail, window
 * exceeded, empty) are errors, not answers. A `batch:` model rejects with ModelPendingError for each request not
 * yet answered; callers start all independent requests before they give up (`Promise.allSettled`).
 */
export interface Model {
  /** The spec as given, e.g. `bedrock:global.anthropic.claude-sonnet-4-6`. */
  readonly spec: string;
  readonly limits: ModelLimits;
  ask(request: ModelRequest): Promise<ModelAnswer>;
}

/** What a model of the caller's own is asked: the request, and all of it as one text. */
export interface GivenRequest extends ModelRequest {
  /** System text, user parts and how to answer, ready to be sent as one message. */
  readonly prompt: string;
}

/** What a model of the caller's own may answer: the text, and what it took as far as known. */
export interface GivenAnswer extends Partial<Omit<ModelAnswer, 'text' | 'usage'>> {
  readonly text: string;
  readonly usage?: Partial<Usage>;
}

/**
 * A model of the caller's own: `spec` names it in the diagnosis, `ask` sends `request.prompt` and gives the text that
 * came back. Without `limits` those of a model that nobody knows hold. What `ask` throws is sorted by its status, code
 * and message: a model that is throttled or away leaves a gap in the diagnosis, one that refuses ends it.
 */
export interface GivenModel {
  readonly spec: string;
  readonly limits?: Partial<ModelLimits>;
  ask(request: GivenRequest): Promise<GivenAnswer>;
}

export interface ModelLimits {
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  /** Real tokens of this model per o200k_base token, as a safety factor for estimates. */
  readonly tokenFactor: number;
  /** Calls that one process has under way at the same time at most. Default `CALLS_AT_ONCE`. */
  readonly callsAtOnce?: number;
}

/** For a model of which nothing is known; it may be one process on the same machine. */
export const CALLS_AT_ONCE = 4;
