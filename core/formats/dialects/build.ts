import { isJsonObject, type JsonValue } from '../../contracts/json.ts';
import type { Message, SpanError, SpanFlag, ToolDefinition } from '../../session/model.ts';
import { toWellFormed, unwrapJson } from '../decode-json.ts';
import { textWithoutMedia } from '../decode-media.ts';
import type { RawLog, RawSpan, SpanContent } from '../format.ts';
import { agentOf, modelOf, textAt, usageOf, valueAt, wordsOf } from './attributes.ts';
import { readArguments, readIsError, resultText } from './blocks.ts';
import { type ContentEvent, contentEvents, type Gathered, gather, plainText } from './gather.ts';
import { langchainArguments, langchainMessages, langchainResult } from './langchain-values.ts';

/** Builders shared by the dialects: a dialect decides what a span is and where its content stands, these make it. */

export interface Extras {
  readonly agent?: string | null;
  readonly model?: string | undefined;
  readonly responseId?: string | null;
  readonly finishReasons?: readonly string[];
  readonly errors?: readonly SpanError[];
  readonly flags?: Iterable<SpanFlag>;
}

export function buildInference(
  span: RawSpan,
  logs: readonly RawLog[],
  extras: Extras & Partial<Omit<Gathered, 'flags' | 'finishReasons'>> = {},
): SpanContent {
  const found = gather(span, logs);
  const a = span.attributes;
  const system = extras.system ?? found.system;
  const tools = extras.tools && extras.tools.length > 0 ? extras.tools : found.tools;
  const model = extras.model ?? modelOf(a);
  const responseId =
    extras.responseId ?? textAt(a, 'gen_ai.response.id', 'ai.response.id', 'llm.response.id');
  const finish = [extras.finishReasons ?? [], found.finishReasons, completionFinish(a)].find(
    (list) => list.length > 0,
  );
  const usage = usageOf(a);
  return {
    span: {
      kind: 'inference',
      input: [...(extras.input ?? found.input)],
      output: [...(extras.output ?? found.output)],
      ...(system !== null && system !== undefined ? { systemPrompt: system } : {}),
      ...(tools.length > 0 ? { tools: [...tools] } : {}),
      ...(model !== undefined ? { model } : {}),
      ...(responseId !== null ? { responseId } : {}),
      ...(finish !== undefined ? { finishReasons: finish.map((word) => word.toLowerCase()) } : {}),
      ...(usage !== undefined ? { usage } : {}),
    },
    errors: extras.errors ?? [],
    flags: [...new Set([...found.flags, ...(extras.flags ?? [])])],
    agent: extras.agent ?? agentOf(a),
  };
}

function completionFinish(attributes: RawSpan['attributes']): string[] {
  return wordsOf(
    valueAt(
      attributes,
      'gen_ai.completion.0.finish_reason',
      'ai.response.finishReason',
      'llm.response.finish_reason',
    ),
  );
}

export interface ToolParts {
  readonly name?: string | null | undefined;
  readonly arguments?: JsonValue | undefined;
  readonly result?: JsonValue | undefined;
  readonly toolCallId?: string | null | undefined;
  readonly status?: JsonValue | undefined;
}

export function buildTool(span: RawSpan, parts: ToolParts, extras: Extras = {}): SpanContent {
  const flags = new Set<SpanFlag>(extras.flags);
  const a = span.attributes;
  const name =
    parts.name ??
    textAt(a, 'gen_ai.tool.name', 'tool.name', 'tool_name') ??
    (span.name.replace(/^execute_tool\s+/, '') || 'unknown');
  const toolCallId =
    parts.toolCallId ?? textAt(a, 'gen_ai.tool.call.id', 'tool.id', 'tool_call.id', 'tool_call_id');
  const given = parts.arguments === undefined ? undefined : langchainArguments(parts.arguments);
  const args = given === undefined ? { arguments: null } : readArguments(given, flags);
  return {
    span: {
      kind: 'execute_tool',
      toolCall: { name: toWellFormed(name), toolCallId, ...args },
      toolResult: readToolResult(parts, toolCallId, textAt(a, 'gen_ai.tool.status'), flags),
    },
    errors: extras.errors ?? [],
    flags: [...flags],
    agent: extras.agent ?? agentOf(a),
  };
}

function readToolResult(
  parts: ToolParts,
  toolCallId: string | null,
  status: string | null,
  flags: Set<SpanFlag>,
): { content: string; isError: boolean | null; toolCallId: string | null } | null {
  if (parts.result === undefined) return null;
  const unwrapped = langchainResult(parts.result);
  const body = unwrapJson(unwrapped.content, 1).value;
  // Bedrock's {status, content: [{text}]} and the like around the result.
  const wrapped =
    isJsonObject(body) && 'content' in body && ('status' in body || 'toolUseId' in body) ? body : null;
  const claude = isJsonObject(body) && ('is_error' in body || 'isError' in body) ? body : null;
  const content = resultText(
    wrapped?.content !== undefined && Array.isArray(wrapped.content) ? wrapped.content : unwrapped.content,
    flags,
  );
  const stated = { status: parts.status ?? unwrapped.status ?? status ?? wrapped?.status ?? null };
  const isError =
    readIsError({ ...(claude ?? {}), ...stated }, content) ??
    (status === null ? null : readIsError({ status }, content));
  return { content, isError, toolCallId: toolCallId ?? unwrapped.toolCallId };
}

/** Where a tool's arguments and result stand, first present wins: the convention's attributes, then events, then opaque values. */
export function toolPartsFrom(span: RawSpan, logs: readonly RawLog[]): ToolParts {
  const a = span.attributes;
  const events = contentEvents(span, logs);
  const fromEvents = eventParts(events);
  const args =
    valueAt(a, 'gen_ai.tool.call.arguments', 'gen_ai.tool.arguments', 'ai.toolCall.args') ??
    fromEvents.arguments;
  const result =
    valueAt(a, 'gen_ai.tool.call.result', 'gen_ai.tool.output', 'ai.toolCall.result') ?? fromEvents.result;
  const fallbackArgs = valueAt(a, 'input.value', 'traceloop.entity.input', 'input');
  const fallbackResult = valueAt(a, 'output.value', 'traceloop.entity.output', 'output');
  const id = langchainResult(result ?? fallbackResult ?? null).toolCallId;
  return {
    arguments: args ?? fallbackArgs,
    result: result ?? fallbackResult,
    toolCallId:
      textAt(a, 'gen_ai.tool.call.id', 'tool.id', 'tool_call.id', 'ai.toolCall.id') ??
      fromEvents.toolCallId ??
      id,
    status: valueAt(a, 'gen_ai.tool.status', 'gen_ai.task.status') ?? null,
  };
}

/** Strands: `gen_ai.tool.message` carries the arguments, `gen_ai.choice` the result; ADOT: `{input, output}` body. */
function eventParts(events: readonly ContentEvent[]): ToolParts {
  for (const event of events) {
    if (!isJsonObject(event.body)) continue;
    const input = bodyContent(event.body.input);
    const output = bodyContent(event.body.output);
    if (input !== undefined || output !== undefined) {
      return { arguments: input?.content, result: output?.content, toolCallId: input?.id ?? output?.id };
    }
  }
  const asked = events.find((event) => event.name === 'gen_ai.tool.message');
  const answered = events.find((event) => event.name === 'gen_ai.choice' || event.name === 'tool.output');
  const details = events.find((event) => /operation\.details$/.test(event.name));
  const source = (event: ContentEvent | undefined) =>
    event === undefined
      ? {}
      : isJsonObject(event.body)
        ? { ...event.attributes, ...event.body }
        : event.attributes;
  const a = source(asked);
  const b = source(answered);
  const d = source(details);
  return {
    arguments:
      valueAt(a, 'content', 'arguments') ??
      valueAt(d, 'gen_ai.tool.call.arguments') ??
      detailPart(d, 'gen_ai.input.messages', 'arguments'),
    result:
      valueAt(b, 'message', 'content', 'result', 'output') ??
      valueAt(d, 'gen_ai.tool.call.result') ??
      detailPart(d, 'gen_ai.output.messages', 'response'),
    toolCallId: textAt(a, 'id') ?? textAt(b, 'id') ?? textAt(d, 'gen_ai.tool.call.id'),
  };
}

function detailPart(details: RawSpan['attributes'], key: string, field: string): JsonValue | undefined {
  const { value } = unwrapJson(details[key] ?? null);
  const [message] = Array.isArray(value) ? value : [];
  const [part] = isJsonObject(message) && Array.isArray(message.parts) ? message.parts : [];
  return isJsonObject(part) ? (part[field] ?? part.result) : undefined;
}

function bodyContent(
  side: JsonValue | undefined,
): { content: JsonValue | undefined; id: string | null } | undefined {
  const [message] = isJsonObject(side) && Array.isArray(side.messages) ? side.messages : [];
  if (!isJsonObject(message)) return undefined;
  const { content } = message;
  if (!isJsonObject(content)) return { content, id: null };
  return {
    content: content.message ?? content.content ?? content,
    id: typeof content.id === 'string' ? content.id : null,
  };
}

export interface AgentParts {
  readonly userPrompt?: string | null | undefined;
  readonly agentResponse?: string | null | undefined;
  readonly tools?: readonly ToolDefinition[] | undefined;
  readonly system?: string | null | undefined;
}

export function buildAgent(
  span: RawSpan,
  logs: readonly RawLog[],
  parts: AgentParts = {},
  extras: Extras = {},
): SpanContent {
  const found = gather(span, logs);
  const tools = parts.tools && parts.tools.length > 0 ? parts.tools : found.tools;
  return {
    span: {
      kind: 'invoke_agent',
      userPrompt: parts.userPrompt ?? lastText(found.input, 'user'),
      agentResponse: parts.agentResponse ?? lastText(found.output, 'assistant'),
      availableTools: [...tools],
      systemPrompt: parts.system ?? found.system,
    },
    errors: extras.errors ?? [],
    flags: [...new Set([...found.flags, ...(extras.flags ?? [])])],
    agent:
      extras.agent ??
      agentOf(span.attributes) ??
      (span.name.replace(/^(invoke_agent|create_agent)\s*/, '') || null),
  };
}

export function lastText(messages: readonly Message[], role: Message['role']): string | null {
  const own = messages.filter((message) => message.role === role).map(plainText);
  return own.findLast((text) => text !== '') ?? null;
}

/** Longest text kept of an attribute that only helps to recognise a span. */
const MAX_SHOWN = 2000;

const SHOWN = [
  'http.url',
  'url.full',
  'http.method',
  'http.request.method',
  'http.route',
  'http.status_code',
  'http.response.status_code',
  'rpc.service',
  'rpc.method',
  'rpc.system',
  'aws.remote.service',
  'aws.remote.operation',
  'aws.xray.origin',
  'aws.xray.fault',
  'aws.xray.error',
  'aws.xray.throttle',
  'server.address',
  'db.system',
  'db.operation',
  'messaging.system',
  'messaging.operation',
  'openinference.span.kind',
  'traceloop.span.kind',
  'gen_ai.operation.name',
  'traceloop.entity.name',
  'retry_attempts',
  'exit_code',
  'event.name',
  'level',
  'logger',
] as const;

/** A span that is no step of the agent. What it carried in and out is shown, cut to 2,000 characters. */
export function buildOther(
  span: RawSpan,
  extras: Extras & { readonly shown?: Readonly<Record<string, string>> } = {},
): SpanContent {
  const attributes: Record<string, string | number | boolean> = {};
  for (const key of SHOWN) {
    const value = span.attributes[key];
    if (typeof value === 'string' && value !== '') attributes[key] = cut(value);
    else if (typeof value === 'number' || typeof value === 'boolean') attributes[key] = value;
  }
  for (const key of [
    'input.value',
    'output.value',
    'traceloop.entity.input',
    'traceloop.entity.output',
    'message',
  ]) {
    const value = span.attributes[key];
    if (typeof value === 'string' && value !== '') attributes[key] = cut(textWithoutMedia(value));
  }
  for (const [key, value] of Object.entries(extras.shown ?? {})) attributes[key] = cut(value);
  return {
    span: { kind: 'other', attributes },
    errors: extras.errors ?? [],
    flags: [...(extras.flags ?? [])],
    agent: extras.agent ?? agentOf(span.attributes),
  };
}

function cut(text: string): string {
  if (text.length <= MAX_SHOWN) return toWellFormed(text);
  return `${text.slice(0, MAX_SHOWN).toWellFormed()}… [${text.length - MAX_SHOWN} characters cut]`;
}

/** True when a value is one of LangChain's message wrappers; used to tell a chain from a call. */
export function isLangchainMessages(value: JsonValue | undefined): boolean {
  return value !== undefined && langchainMessages(value, 'user', new Set()) !== null;
}
