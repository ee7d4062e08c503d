import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { Message, SpanFlag } from '../../session/session.ts';
import { unwrapJson } from '../decode/decode-json.ts';
import { isLangchainMessage } from './langchain-message.ts';
import { noteFlag, readMessages } from './messages.ts';
import { readResponseBody } from './provider-bodies.ts';
import { isResponsesItem } from './responses-items.ts';

/**
 * The messages in a value that stands for a call's or a run's input or output: an API's response body, what LangChain
 * callbacks write (`{inputs: {messages: […]}}`, `{outputs: {messages: […]}}`, `{output: …}`, lists of constructor
 * objects), a list of messages; also as JSON text. `null`: there are none in it.
 */
export function messagesInValue(
  value: JsonValue,
  role: Message['role'],
  flags: Set<SpanFlag>,
): readonly Message[] | null {
  const { value: decoded, note } = unwrapJson(value);
  if (typeof decoded === 'string' || decoded === null) return null;
  const core = readResponseBody(decoded)?.messages ?? messagesOf(decoded);
  if (core === null) return null;
  noteFlag(note, flags);
  const read = readMessages([...core], role);
  for (const flag of read.flags) flags.add(flag);
  return read.messages;
}

function messagesOf(value: JsonValue): JsonValue[] | null {
  if (Array.isArray(value)) return value.length > 0 && value.flat(2).every(isMessage) ? value.flat(2) : null;
  if (!isJsonObject(value)) return null;
  for (const key of ['messages', 'inputs', 'outputs', 'output', 'input', 'choices']) {
    const inner = value[key];
    if (Array.isArray(inner) || isJsonObject(inner)) {
      const found = messagesOf(inner);
      if (found !== null) return found;
    }
  }
  return isMessage(value) ? [value] : null;
}

function isMessage(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  if (isJsonObject(value.message)) return isMessage(value.message) || 'content' in value.message;
  if (isResponsesItem(value) || isLangchainMessage(value)) return true;
  const role = value.role ?? value.type;
  return (
    typeof role === 'string' &&
    /^(system|developer|user|human|assistant|ai|model|tool|function)$/i.test(role) &&
    ('content' in value || 'parts' in value || 'tool_calls' in value)
  );
}

/**
 * Arguments of a tool run: `{input_str, inputs}` (callback) or the plain value. LangChain writes `input_str` as a
 * Python repr; `inputs` is the same as an object and therefore preferred.
 */
export function langchainArguments(value: JsonValue): JsonValue {
  const { value: decoded } = unwrapJson(value);
  if (!isJsonObject(decoded) || !('input_str' in decoded || 'inputs' in decoded)) return value;
  const { inputs } = decoded;
  return isJsonObject(inputs) ? inputs : (decoded.input_str ?? inputs ?? value);
}

/** Result of a tool run: a ToolMessage in any wrapping, `{output, kwargs}`, or the plain value. */
export function langchainResult(value: JsonValue): {
  content: JsonValue;
  toolCallId: string | null;
  status: JsonValue;
  name: string | null;
} {
  const { value: decoded } = unwrapJson(value, 1);
  let body: JsonValue = decoded;
  if (isJsonObject(body) && 'output' in body && ('kwargs' in body || Object.keys(body).length === 1)) {
    body = body.output ?? null;
    const inner = unwrapJson(body, 1).value;
    if (isJsonObject(inner) && (inner.lc !== undefined || inner.type === 'tool')) body = inner;
  }
  if (isJsonObject(body) && body.lc !== undefined && isJsonObject(body.kwargs)) body = body.kwargs;
  if (isJsonObject(body) && typeof body.tool_call_id === 'string' && 'content' in body) {
    return {
      content: body.content ?? '',
      toolCallId: body.tool_call_id,
      status: body.status ?? null,
      name: typeof body.name === 'string' ? body.name : null,
    };
  }
  return { content: body === decoded ? value : body, toolCallId: null, status: null, name: null };
}
