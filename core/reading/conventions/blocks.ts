import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Block, SpanFlag } from '../../session/session.ts';
import { toWellFormed, unwrapJson } from '../decode/decode-json.ts';
import { mediaBlock, textWithoutMedia, withoutMedia } from '../decode/decode-media.ts';

/** One part of a message, in any producer's words. What nobody knows stays as its JSON text, flagged. */
export function readBlock(part: JsonValue, flags: Set<SpanFlag>): Block[] {
  if (typeof part === 'string') return part === '' ? [] : [textBlock(part)];
  if (!isJsonObject(part)) return part === null ? [] : [textBlock(JSON.stringify(part))];

  // OpenInference wraps once more: {message_content: {...}}, {tool_call: {...}}.
  if (isJsonObject(part.message_content)) return readBlock(part.message_content, flags);
  if (isJsonObject(part.tool_call)) return readCall({ ...part.tool_call }, flags);
  // Bedrock and Gemini name the kind by the key.
  if (isJsonObject(part.toolUse)) return readCall(part.toolUse, flags);
  if (isJsonObject(part.toolResult)) return readResult(part.toolResult, flags);
  const gemini = part.function_call ?? part.functionCall;
  if (isJsonObject(gemini) && part.type === undefined) return readCall(gemini, flags);
  const answer = part.function_response ?? part.functionResponse;
  if (isJsonObject(answer)) return readResult(answer, flags);
  const inline = part.inline_data ?? part.inlineData;
  if (isJsonObject(inline)) {
    return [
      mediaBlock(str(inline.mime_type) ?? str(inline.mimeType) ?? UNKNOWN_MEDIA, str(inline.data) ?? ''),
    ];
  }
  if (isJsonObject(part.reasoningContent)) return readReasoning(part.reasoningContent);

  const type = typeof part.type === 'string' ? part.type.toLowerCase().replaceAll('-', '_') : '';
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text':
    case 'refusal':
      return readText(part.text ?? part.content ?? part.refusal ?? '', flags);
    case 'reasoning':
    case 'thinking':
    case 'redacted_thinking':
      return readReasoning(part);
    case 'tool_use':
    case 'tool_call':
    case 'function_call':
    case 'function':
    case 'server_tool_use':
      return readCall(part, flags);
    case 'tool_result':
    case 'tool_call_response':
    case 'function_call_output':
    case 'tool_response':
      return readResult(part, flags);
    case 'image':
    case 'image_url':
    case 'input_image':
    case 'audio':
    case 'input_audio':
    case 'video':
    case 'file':
    case 'input_file':
    case 'document':
    case 'blob':
    case 'uri':
      return [readMedia(part, type)];
    default:
      break;
  }
  for (const kind of ['image', 'transcript', 'video']) {
    const inner = part[kind];
    if (isJsonObject(inner)) return [readMedia(inner, kind)];
  }
  if (typeof part.text === 'string') return part.text === '' ? [] : [textBlock(part.text)];
  if (typeof part.content === 'string' && Object.keys(part).length <= 2) return [textBlock(part.content)];
  flags.add('best-effort-decoded');
  return [textBlock(JSON.stringify(withoutMedia(part)))];
}

const UNKNOWN_MEDIA = 'application/octet-stream';

function readText(value: JsonValue, flags: Set<SpanFlag>): Block[] {
  if (typeof value === 'string') return value === '' ? [] : [textBlock(value)];
  return Array.isArray(value) ? value.flatMap((item) => readBlock(item, flags)) : readBlock(value, flags);
}

function textBlock(value: string): Block {
  return { type: 'text', text: toWellFormed(textWithoutMedia(value)) };
}

function readReasoning(part: JsonObject): Block[] {
  const inner = isJsonObject(part.reasoningText) ? part.reasoningText.text : null;
  const text = str(inner ?? part.text) ?? str(part.content) ?? str(part.thinking);
  return text === null ? [] : [{ type: 'reasoning', text: toWellFormed(text) }];
}

function readCall(call: JsonObject, flags: Set<SpanFlag>): Block[] {
  const inner = isJsonObject(call.function) ? call.function : call;
  const name = str(inner.name) ?? str(call.toolName) ?? str(call.tool_name) ?? '';
  const raw = inner.arguments ?? inner.args ?? inner.input ?? call.arguments ?? call.parameters ?? {};
  const id =
    str(call.id) ??
    str(call.toolUseId) ??
    str(call.toolCallId) ??
    str(call.call_id) ??
    str(call.tool_call_id);
  // Responses API items carry both their own id and the id that results refer to.
  const toolCallId = str(call.call_id) ?? id;
  return [{ type: 'tool_use', toolCallId, name, ...readArguments(raw, flags) }];
}

/**
 * Arguments as a value, with the producer's text beside it when that was not plain JSON: quoted twice, repaired,
 * cut, or with something replaced. Text that is no JSON at all stays a string.
 */
export function readArguments(
  raw: JsonValue,
  flags: Set<SpanFlag>,
): { arguments: JsonValue; argumentsRaw?: string } {
  const { value, note, levels } = unwrapJson(raw);
  const plain = typeof raw !== 'string' || (note === 'exact' && levels <= 1);
  if (note === 'truncated') flags.add('content-truncated');
  if (note === 'repaired' || note === 'truncated') flags.add('arguments-repaired');
  if (note === 'changed') flags.add('best-effort-decoded');
  const cleaned = withoutMedia(value);
  const arguments_ = cleaned === '' || cleaned === null ? {} : cleaned;
  if (plain || typeof raw !== 'string') return { arguments: arguments_ };
  return { arguments: arguments_, argumentsRaw: toWellFormed(textWithoutMedia(raw)) };
}

function readResult(result: JsonObject, flags: Set<SpanFlag>): Block[] {
  const toolCallId =
    str(result.toolUseId) ??
    str(result.tool_use_id) ??
    str(result.tool_call_id) ??
    str(result.toolCallId) ??
    str(result.call_id) ??
    str(result.id);
  const raw = result.content ?? result.response ?? result.result ?? result.output ?? '';
  const content = resultText(raw, flags);
  return [{ type: 'tool_result', toolCallId, content, isError: readIsError(result, content) }];
}

/** A rejected permission is the user's decision, not a fault of the tool, whatever the producer marks. */
const REJECTED = /^(The user (doesn't|does not) want to|\[Request interrupted by user)/;

/** What the producer states about failure: `is_error`, `status`; `null` when it does not say. */
export function readIsError(result: JsonObject, content: string): boolean | null {
  if (REJECTED.test(content)) return null;
  const flag = result.is_error ?? result.isError;
  if (typeof flag === 'boolean') return flag;
  const status = typeof result.status === 'string' ? result.status.toLowerCase() : '';
  if (['error', 'failed', 'failure', 'errored'].includes(status)) return true;
  if (['success', 'ok', 'completed', 'succeeded'].includes(status)) return false;
  const output = isJsonObject(result.output) ? result.output : null;
  if (output !== null && typeof output.type === 'string' && /^error/.test(output.type)) return true;
  return null;
}

/**
 * The result as the model saw it. Content blocks are joined; a plain text that a producer wrote as a JSON string
 * (`"\"file contents\""`) loses its quotes; any other JSON stays JSON text.
 */
export function resultText(raw: JsonValue, flags: Set<SpanFlag>): string {
  if (typeof raw === 'string') {
    if (/^\s{0,8}"/.test(raw)) {
      const { value, note } = unwrapJson(raw, 1);
      if (typeof value === 'string' && (note === 'exact' || note === 'changed')) return finish(value);
    }
    if (/^\s{0,8}\[\s{0,8}\{/.test(raw)) {
      const { value, note } = unwrapJson(raw, 1);
      if (note === 'exact' && Array.isArray(value) && value.every(isTextual)) return resultText(value, flags);
    }
    return finish(raw);
  }
  if (raw === null) return '';
  if (Array.isArray(raw) && raw.length > 0 && raw.every((item) => isTextual(item) || isMedia(item))) {
    return raw.map((item) => blockText(item, flags)).join('\n');
  }
  if (isJsonObject(raw)) {
    // AI SDK 5+: {type: 'text' | 'json' | 'error-text', value}
    if (typeof raw.type === 'string' && 'value' in raw && Object.keys(raw).length === 2) {
      return resultText(raw.value ?? '', flags);
    }
    if (isTextual(raw)) return blockText(raw, flags);
  }
  return finish(JSON.stringify(withoutMedia(raw)));
}

function finish(text: string): string {
  return toWellFormed(textWithoutMedia(text));
}

function isTextual(item: JsonValue): boolean {
  if (typeof item === 'string') return true;
  if (!isJsonObject(item)) return false;
  const keys = Object.keys(item);
  if (isJsonObject(item.message_content)) return isTextual(item.message_content);
  if (typeof item.text === 'string') return keys.length === 1 || item.type === 'text';
  return 'json' in item && keys.length === 1;
}

function isMedia(item: JsonValue): boolean {
  return (
    isJsonObject(item) &&
    ((typeof item.type === 'string' && /^(image|audio|video|file|document)/.test(item.type)) ||
      isJsonObject(item.image) ||
      isJsonObject(item.document))
  );
}

function blockText(item: JsonValue, flags: Set<SpanFlag>): string {
  if (typeof item === 'string') return finish(item);
  if (isJsonObject(item) && isJsonObject(item.message_content)) return blockText(item.message_content, flags);
  if (isJsonObject(item) && typeof item.text === 'string') return finish(item.text);
  if (isJsonObject(item) && 'json' in item) return finish(JSON.stringify(withoutMedia(item.json ?? null)));
  const [block] = readBlock(item, flags);
  return block?.type === 'media'
    ? `[${block.mediaType}, ${block.byteLength} bytes, sha256 ${block.digest.slice(0, 16)}]`
    : '';
}

function readMedia(part: JsonObject, type: string): Block {
  const source = isJsonObject(part.source) ? part.source : part;
  const url = isJsonObject(part.image_url) ? part.image_url.url : (part.image_url ?? part.url ?? part.uri);
  const audio = isJsonObject(part.input_audio) ? part.input_audio : null;
  const data =
    str(source.data) ??
    str(source.bytes) ??
    str(part.content) ??
    str(part.image) ??
    str(part.file_data) ??
    str(audio?.data) ??
    str(source.url) ??
    str(url) ??
    str(part.file_id) ??
    '';
  const mediaType =
    str(source.media_type) ??
    str(part.mime_type) ??
    str(part.mimeType) ??
    str(part.mediaType) ??
    (str(part.format) ? `${type}/${str(part.format)}` : `${type.replace(/^input_|_url$/g, '')}/*`);
  return mediaBlock(mediaType, data);
}

function str(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? toWellFormed(value) : null;
}
