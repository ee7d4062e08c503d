import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SpanError } from '../../session/session.ts';
import { numberAt, textAt } from './attributes.ts';
import { langchainMessage } from './langchain-message.ts';
import { responsesTools } from './responses-items.ts';

/**
 * Request and response bodies of model APIs as they stand in logs, spans and exports. The messages inside stay in their
 * API's words, which `readMessages` and `readChatItem` read.
 */

export interface RequestBody {
  readonly messages: readonly JsonValue[];
  readonly system: JsonValue | undefined;
  readonly tools: JsonValue | undefined;
  readonly model: string | null;
}

export interface ResponseBody {
  /** Messages of the model, each with role `assistant` or an item of the Responses API. */
  readonly messages: readonly JsonValue[];
  /** Only the Responses API repeats these in its answer. */
  readonly system: JsonValue | undefined;
  readonly tools: JsonValue | undefined;
  readonly model: string | null;
  readonly responseId: string | null;
  readonly finishReasons: readonly string[];
  readonly usage: Usage | undefined;
  readonly errors: readonly SpanError[];
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/**
 * Chat completions, Anthropic Messages, Bedrock Converse (`messages`), Responses (`input`), Gemini (`contents`). `null`
 * for anything else.
 */
export function readRequestBody(value: JsonValue | undefined): RequestBody | null {
  if (!isJsonObject(value)) return null;
  const config = isJsonObject(value.config) ? value.config : {};
  const messages = [value.messages, value.contents, value.input].find(
    (list) => Array.isArray(list) && list.some(isJsonObject),
  );
  const asked = Array.isArray(messages)
    ? messages
    : [value.input, value.contents].flatMap((text) =>
        typeof text === 'string' ? [{ role: 'user', content: text }] : [],
      );
  if (asked.length === 0) return null;
  const toolConfig = [value.toolConfig, value.tool_config].find(
    (part) => isJsonObject(part) && Array.isArray(part.tools),
  );
  const tools =
    [value.tools, value.functions, config.tools].find(Array.isArray) ??
    (isJsonObject(toolConfig) ? toolConfig.tools : undefined);
  return {
    messages: asked,
    system:
      value.system ??
      value.instructions ??
      value.systemInstruction ??
      value.system_instruction ??
      config.systemInstruction ??
      config.system_instruction,
    tools: Array.isArray(value.input) ? responsesTools(tools, value.input) : tools,
    model: textAt(value, 'model', 'modelId'),
  };
}

/**
 * An answer of the Responses API, chat completions, Anthropic Messages, Bedrock Converse, Gemini or a LangChain
 * `LLMResult`, or an API's error object. `null` for anything else.
 */
export function readResponseBody(value: JsonValue | undefined): ResponseBody | null {
  if (!isJsonObject(value)) return null;
  if (isResponseObject(value)) return fromResponses(value);
  if (Array.isArray(value.choices)) return fromChoices(value, value.choices);
  if (isJsonObject(value.output) && isJsonObject(value.output.message)) {
    const finish = words(value.stopReason);
    return body(value, [{ ...value.output.message, role: 'assistant' }], finish);
  }
  if (Array.isArray(value.content) && (value.type === 'message' || 'stop_reason' in value)) {
    return body(value, [{ role: 'assistant', content: value.content }], words(value.stop_reason));
  }
  if (
    Array.isArray(value.candidates) ||
    isJsonObject(value.promptFeedback) ||
    isJsonObject(value.prompt_feedback)
  )
    return fromCandidates(value);
  if (Array.isArray(value.generations)) return fromGenerations(value, value.generations);
  const errors = errorsOf(value);
  return errors.length > 0 && isErrorAlone(value) ? body(value, [], []) : null;
}

/** `{object: 'response', output: [item]}`; dumps of some SDKs leave `object` out and keep the id. */
export function isResponseObject(value: JsonValue | undefined): boolean {
  if (!isJsonObject(value) || !Array.isArray(value.output)) return false;
  return value.object === 'response' || (typeof value.id === 'string' && value.id.startsWith('resp_'));
}

/** Tokens in every API's words; Gemini counts thinking apart from the answer. */
export function readUsage(usage: JsonObject): Usage {
  const answered = numberAt(
    usage,
    'output_tokens',
    'completion_tokens',
    'outputTokens',
    'candidatesTokenCount',
    'candidates_token_count',
    'outputTokenCount',
  );
  const thought = numberAt(usage, 'thoughtsTokenCount', 'thoughts_token_count') ?? 0;
  return {
    inputTokens:
      numberAt(
        usage,
        'input_tokens',
        'prompt_tokens',
        'inputTokens',
        'promptTokenCount',
        'prompt_token_count',
        'inputTokenCount',
      ) ?? 0,
    outputTokens: (answered ?? 0) + thought,
  };
}

function fromResponses(value: JsonObject): ResponseBody {
  const output = Array.isArray(value.output) ? value.output : [];
  const incomplete = isJsonObject(value.incomplete_details)
    ? textAt(value.incomplete_details, 'reason')
    : null;
  return {
    ...body(value, output, incomplete === null ? [] : [incomplete]),
    system: value.instructions ?? undefined,
    tools: responsesTools(value.tools, output),
  };
}

function fromChoices(value: JsonObject, choices: readonly JsonValue[]): ResponseBody {
  const all = choices.filter(isJsonObject);
  const messages = all.flatMap((choice): JsonValue[] => {
    const message = choice.message ?? choice.delta;
    if (isJsonObject(message)) return [{ ...message, role: 'assistant' }];
    return typeof choice.text === 'string' ? [{ role: 'assistant', content: choice.text }] : [];
  });
  return body(
    value,
    messages,
    all.flatMap((choice) => words(choice.finish_reason ?? choice.stop_reason)),
  );
}

/** Gemini, in REST's camelCase or the Python SDK's snake_case. A blocked prompt has no candidate. */
function fromCandidates(value: JsonObject): ResponseBody {
  const candidates = (Array.isArray(value.candidates) ? value.candidates : []).filter(isJsonObject);
  const feedback = [value.promptFeedback, value.prompt_feedback].find(isJsonObject) ?? {};
  const finish = [
    ...candidates.flatMap((candidate) => words(candidate.finishReason ?? candidate.finish_reason)),
    ...words(feedback.blockReason ?? feedback.block_reason),
  ];
  const messages = candidates.flatMap((candidate) =>
    isJsonObject(candidate.content) ? [{ ...candidate.content, role: 'model' }] : [],
  );
  return body(value, messages, finish);
}

function fromGenerations(value: JsonObject, generations: readonly JsonValue[]): ResponseBody {
  const all = generations.flat(2).filter(isJsonObject);
  const messages = all.map((generation): JsonObject => {
    const message = isJsonObject(generation.message)
      ? (langchainMessage(generation.message) ?? generation.message)
      : {};
    return { ...message, role: 'assistant', content: message.content ?? generation.text ?? '' };
  });
  const output = isJsonObject(value.llm_output) ? value.llm_output : {};
  const [first] = messages;
  const whole = body(
    { ...value, usage: first?.usage ?? output.token_usage ?? output.usage ?? null, id: null },
    messages,
    all.flatMap((generation, index) =>
      words(
        messages[index]?.finish_reason ??
          (isJsonObject(generation.generation_info) ? generation.generation_info.finish_reason : undefined),
      ),
    ),
  );
  const model = [first?.model, output.model_name, output.model].find((name) => typeof name === 'string');
  return { ...whole, model: typeof model === 'string' ? model : null };
}

function body(
  value: JsonObject,
  messages: readonly JsonValue[],
  finishReasons: readonly string[],
): ResponseBody {
  const usage = [value.usage, value.usageMetadata, value.usage_metadata].find(isJsonObject);
  return {
    messages,
    system: undefined,
    tools: undefined,
    model: textAt(value, 'model', 'modelVersion', 'model_version'),
    responseId: textAt(value, 'id', 'responseId', 'response_id'),
    finishReasons: finishReasons.map((word) => word.toLowerCase()),
    usage: usage === undefined ? undefined : readUsage(usage),
    errors: errorsOf(value),
  };
}

function errorsOf(value: JsonObject): SpanError[] {
  const { error } = value;
  if (isJsonObject(error)) {
    const type = textAt(error, 'code', 'type', 'status');
    const message = textAt(error, 'message') ?? JSON.stringify(error);
    const code = typeof error.code === 'number' && error.code >= 400 ? error.code : null;
    if (code !== null) return [{ source: 'http', code, message }];
    return [{ source: 'error-type', ...(type === null ? {} : { type }), message }];
  }
  if (value.status === 'failed' || value.status === 'cancelled')
    return [{ source: 'status', message: `the response ended with status ${value.status}` }];
  return [];
}

/** `{error: {message, code}}` and `{type: 'error', error}`; a tool's result may carry an `error` among data of its own. */
function isErrorAlone(value: JsonObject): boolean {
  return Object.keys(value).every((key) => ['error', 'type', 'request_id', 'object'].includes(key));
}

const words = (value: JsonValue | undefined): string[] =>
  typeof value === 'string' && value !== '' ? [value] : [];
