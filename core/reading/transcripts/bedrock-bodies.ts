import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { objectAt, textAt } from './fields.ts';

/**
 * The events of a streamed answer (ConverseStream, InvokeModelWithResponseStream with Anthropic's, Titan's or Llama's
 * chunks), in order, as the body that the call without streaming would have had.
 */
export function mergeStream(events: readonly JsonObject[]): JsonObject {
  const blocks = new Map<number, JsonObject>();
  const partial = new Map<number, string>();
  let usage: JsonObject = {};
  let stop: JsonValue = null;
  let head: JsonObject = {};
  let text = '';
  for (const event of events) {
    const start =
      objectAt(event, 'contentBlockStart') ?? (event.type === 'content_block_start' ? event : undefined);
    const delta =
      objectAt(event, 'contentBlockDelta') ?? (event.type === 'content_block_delta' ? event : undefined);
    const at = Number((start ?? delta)?.contentBlockIndex ?? (start ?? delta)?.index ?? 0);
    if (start !== undefined) blocks.set(at, startedBlock(start));
    if (delta !== undefined) addDelta(at, objectAt(delta, 'delta') ?? {}, blocks, partial);
    if (event.type === 'message_start') head = objectAt(event, 'message') ?? {};
    usage = {
      ...usage,
      ...(objectAt(head, 'usage') ?? {}),
      ...(objectAt(event, 'usage') ?? objectAt(objectAt(event, 'metadata') ?? {}, 'usage') ?? {}),
      ...(objectAt(event, 'amazon-bedrock-invocationMetrics') ?? {}),
    };
    stop =
      objectAt(event, 'messageStop')?.stopReason ??
      objectAt(event, 'delta')?.stop_reason ??
      event.stop_reason ??
      event.completionReason ??
      stop;
    text += textAt(event, 'outputText', 'generation', 'completion') ?? '';
  }
  for (const [at, json] of partial) {
    const block = blocks.get(at);
    if (block !== undefined) block.input = json;
  }
  const content = [...blocks].sort(([a], [b]) => a - b).map(([, block]) => block);
  if (text !== '') content.push({ type: 'text', text });
  return {
    type: 'message',
    id: head.id ?? null,
    model: head.model ?? null,
    role: 'assistant',
    content,
    stop_reason: stop,
    usage,
  };
}

/** In Anthropic's words, which both kinds of stream share. */
function startedBlock(start: JsonObject): JsonObject {
  const contentBlock = objectAt(start, 'content_block');
  if (contentBlock !== undefined) return { ...contentBlock };
  const tool = objectAt(objectAt(start, 'start') ?? {}, 'toolUse') ?? {};
  return { type: 'tool_use', id: tool.toolUseId ?? null, name: tool.name ?? '', input: {} };
}

function addDelta(
  at: number,
  delta: JsonObject,
  blocks: Map<number, JsonObject>,
  partial: Map<number, string>,
): void {
  const toolUse = objectAt(delta, 'toolUse');
  const json =
    textAt(delta, 'partial_json') ?? (toolUse === undefined ? undefined : textAt(toolUse, 'input'));
  if (json !== undefined) partial.set(at, (partial.get(at) ?? '') + json);
  const reasoning = textAt(delta, 'thinking') ?? textAt(objectAt(delta, 'reasoningContent') ?? {}, 'text');
  const text = textAt(delta, 'text');
  const block = blocks.get(at) ?? { type: reasoning === undefined ? 'text' : 'thinking' };
  if (text !== undefined) block.text = `${typeof block.text === 'string' ? block.text : ''}${text}`;
  if (reasoning !== undefined)
    block.thinking = `${typeof block.thinking === 'string' ? block.thinking : ''}${reasoning}`;
  blocks.set(at, block);
}

/** Native text bodies of Titan, Llama, Mistral, Cohere and Claude 2 as one answer; `null` when it is none of these. */
export function nativeAnswer(body: JsonObject): JsonObject | null {
  const [result] = [body.results, body.outputs].flatMap((list) =>
    Array.isArray(list) ? list.filter(isJsonObject) : [],
  );
  const text =
    textAt(body, 'generation', 'completion', 'outputText', 'text') ??
    (result === undefined ? undefined : textAt(result, 'outputText', 'text'));
  if (text === undefined) return null;
  const stop =
    body.stop_reason ?? body.finish_reason ?? result?.completionReason ?? result?.stop_reason ?? null;
  return { type: 'message', role: 'assistant', content: [{ type: 'text', text }], stop_reason: stop };
}

/** A prompt in the native words of text models as one message of the user. */
export function nativePrompt(body: JsonObject): JsonObject[] {
  const prompt = textAt(body, 'prompt', 'inputText', 'message');
  return prompt === undefined ? [] : [{ role: 'user', content: prompt }];
}
