import { sha256Hex } from '../../contracts/hash.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import type { Block, ToolDefinition } from '../../session/model.ts';
import { readArguments } from './arguments.ts';
import { arrayAt, objectAt, objectsIn, textAt } from './fields.ts';

export interface ReadBlocks {
  readonly blocks: Block[];
  /** A tool call's arguments were not JSON as recorded. */
  readonly argumentsRepaired: boolean;
}

/**
 * Content of a message in any of the block dialects that chat logs use: plain text, OpenAI parts, Anthropic blocks
 * (`tool_use`, `tool_result`, `thinking`), Bedrock blocks (`toolUse`, `toolResult`, `reasoningContent`). A block of
 * an unknown kind is kept as its JSON text, never dropped.
 */
export function readBlocks(content: JsonValue | undefined): ReadBlocks {
  if (content === null || content === undefined || content === '')
    return { blocks: [], argumentsRepaired: false };
  if (typeof content === 'string') {
    return { blocks: [{ type: 'text', text: content }], argumentsRepaired: false };
  }
  let argumentsRepaired = false;
  const blocks: Block[] = [];
  for (const item of Array.isArray(content) ? content : [content]) {
    if (typeof item === 'string') {
      if (item !== '') blocks.push({ type: 'text', text: item });
    } else if (isJsonObject(item)) {
      const read = readBlock(item);
      blocks.push(...read.blocks);
      argumentsRepaired ||= read.argumentsRepaired;
    } else {
      blocks.push({ type: 'text', text: JSON.stringify(item) });
    }
  }
  return { blocks, argumentsRepaired };
}

function readBlock(item: JsonObject): ReadBlocks {
  const plain = (...blocks: Block[]): ReadBlocks => ({ blocks, argumentsRepaired: false });
  const toolUse = item.type === 'tool_use' ? item : objectAt(item, 'toolUse');
  if (toolUse !== undefined) return readToolUse(toolUse);
  const toolResult = item.type === 'tool_result' ? item : objectAt(item, 'toolResult');
  if (toolResult !== undefined) return plain(readToolResult(toolResult));
  const reasoning = readReasoning(item);
  if (reasoning !== undefined) return plain({ type: 'reasoning', text: reasoning });
  const media = readMedia(item);
  if (media !== undefined) return plain(media);
  if (typeof item.text === 'string') return plain({ type: 'text', text: item.text });
  if (typeof item.refusal === 'string') return plain({ type: 'text', text: item.refusal });
  if (isJsonObject(item.cachePoint)) return plain();
  return plain({ type: 'text', text: JSON.stringify(item) });
}

function readToolUse(item: JsonObject): ReadBlocks {
  const read = readArguments(item.input);
  return {
    blocks: [toolUseBlock(textAt(item, 'id', 'toolUseId') ?? null, textAt(item, 'name') ?? 'unknown', read)],
    argumentsRepaired: read.repaired,
  };
}

/** A `tool_use` block with its raw text only where it says more than the value. */
export function toolUseBlock(
  toolCallId: string | null,
  name: string,
  read: { value: JsonValue; raw?: string },
): Block & { type: 'tool_use' } {
  return {
    type: 'tool_use',
    toolCallId,
    name,
    arguments: read.value,
    ...(read.raw === undefined ? {} : { argumentsRaw: read.raw }),
  };
}

function readToolResult(item: JsonObject): Block {
  const status = textAt(item, 'status');
  const isError =
    typeof item.is_error === 'boolean' ? item.is_error : status === undefined ? null : status === 'error';
  return {
    type: 'tool_result',
    toolCallId: textAt(item, 'tool_use_id', 'toolUseId', 'tool_call_id') ?? null,
    content: resultText(item.content),
    isError,
  };
}

/** A result as the model saw it: texts joined by line breaks, JSON as JSON text, media by name. */
export function resultText(content: JsonValue | undefined): string {
  if (content === null || content === undefined) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content
    .map((item) => {
      if (typeof item === 'string') return item;
      if (!isJsonObject(item)) return JSON.stringify(item);
      if (typeof item.text === 'string') return item.text;
      if (item.json !== undefined) return JSON.stringify(item.json);
      const media = readMedia(item);
      return media === undefined ? JSON.stringify(item) : `[${media.mediaType}, ${media.byteLength} bytes]`;
    })
    .join('\n');
}

function readReasoning(item: JsonObject): string | undefined {
  if (item.type === 'thinking' || item.type === 'reasoning') return textAt(item, 'thinking', 'text') ?? '';
  if (item.type === 'redacted_thinking') return '[redacted by the provider]';
  const reasoning = objectAt(item, 'reasoningContent');
  if (reasoning === undefined) return undefined;
  const text = objectAt(reasoning, 'reasoningText');
  return text === undefined ? '[redacted by the provider]' : (textAt(text, 'text') ?? '');
}

function readMedia(item: JsonObject): (Block & { type: 'media' }) | undefined {
  const url = objectAt(item, 'image_url');
  if (url !== undefined) return mediaOfUrl(textAt(url, 'url') ?? '', 'image/*');
  if (item.type === 'image' || item.type === 'document') {
    const source = objectAt(item, 'source');
    if (source !== undefined) {
      const data = textAt(source, 'data');
      const mediaType = textAt(source, 'media_type') ?? `${item.type}/*`;
      return data === undefined ? mediaOfUrl(textAt(source, 'url') ?? '', mediaType) : media(mediaType, data);
    }
  }
  for (const kind of ['image', 'document', 'video', 'audio']) {
    const part = objectAt(item, kind);
    const source = part && objectAt(part, 'source');
    if (part === undefined || source === undefined) continue;
    return media(
      `${kind}/${textAt(part, 'format') ?? '*'}`,
      textAt(source, 'bytes') ?? JSON.stringify(source),
    );
  }
  const audio = objectAt(item, 'input_audio');
  if (audio !== undefined)
    return media(`audio/${textAt(audio, 'format') ?? '*'}`, textAt(audio, 'data') ?? '');
  return undefined;
}

function mediaOfUrl(url: string, mediaType: string): Block & { type: 'media' } {
  const data = /^data:([^;,]{0,100})[^,]{0,100},/.exec(url);
  return data === null
    ? { type: 'media', mediaType, byteLength: 0, digest: sha256Hex(url) }
    : media(data[1] || mediaType, url.slice(data[0].length));
}

function media(mediaType: string, base64: string): Block & { type: 'media' } {
  // Four base64 digits carry three bytes.
  return {
    type: 'media',
    mediaType,
    byteLength: Math.floor((base64.length * 3) / 4),
    digest: sha256Hex(base64),
  };
}

/** Tool calls beside the content: OpenAI `tool_calls[].function`, or the older single `function_call`. */
export function readToolCalls(message: JsonObject): ReadBlocks {
  const blocks: Block[] = [];
  let argumentsRepaired = false;
  const calls = objectsIn(message.tool_calls ?? undefined);
  for (const call of calls) {
    const body = objectAt(call, 'function') ?? call;
    const read = readArguments(body.arguments ?? body.args ?? body.input);
    argumentsRepaired ||= read.repaired;
    blocks.push(
      toolUseBlock(textAt(call, 'id', 'tool_call_id') ?? null, textAt(body, 'name') ?? 'unknown', read),
    );
  }
  const single = objectAt(message, 'function_call');
  if (calls.length === 0 && single !== undefined) {
    const read = readArguments(single.arguments);
    argumentsRepaired ||= read.repaired;
    blocks.push(toolUseBlock(null, textAt(single, 'name') ?? 'unknown', read));
  }
  return { blocks, argumentsRepaired };
}

/**
 * Tool definitions as requests carry them: OpenAI (`function{}` or flat), Anthropic (`input_schema`), Bedrock
 * (`toolSpec`), MCP (`inputSchema`). `undefined` when the producer records none.
 */
export function readTools(document: JsonObject): ToolDefinition[] | undefined {
  const config = objectAt(document, 'toolConfig') ?? objectAt(document, 'tool_config');
  const list =
    arrayAt(document, 'tools') ??
    arrayAt(document, 'functions') ??
    arrayAt(document, 'tool_specs') ??
    (config === undefined ? undefined : arrayAt(config, 'tools'));
  if (list === undefined) return undefined;
  const tools: ToolDefinition[] = [];
  for (const item of list) {
    if (typeof item === 'string') {
      tools.push({ name: item });
      continue;
    }
    if (!isJsonObject(item)) continue;
    const body = objectAt(item, 'function') ?? objectAt(item, 'toolSpec') ?? item;
    const name = textAt(body, 'name');
    if (name === undefined) continue;
    const description = textAt(body, 'description');
    const schema = body.parameters ?? body.input_schema ?? body.inputSchema;
    const parameters = isJsonObject(schema) && isJsonObject(schema.json) ? schema.json : schema;
    tools.push({
      name,
      ...(description === undefined ? {} : { description }),
      ...(parameters === undefined || parameters === null ? {} : { parameters }),
    });
  }
  return tools;
}
