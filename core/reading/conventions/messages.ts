import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Block, Message, SpanFlag } from '../../session/session.ts';
import { type DecodeNote, toWellFormed, unwrapJson } from '../decode/decode-json.ts';
import { readBlock } from './blocks.ts';
import { langchainMessage } from './langchain-message.ts';
import { responsesItemMessages } from './responses-items.ts';

/**
 * Messages in every vocabulary that telemetry uses: OpenTelemetry `parts`, chat completions, Anthropic and Bedrock
 * blocks, Gemini `contents`, Vercel AI SDK, LangChain constructor objects. One reader for all of them, because
 * producers mix them within one list.
 */
export interface ReadMessages {
  readonly messages: readonly Message[];
  readonly flags: ReadonlySet<SpanFlag>;
  /** Stop reasons found on the messages themselves, lower-cased. */
  readonly finishReasons: readonly string[];
}

/** Reads a list, a single message, JSON text of either, or plain text (one message of `defaultRole`). */
export function readMessages(value: JsonValue | undefined, defaultRole: Message['role']): ReadMessages {
  const flags = new Set<SpanFlag>();
  const finishReasons: string[] = [];
  const messages: Message[] = [];
  const { value: list, note } = unwrapJson(value ?? null);
  noteFlag(note, flags);
  for (const item of flatten(list)) {
    if (isJsonObject(item) && typeof item.finish_reason === 'string' && item.finish_reason !== '') {
      finishReasons.push(item.finish_reason.toLowerCase());
    }
    messages.push(...readMessage(item, defaultRole, flags));
  }
  return { messages: joinToolResults(messages), flags, finishReasons };
}

/** LangChain and others wrap the list once or twice: `{messages: [...]}`, `{messages: [[...]]}`, `[[...]]`. */
function flatten(value: JsonValue, depth = 0): JsonValue[] {
  if (value === null || value === '') return [];
  if (Array.isArray(value)) {
    return depth < 3
      ? value.flatMap((item) => (Array.isArray(item) ? flatten(item, depth + 1) : [item]))
      : value;
  }
  if (isJsonObject(value) && value.role === undefined && depth < 3) {
    for (const key of ['messages', 'contents']) {
      const inner = value[key];
      if (Array.isArray(inner)) return flatten(inner, depth + 1);
    }
  }
  return [value];
}

function readMessage(item: JsonValue, defaultRole: Message['role'], flags: Set<SpanFlag>): Message[] {
  if (typeof item === 'string') return item === '' ? [] : [{ role: defaultRole, content: [text(item)] }];
  if (!isJsonObject(item)) return [];
  const messages = responsesItemMessages(item);
  if (messages !== null) return messages.flatMap((message) => readMessage(message, defaultRole, flags));
  const body =
    langchainMessage(item) ?? (isJsonObject(item.message) && item.role === undefined ? item.message : item);
  const role = readRole(body.role ?? body.type, defaultRole);
  const content: Block[] = [];

  const callId = str(body.tool_call_id) ?? str(body.toolCallId) ?? str(body.call_id);
  if (role === 'tool' && (callId !== null || !hasOwnBlocks(body))) {
    const inner = body.content ?? body.parts ?? body.output ?? '';
    const block = {
      type: 'tool_result',
      tool_call_id: callId ?? str(body.id),
      content: inner,
      status: body.status ?? null,
      ...(typeof body.is_error === 'boolean' ? { is_error: body.is_error } : {}),
    };
    content.push(...readBlock(block, flags));
  } else {
    for (const part of asParts(body)) content.push(...readBlock(part, flags));
  }
  for (const call of [...list(body.tool_calls), ...list(body.toolCalls)]) {
    content.push(...readBlock(isJsonObject(call) ? { ...call, type: 'tool_call' } : call, flags));
  }
  const legacy = body.function_call;
  if (isJsonObject(legacy) && typeof legacy.name === 'string' && legacy.name !== '') {
    content.push(...readBlock({ type: 'tool_call', ...legacy }, flags));
  }
  const blocks = withoutRepeatedCalls(content);
  if (blocks.length === 0) return [];
  const name = body.role === undefined ? null : str(body.name);
  const onlyResults = blocks.every((block) => block.type === 'tool_result');
  return [
    {
      role: onlyResults ? 'tool' : role,
      ...(name !== null && role !== 'tool' ? { name } : {}),
      content: blocks,
    },
  ];
}

/** A Python-style `content` may be a string, a block, a list of blocks, JSON text of these, or a map of numbers. */
function asParts(body: JsonObject): JsonValue[] {
  const source = body.parts ?? body.content ?? body.contents ?? null;
  if (source === null) return isBlockItself(body) ? [body] : [];
  if (typeof source === 'string') {
    // A message text is text, also when it happens to be JSON; only block lists are unwrapped.
    if (/^\s{0,8}\[\s{0,8}\{/.test(source)) {
      const { value } = unwrapJson(source, 1);
      if (Array.isArray(value) && value.every(isKnownBlock)) return value;
    }
    return source === '' ? [] : [source];
  }
  return Array.isArray(source) ? source : [source];
}

function isBlockItself(body: JsonObject): boolean {
  return isKnownBlock(body) || typeof body.text === 'string';
}

function isKnownBlock(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  if (typeof value.type === 'string') return true;
  return ['text', 'toolUse', 'toolResult', 'reasoningContent', 'image', 'transcript', 'video'].some(
    (key) => key in value,
  );
}

function hasOwnBlocks(body: JsonObject): boolean {
  return asParts(body).some(
    (part) =>
      isJsonObject(part) &&
      ('toolResult' in part ||
        'function_response' in part ||
        'functionResponse' in part ||
        (typeof part.type === 'string' && /tool|function/.test(part.type))),
  );
}

export function readRole(value: JsonValue | undefined, fallback: Message['role']): Message['role'] {
  if (typeof value !== 'string') return fallback;
  switch (value.toLowerCase().replace(/message(chunk)?$/, '')) {
    case 'system':
    case 'developer':
      return 'system';
    case 'user':
    case 'human':
      return 'user';
    case 'assistant':
    case 'ai':
    case 'model':
    case 'tool-call':
    case 'function_call':
    case 'reasoning':
      return 'assistant';
    case 'tool':
    case 'function':
    case 'tool-response':
    case 'function_call_output':
      return 'tool';
    default:
      return fallback;
  }
}

/** botocore, AI SDK and LangChain record a call both as a block and in `tool_calls`. Calls without an id are told apart by place. */
function withoutRepeatedCalls(blocks: readonly Block[]): Block[] {
  const seen = new Set<string>();
  return blocks.filter((block) => {
    if (block.type !== 'tool_use' || block.toolCallId === null) return true;
    if (seen.has(block.toolCallId)) return false;
    seen.add(block.toolCallId);
    return true;
  });
}

/**
 * botocore writes each tool result twice, as a tool message and as the user message that carries it on the wire
 * (only the latter states its status). A result follows its twin directly, so neighbours with the same ids are one.
 */
export function joinToolResults(messages: readonly Message[]): Message[] {
  const out: Message[] = [];
  for (const message of messages) {
    const previous = out.at(-1);
    if (previous !== undefined && message.role === 'tool' && previous.role === 'tool') {
      const twin = new Map(message.content.map((block) => [resultId(block), block]));
      const ids = previous.content.map(resultId);
      if (ids.length > 0 && ids.every((id) => id !== null && twin.has(id))) {
        out[out.length - 1] = message.content.some((block) => isErrorKnown(block)) ? message : previous;
        continue;
      }
    }
    out.push(message);
  }
  return out;
}

function resultId(block: Block): string | null {
  return block.type === 'tool_result' ? block.toolCallId : null;
}

function isErrorKnown(block: Block): boolean {
  return block.type === 'tool_result' && block.isError !== null;
}

export function noteFlag(note: DecodeNote, flags: Set<SpanFlag>): void {
  if (note === 'truncated') flags.add('content-truncated');
  else if (note !== 'exact') flags.add('best-effort-decoded');
}

function text(value: string): Block {
  return { type: 'text', text: toWellFormed(value) };
}

function list(value: JsonValue | undefined): JsonValue[] {
  const { value: decoded } = unwrapJson(value ?? null);
  return Array.isArray(decoded) ? decoded : [];
}

function str(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? toWellFormed(value) : null;
}
