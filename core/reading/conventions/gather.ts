import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Message, SpanFlag, ToolDefinition } from '../../session/session.ts';
import { unwrapJson } from '../decode/decode-json.ts';
import type { RawLog, RawSpan } from '../decode/format.ts';
import { valueAt, wordsOf } from './attributes.ts';
import { type ContentEvent, contentEvents, eventMessage, plainText } from './events.ts';
import { unflatten } from './flatten.ts';
import { messagesInValue } from './langchain-values.ts';
import { readMessages } from './messages.ts';
import { type ResponseBody, readRequestBody, readResponseBody } from './provider-bodies.ts';
import { offeredTools, readToolDefinitions } from './tool-definitions.ts';

/** What a span says of a model call or an agent run, wherever it says it. */
export interface Gathered {
  readonly system: string | null;
  readonly input: readonly Message[];
  readonly output: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  readonly finishReasons: readonly string[];
  readonly flags: ReadonlySet<SpanFlag>;
  /** The API's own answer, where the span holds it whole: its model, id, tokens and errors. */
  readonly response: ResponseBody | null;
}

interface Source {
  system?: JsonValue | undefined;
  input?: JsonValue | undefined;
  output?: JsonValue | undefined;
  tools?: JsonValue | undefined;
  finish?: JsonValue | undefined;
  /** Ready messages, for sources that are no single value. */
  inputMessages?: readonly Message[];
  outputMessages?: readonly Message[];
  flags?: ReadonlySet<SpanFlag>;
  response?: ResponseBody | null;
}

/**
 * Order of precedence of content. For input and output each, the first source that has any wins whole: pieces of
 * two sources are never mixed, because they are two recordings of the same thing.
 *
 * 1. span attributes `gen_ai.input.messages` / `.output.messages` (OTel GenAI ≥ 1.37)
 * 2. event or log record `gen_ai.client.inference.operation.details`
 * 3. events or log records, one a message: `gen_ai.user.message`, `gen_ai.choice`, … (OTel GenAI ≤ 1.36)
 * 4. log record or event whose body is `{input: {messages}, output: {messages}}` (AgentCore through ADOT)
 * 5. flattened attributes `llm.input_messages.N…` (OpenInference), then `gen_ai.prompt.N…` (OpenLLMetry)
 * 6. single values: `input.value`, `traceloop.entity.input`, `gen_ai.prompt`, `input`, and the same for output
 *
 * Structured recordings come before flattened ones, and these before opaque text, since every step down loses
 * roles, ids or order. System prompt and tool definitions: the first source that has them.
 */
export function gather(span: RawSpan, logs: readonly RawLog[]): Gathered {
  const events = contentEvents(span, logs);
  const sources: Source[] = [
    fromAttributes(span.attributes),
    ...events.filter((event) => /inference\.operation\.details$/.test(event.name)).map(fromDetails),
    fromMessageEvents(events),
    ...events.map(fromBody).filter((source) => source !== null),
    fromOpenInference(span.attributes),
    fromPrompts(span.attributes),
    fromValues(span.attributes, events),
  ];
  return combine(sources, offeredTools(span.attributes));
}

function combine(sources: readonly Source[], offered: readonly ToolDefinition[]): Gathered {
  const flags = new Set<SpanFlag>();
  let input: readonly Message[] = [];
  let output: readonly Message[] = [];
  let finish: readonly string[] = [];
  let tools = offered;
  let system: string | null = null;
  let response: ResponseBody | null = null;
  for (const source of sources) {
    if (input.length === 0) input = take(source.inputMessages, source.input, 'user', flags).messages;
    if (output.length === 0) {
      const read = take(source.outputMessages, source.output, 'assistant', flags);
      output = read.messages;
      if (finish.length === 0) finish = read.finishReasons;
    }
    if (finish.length === 0) finish = wordsOf(source.finish).map((word) => word.toLowerCase());
    if (tools.length === 0) tools = readToolDefinitions(source.tools);
    if (system === null) system = systemText(source.system);
    response ??= source.response ?? null;
    for (const flag of source.flags ?? []) flags.add(flag);
  }
  const systems = input.filter((message) => message.role === 'system');
  if (system === null && systems.length > 0) system = systems.map(plainText).join('\n\n') || null;
  return {
    system,
    input: input.filter((message) => message.role !== 'system'),
    output,
    tools,
    finishReasons: finish.filter((word) => word !== ''),
    flags,
    response,
  };
}

function take(
  ready: readonly Message[] | undefined,
  value: JsonValue | undefined,
  role: Message['role'],
  flags: Set<SpanFlag>,
): { messages: readonly Message[]; finishReasons: readonly string[] } {
  if (ready !== undefined && ready.length > 0) return { messages: ready, finishReasons: [] };
  if (value === undefined) return { messages: [], finishReasons: [] };
  const read = readMessages(value, role);
  for (const flag of read.flags) flags.add(flag);
  return read;
}

function fromAttributes(attributes: RawSpan['attributes']): Source {
  return {
    system: valueAt(attributes, 'gen_ai.system_instructions', 'gen_ai.system.instructions', 'system_prompt'),
    input: attributes['gen_ai.input.messages'],
    output: attributes['gen_ai.output.messages'],
    tools: attributes['gen_ai.tool.definitions'],
    finish: valueAt(
      attributes,
      'gen_ai.response.finish_reasons',
      'gen_ai.response.finish_reason',
      'stop_reason',
    ),
  };
}

function fromDetails(event: ContentEvent): Source {
  const body = isJsonObject(event.body) ? event.body : {};
  return fromAttributes({ ...body, ...event.attributes });
}

const MESSAGE_EVENT = /^gen_ai\.(system|user|assistant|tool)\.message$/;

function fromMessageEvents(events: readonly ContentEvent[]): Source {
  const input: JsonValue[] = [];
  const output: JsonValue[] = [];
  for (const event of events) {
    const role = MESSAGE_EVENT.exec(event.name)?.[1];
    if (role !== undefined) input.push({ role, ...eventMessage(event) });
    else if (event.name === 'gen_ai.choice') output.push({ role: 'assistant', ...eventMessage(event) });
  }
  return {
    ...(input.length > 0 ? { input } : {}),
    ...(output.length > 0 ? { output } : {}),
  };
}

function fromBody(event: ContentEvent): Source | null {
  if (!isJsonObject(event.body)) return null;
  const { input, output } = event.body;
  if (!isJsonObject(input) && !isJsonObject(output)) return null;
  const ins = bodyMessages(input);
  const outs = bodyMessages(output);
  const flags = new Set<SpanFlag>();
  const last = outs.at(-1);
  const finish = isJsonObject(last) && isJsonObject(last.content) ? last.content.finish_reason : undefined;
  const inputMessages = ins.flatMap((item) => bodyMessage(item, 'user', flags));
  const outputMessages = outs.flatMap((item) => bodyMessage(item, 'assistant', flags));
  return { inputMessages, outputMessages, flags, finish };
}

function bodyMessages(side: JsonValue | undefined): JsonValue[] {
  return isJsonObject(side) && Array.isArray(side.messages) ? side.messages : [];
}

/** ADOT puts the text, or the attributes of the event that carried it, into `content`. */
function bodyMessage(item: JsonValue, role: Message['role'], flags: Set<SpanFlag>): readonly Message[] {
  if (!isJsonObject(item)) return [];
  const inner = isJsonObject(item.content)
    ? (item.content.message ?? item.content.content ?? item.content)
    : item.content;
  const unwrapped = messagesInValue(inner ?? '', role, flags);
  if (unwrapped !== null) return unwrapped;
  const read = readMessages([{ role: item.role ?? role, content: inner ?? '' }], role);
  for (const flag of read.flags) flags.add(flag);
  return read.messages;
}

function fromOpenInference(attributes: RawSpan['attributes']): Source {
  const input = unflatten(attributes, 'llm.input_messages');
  const output = unflatten(attributes, 'llm.output_messages');
  const capped = input.capped || output.capped;
  return {
    input: unwrapMessages(input.value),
    output: unwrapMessages(output.value),
    finish: valueAt(attributes, 'llm.finish_reason'),
    ...(capped ? { flags: new Set<SpanFlag>(['index-capped']) } : {}),
  };
}

/** `[{message: {...}}]` → `[{...}]`. */
function unwrapMessages(value: JsonValue | null): JsonValue | undefined {
  if (value === null) return undefined;
  return (Array.isArray(value) ? value : [value]).map((item) =>
    isJsonObject(item) && isJsonObject(item.message) ? withContents(item.message) : item,
  );
}

/** `contents` (typed) beats `content` (its plain text again). */
function withContents(message: JsonObject): JsonObject {
  return message.contents === undefined ? message : { ...message, content: message.contents };
}

function fromPrompts(attributes: RawSpan['attributes']): Source {
  const input = unflatten(attributes, 'gen_ai.prompt');
  const output = unflatten(attributes, 'gen_ai.completion');
  const capped = input.capped || output.capped;
  return {
    input: input.value ?? undefined,
    output: output.value ?? undefined,
    ...(capped ? { flags: new Set<SpanFlag>(['index-capped']) } : {}),
  };
}

function fromValues(attributes: RawSpan['attributes'], events: readonly ContentEvent[]): Source {
  const flags = new Set<SpanFlag>();
  const prompt = events.find((event) => event.name === 'gen_ai.content.prompt')?.attributes['gen_ai.prompt'];
  const completion = events.find((event) => event.name === 'gen_ai.content.completion')?.attributes[
    'gen_ai.completion'
  ];
  const input =
    valueAt(attributes, 'input.value', 'traceloop.entity.input', 'gen_ai.prompt', 'input') ?? prompt;
  const output =
    valueAt(attributes, 'output.value', 'traceloop.entity.output', 'gen_ai.completion', 'output') ??
    completion;
  const request = readRequestBody(unwrapJson(input ?? null).value);
  const response = readResponseBody(unwrapJson(output ?? null).value);
  return {
    system: request?.system ?? response?.system,
    tools: request?.tools ?? response?.tools,
    finish: response === null ? undefined : [...response.finishReasons],
    inputMessages: valueMessages(input, 'user', flags),
    outputMessages: valueMessages(output, 'assistant', flags),
    response,
    flags,
  };
}

function valueMessages(
  value: JsonValue | undefined,
  role: 'user' | 'assistant',
  flags: Set<SpanFlag>,
): readonly Message[] {
  if (value === undefined) return [];
  return (
    messagesInValue(value, role, flags) ??
    readMessages([{ role, content: asText(value, role) }], role).messages
  );
}

/** What a function of an agent calls the words that it takes and gives, where no message stands in the value. */
const WORDS = {
  user: [
    'prompt',
    'query',
    'question',
    'input',
    'task',
    'user_input',
    'user_message',
    'user_query',
    'request',
    'message',
    'text',
    'q',
  ],
  assistant: ['output', 'answer', 'response', 'final_output', 'result', 'message', 'text', 'content'],
} as const;

/** The words in the value: a text, or the text under a name that such words have; else the value's JSON. */
function asText(value: JsonValue, role: 'user' | 'assistant'): string {
  const { value: inner, note } = unwrapJson(value, 1);
  if (typeof inner === 'string') return note === 'exact' || typeof value !== 'string' ? inner : value;
  if (isJsonObject(inner)) {
    const key = WORDS[role].find((name) => typeof inner[name] === 'string' && inner[name] !== '');
    const [only, ...more] = Object.values(inner);
    const said = key === undefined ? (more.length === 0 ? only : undefined) : inner[key];
    if (typeof said === 'string') return said;
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function systemText(value: JsonValue | undefined): string | null {
  if (value === undefined || value === null || value === '') return null;
  const { messages } = readMessages(unwrapJson(value).value, 'system');
  return messages.map(plainText).join('\n\n') || null;
}
