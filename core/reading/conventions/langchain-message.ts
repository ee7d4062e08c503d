import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { textAt } from './attributes.ts';

/**
 * One message of LangChain as a chat message (`role`, `content`, `tool_calls`, `tool_call_id`, `status`, `usage`,
 * `model`, `finish_reason`), from any of its dumps (langchain-core 1.8.3, `load/dump.py`, `messages/*.py`):
 * `{lc, type: 'constructor', id: […, 'AIMessage'], kwargs}`, `{type: 'ai', data}` and `{type: 'ai', content, …}`.
 * `null` when the value is none of these.
 */
export function langchainMessage(item: JsonObject): JsonObject | null {
  const body = bodyOf(item);
  if (body === null) return null;
  const { type, fields } = body;
  const kind = type.toLowerCase().replace(/message(?:chunk)?$/, '');
  const role = kind === 'chat' ? (fields.role ?? 'assistant') : (ROLES.get(kind) ?? null);
  if (role === null) return null;
  const extra = isJsonObject(fields.additional_kwargs) ? fields.additional_kwargs : {};
  const ended = isJsonObject(fields.response_metadata) ? fields.response_metadata : {};
  const usage = [fields.usage_metadata, ended.token_usage, ended.usage].find(isJsonObject);
  const calls = [fields.tool_calls, extra.tool_calls].find((list) => Array.isArray(list) && list.length > 0);
  const invalid = Array.isArray(fields.invalid_tool_calls) ? fields.invalid_tool_calls : [];
  const model = textAt(ended, 'model_name', 'model', 'model_id');
  const finish = textAt(ended, 'finish_reason', 'stop_reason', 'stopReason', 'done_reason');
  const reasoning = textAt(extra, 'reasoning_content', 'reasoning');
  const { additional_kwargs: _, response_metadata: __, usage_metadata: ___, type: ____, ...rest } = fields;
  return {
    ...rest,
    role,
    content: fields.content ?? null,
    ...(Array.isArray(calls) || invalid.length > 0
      ? { tool_calls: [...(Array.isArray(calls) ? calls : []), ...invalid] }
      : {}),
    ...(isJsonObject(extra.function_call) && calls === undefined
      ? { function_call: extra.function_call }
      : {}),
    ...(textAt(extra, 'refusal') === null ? {} : { refusal: extra.refusal ?? null }),
    ...(reasoning === null ? {} : { reasoning_content: reasoning }),
    ...(usage === undefined ? {} : { usage }),
    ...(model === null ? {} : { model }),
    ...(finish === null ? {} : { finish_reason: finish }),
  };
}

const ROLES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    human: 'user',
    user: 'user',
    ai: 'assistant',
    assistant: 'assistant',
    system: 'system',
    developer: 'system',
    tool: 'tool',
    function: 'tool',
  }),
);

/** LangChain's own words for the kinds of messages; `remove` is an operation on a state and no message. */
const TYPE =
  /^(?:human|ai|system|tool|function|chat|remove|(?:Human|AI|System|Tool|Function|Chat)MessageChunk)$/;

/** Whether a value is a LangChain message of its own kind and not merely shaped like a chat message. */
export function isLangchainMessage(value: JsonValue | undefined): boolean {
  if (!isJsonObject(value)) return false;
  if (isConstructor(value)) return true;
  if (typeof value.type !== 'string' || !TYPE.test(value.type) || value.role !== undefined) return false;
  if (isJsonObject(value.data) && 'content' in value.data) return true;
  return 'content' in value || value.type === 'remove';
}

function isConstructor(value: JsonObject): boolean {
  return (
    (value.lc === 1 || value.lc === 2) &&
    value.type === 'constructor' &&
    isJsonObject(value.kwargs) &&
    /Message(?:Chunk)?$/.test(nameOf(value))
  );
}

/** The last part of a constructor's id is its class; the module before it differs by language and version. */
const nameOf = (value: JsonObject): string => (Array.isArray(value.id) ? String(value.id.at(-1) ?? '') : '');

function bodyOf(item: JsonObject): { type: string; fields: JsonObject } | null {
  if (isJsonObject(item.kwargs) && item.lc !== undefined)
    return { type: textAt(item.kwargs, 'type') ?? nameOf(item), fields: item.kwargs };
  // Langfuse's handler and others rename the type to a role and keep the rest.
  if (typeof item.role === 'string' && isJsonObject(item.additional_kwargs))
    return { type: item.role, fields: item };
  if (typeof item.type !== 'string' || item.role !== undefined) return null;
  if (isJsonObject(item.data) && item.content === undefined) return { type: item.type, fields: item.data };
  return TYPE.test(item.type) && 'content' in item ? { type: item.type, fields: item } : null;
}
