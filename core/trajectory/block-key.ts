import { canonicalJson } from '../base/hash.ts';
import type { JsonValue } from '../base/json.ts';
import type { Block } from '../session/session.ts';

/**
 * The text inside a tool result, whatever the producer wrapped it in. The same result reaches us as plain text
 * from the tool span and as JSON text of it (`"ok"`, `[{"text":"ok"}]`) from the next model call.
 */
export function plainResult(content: string): string {
  let text = content.trim();
  // Three levels: the deepest nesting of JSON text in JSON text seen in real telemetry.
  for (let level = 0; level < 3 && /^["[{]/.test(text); level++) {
    const value = parse(text);
    if (value === undefined) return text;
    const inner = typeof value === 'string' ? value : joinedText(value);
    if (inner === null) return canonicalJson(value);
    text = inner.trim();
  }
  return text;
}

/** `undefined` for what is no JSON, or too deep to be compared. */
function parse(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    canonicalJson(value);
    return value;
  } catch {
    return undefined;
  }
}

function joinedText(value: JsonValue): string | null {
  const items = Array.isArray(value) ? value : [value];
  const texts = items.map(onlyText);
  return texts.length > 0 && texts.every((item) => item !== null) ? texts.join('\n') : null;
}

/** The text of `{text}` or `{type: 'text', text}`, `null` when the value says anything more. */
function onlyText(value: JsonValue): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { text, type, ...rest } = value;
  const plain = type === undefined || type === 'text';
  return typeof text === 'string' && plain && Object.keys(rest).length === 0 ? text : null;
}

export const callKey = (name: string, args: JsonValue): string => `${name}\0${canonicalJson(args)}`;

/** Keys of blocks, for telling repetition from news. */
export interface BlockKeys {
  /** `plainResult`, remembered: a session repeats each result at every later call. */
  plain(content: string): string;
  /** What a block says, surrounding white space and wrapping left out. */
  of(block: Block): string;
}

export function makeBlockKeys(): BlockKeys {
  const known = new Map<string, string>();
  const plain = (content: string): string => {
    const before = known.get(content);
    if (before !== undefined) return before;
    const text = plainResult(content);
    known.set(content, text);
    return text;
  };
  return {
    plain,
    of(block) {
      switch (block.type) {
        case 'text':
          return `t${block.text.trim()}`;
        case 'reasoning':
          return `r${block.text.trim()}`;
        case 'tool_use':
          return `u${block.toolCallId ?? ''}\0${callKey(block.name, block.arguments)}`;
        case 'tool_result':
          return `o${block.toolCallId ?? ''}\0${plain(block.content)}`;
        case 'media':
          return `m${block.digest}`;
      }
    },
  };
}
