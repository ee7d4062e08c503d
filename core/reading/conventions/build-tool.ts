import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { SpanFlag } from '../../session/session.ts';
import { toWellFormed, unwrapJson } from '../decode/decode-json.ts';
import type { RawLog, RawSpan, SpanContent } from '../decode/format.ts';
import { agentOf, textAt, valueAt } from './attributes.ts';
import { readArguments, readIsError, resultText } from './blocks.ts';
import type { Extras } from './build.ts';
import { type ContentEvent, contentEvents } from './events.ts';
import { langchainArguments, langchainResult } from './langchain-values.ts';
import { ownTool, parameterArguments } from './tool-definitions.ts';

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
  const declared = parts.arguments === undefined ? undefined : langchainArguments(parts.arguments);
  const args = declared === undefined ? { arguments: null } : readArguments(declared, flags);
  const definition = ownTool(a, name);
  return {
    span: {
      kind: 'execute_tool',
      ...(definition === null ? {} : { definition }),
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
  const fallbackArgs = valueAt(a, 'input.value', 'traceloop.entity.input', 'input') ?? parameterArguments(a);
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
