import type { JsonValue } from '../../base/json.ts';
import { isForbiddenKey } from '../decode/decode-json.ts';

/** Highest index and highest number of entries read from flattened lists such as `gen_ai.prompt.N.content`. */
export const INDEX_CAP = 10_000;

export interface Unflattened {
  readonly value: JsonValue | null;
  /** Something lay beyond the cap, or under a key that is refused, and was left out. */
  readonly capped: boolean;
}

interface Node {
  leaf: JsonValue | undefined;
  readonly children: Map<string, Node>;
}

/**
 * Rebuilds `prefix.0.message.role`-style attributes into a value. Lists come out dense, in the order of their
 * indexes, so a single far index cannot make a huge sparse array; indexes from 10,000 on are left out and reported.
 */
export function unflatten(attributes: Readonly<Record<string, JsonValue>>, prefix: string): Unflattened {
  const root: Node = { leaf: undefined, children: new Map() };
  let entries = 0;
  let capped = false;
  for (const [key, value] of Object.entries(attributes)) {
    if (!key.startsWith(`${prefix}.`)) continue;
    const path = key.slice(prefix.length + 1).split('.');
    if (
      path.length > 20 ||
      path.some((part) => isForbiddenKey(part) || (isIndex(part) && Number(part) >= INDEX_CAP))
    ) {
      capped = true;
      continue;
    }
    entries += 1;
    if (entries > INDEX_CAP) {
      capped = true;
      break;
    }
    let node = root;
    for (const part of path) {
      let next = node.children.get(part);
      if (next === undefined) {
        next = { leaf: undefined, children: new Map() };
        node.children.set(part, next);
      }
      node = next;
    }
    node.leaf = value;
  }
  return { value: root.children.size === 0 ? null : build(root), capped };
}

function build(node: Node): JsonValue {
  if (node.children.size === 0) return node.leaf ?? null;
  const keys = [...node.children.keys()];
  if (keys.every(isIndex)) {
    return keys.sort((a, b) => Number(a) - Number(b)).map((key) => build(node.children.get(key) ?? node));
  }
  const out: { [key: string]: JsonValue } = {};
  for (const [key, child] of node.children) out[key] = build(child);
  return out;
}

function isIndex(part: string): boolean {
  return /^\d{1,15}$/.test(part);
}
