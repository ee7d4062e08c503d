import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Block, SpanFlag, ToolDefinition } from '../../session/session.ts';
import { readArguments, readBlock, resultText } from '../conventions/blocks.ts';
import { readToolDefinitions } from '../conventions/tool-definitions.ts';
import { arrayAt, objectAt, objectsIn } from './fields.ts';

/** Content of a message: text, or blocks in any vocabulary. What was repaired or cut is added to `flags`. */
export function readBlocks(content: JsonValue | undefined, flags: Set<SpanFlag>): Block[] {
  if (content === undefined) return [];
  return (Array.isArray(content) ? content : [content]).flatMap((part) => readBlock(part, flags));
}

/** Tool calls beside the content: `tool_calls[]`, or the older single `function_call`. */
export function readToolCalls(message: JsonObject, flags: Set<SpanFlag>): Block[] {
  const calls = objectsIn(message.tool_calls ?? undefined);
  const single = objectAt(message, 'function_call');
  const all = calls.length === 0 && single !== undefined ? [single] : calls;
  return all.flatMap((call) => readBlock({ ...call, type: 'tool_call' }, flags));
}

export function toolUse(
  toolCallId: string | null,
  name: string,
  args: JsonValue | undefined,
  flags: Set<SpanFlag>,
): Block {
  return { type: 'tool_use', toolCallId, name, ...readArguments(args ?? {}, flags) };
}

/** Text of a value that is shown as one: a string, blocks joined, or JSON text. */
export function plainText(value: JsonValue | undefined): string {
  return resultText(value ?? null, new Set());
}

/** A model's reasoning as OpenAI's items carry it: `[{type: 'summary_text', text}]`, or text. */
export function reasoningText(value: JsonValue | undefined): string {
  const texts = objectsIn(value).flatMap((part) => (typeof part.text === 'string' ? [part.text] : []));
  return texts.length > 0 ? texts.join('\n') : plainText(value);
}

/** Tool definitions as requests carry them; `undefined` when the producer records none. */
export function readTools(document: JsonObject): ToolDefinition[] | undefined {
  const config = objectAt(document, 'toolConfig') ?? objectAt(document, 'tool_config');
  const list =
    arrayAt(document, 'tools') ??
    arrayAt(document, 'functions') ??
    (isJsonObject(config) ? arrayAt(config, 'tools') : undefined);
  return list === undefined ? undefined : readToolDefinitions(list);
}
