import * as z from 'zod';
import type { JsonObject } from '../../core/base/json.ts';
import { ConfigurationInvalidError } from '../../core/errors/errors.ts';
import { UnusableAnswerError } from '../../core/model/answer-defect.ts';
import { capabilitiesOfSpec, limitsOf } from '../../core/model/capabilities.ts';
import { classifyModelFault, faultOfError } from '../../core/model/classify-model-fault.ts';
import type { Model, ModelAnswer, ModelRequest } from '../../core/model/port.ts';
import { priceUsage } from '../../core/model/price-usage.ts';
import { acceptCompletion, readCompletion } from '../../core/model/read-completion.ts';
import { hashRequest, listPromptParts } from '../../core/model/request-body.ts';

export interface OpenAiSettings {
  readonly spec: string;
  readonly model: string;
  /** Without a trailing slash; `/chat/completions` is appended. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly timeoutMs: number;
}

const FORMATS = ['json_schema', 'json_object', 'plain'] as const;
type Format = (typeof FORMATS)[number];
type LimitName = 'max_tokens' | 'max_completion_tokens';

/** How this server wants to be asked, learnt from its 400s and kept while the process lives. */
interface Manners {
  format: Format;
  limitName: LimitName;
}

/** Any server with OpenAI's `/chat/completions`: OpenAI, vLLM, llama.cpp, Ollama, LiteLLM, Bedrock's own endpoint. */
export function openAiModel(settings: OpenAiSettings): Model {
  const capabilities = capabilitiesOfSpec(settings.spec);
  const limits = limitsOf(capabilities);
  // OpenAI's reasoning models take only the newer name, most other servers only the older.
  const manners: Manners = {
    format: 'json_schema',
    limitName: /(^|\.)openai\.com$/.test(new URL(settings.baseUrl).hostname)
      ? 'max_completion_tokens'
      : 'max_tokens',
  };
  return {
    spec: settings.spec,
    limits,
    async ask(request) {
      const started = performance.now();
      const { json, format } = await askPolitely(settings, manners, request, limits.maxOutputTokens);
      const meta = {
        model: settings.model,
        outputMode: format === 'json_schema' ? ('native-schema' as const) : ('text' as const),
        requestHash: hashRequest(settings.spec, request),
        cached: false,
        durationMs: Math.round(performance.now() - started),
      };
      const completion = readCompletion(json);
      const answer: Omit<ModelAnswer, 'text'> = {
        ...meta,
        model: completion.model ?? meta.model,
        usage: priceUsage(completion.tokens, capabilities),
      };
      return acceptCompletion(completion, answer);
    },
  };
}

/**
 * Steps down (schema, JSON, plain; the other name of the token limit) when the server refuses a request with 400 or
 * 422 for another reason than its length. What worked is remembered only once it worked. If nothing does, the first
 * refusal is the one to report: the later ones only concern our attempts.
 */
async function askPolitely(
  settings: OpenAiSettings,
  manners: Manners,
  request: ModelRequest,
  mostTokens: number,
): Promise<{ json: unknown; format: Format }> {
  let { format, limitName } = manners;
  let first: Refusal | null = null;
  for (;;) {
    const body = writeChatBody(settings.model, request, format, limitName, mostTokens);
    const reply = await post(settings, body);
    if (!('status' in reply)) {
      manners.format = format;
      manners.limitName = limitName;
      return { json: reply.json, format };
    }
    first ??= reply;
    const fault = classifyModelFault(reply);
    const ours = fault instanceof ConfigurationInvalidError && (reply.status === 400 || reply.status === 422);
    if (!ours) throw fault;
    const lower = FORMATS[FORMATS.indexOf(format) + 1];
    if (limitName === manners.limitName && rejectsName(reply.message, limitName)) {
      limitName = limitName === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
    } else if (lower !== undefined) {
      format = lower;
    } else {
      throw classifyModelFault(first);
    }
  }
}

function rejectsName(message: string, name: LimitName): boolean {
  const names = name === 'max_tokens' ? /\bmax_tokens\b/ : /\bmax_completion_tokens\b/;
  return (
    names.test(message) &&
    /unsupported|not supported|unrecogni[sz]ed|unknown|not permitted|extra|instead/i.test(message)
  );
}

export function writeChatBody(
  model: string,
  request: ModelRequest,
  format: Format,
  limitName: LimitName,
  mostTokens: number,
): JsonObject {
  const { name, description, schema } = request.answer;
  const body: JsonObject = {
    model,
    messages: [
      ...(request.system === undefined ? [] : [{ role: 'system', content: request.system }]),
      {
        role: 'user',
        // One string: many servers take no list of parts.
        content: listPromptParts(request)
          .map(({ text }) => text)
          .join('\n\n'),
      },
    ],
    [limitName]: Math.min(request.maxOutputTokens, mostTokens),
  };
  if (format === 'json_schema') {
    body.response_format = { type: 'json_schema', json_schema: { name, description, schema, strict: true } };
  } else if (format === 'json_object') {
    body.response_format = { type: 'json_object' };
  }
  return body;
}

interface Refusal {
  readonly status: number;
  readonly name?: string | undefined;
  readonly message: string;
}

async function post(settings: OpenAiSettings, body: JsonObject): Promise<{ json: unknown } | Refusal> {
  let status: number;
  let text: string;
  try {
    const response = await fetch(`${settings.baseUrl}/chat/completions`, {
      method: 'POST',
      // A redirect would take the session, and within one origin the key, where the user did not send them.
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        ...(settings.apiKey === undefined ? {} : { authorization: `Bearer ${settings.apiKey}` }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(settings.timeoutMs),
    });
    status = response.status;
    text = await response.text();
  } catch (cause) {
    const fault = faultOfError(cause);
    throw classifyModelFault({
      ...fault,
      status: 503,
      message: `no answer from ${settings.baseUrl}: ${fault.message}`,
    });
  }
  if (status < 200 || status >= 300) return { status, ...readRefusal(text) };
  const json = parseBody(text);
  // Gateways that have begun their answer report the failure of the model behind them under a 200.
  const hidden = hiddenRefusalSchema.safeParse(json);
  if (!hidden.success) return { json };
  const { error } = hidden.data;
  return { status: typeof error.code === 'number' ? error.code : 502, message: error.message };
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UnusableAnswerError('malformed', 'the server answered 200 with something that is not JSON', {
      text,
      cause,
    });
  }
}

/** `{error: {message, code, type}}` of OpenAI, `{message}` or `{detail}` of others, else the text itself. */
const refusalSchema = z.union([
  z.object({
    error: z.object({
      message: z.string(),
      code: z.union([z.string(), z.number()]).nullish(),
      type: z.string().nullish(),
    }),
  }),
  z.object({ error: z.string() }),
  z.object({ message: z.string() }),
  z.object({ detail: z.string() }),
]);

const hiddenRefusalSchema = z.object({
  error: z.object({ message: z.string(), code: z.union([z.string(), z.number()]).nullish() }),
  choices: z.undefined().optional(),
});

function readRefusal(text: string): { name?: string | undefined; message: string } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { message: text.slice(0, 1000) };
  }
  const parsed = refusalSchema.safeParse(json);
  if (!parsed.success) return { message: text.slice(0, 1000) };
  if ('message' in parsed.data) return { message: parsed.data.message };
  if ('detail' in parsed.data) return { message: parsed.data.detail };
  const { error } = parsed.data;
  if (typeof error === 'string') return { message: error };
  return { message: error.message, name: String(error.code ?? error.type ?? '') };
}
