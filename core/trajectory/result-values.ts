import { isJsonObject, type JsonValue } from '../base/json.ts';

/** Results longer than this are not parsed; a listing that an agent counts by eye is far shorter. */
const MAX_PARSED = 400_000;
const MAX_DEPTH = 12;
const MAX_NODES = 20_000;

/** A result read as JSON, or `undefined` when it is not JSON of an object or array. */
export function parseResult(text: string): JsonValue | undefined {
  if (text.length > MAX_PARSED) return undefined;
  const head = text.trimStart().charAt(0);
  if (head !== '{' && head !== '[') return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // Not JSON: an ordinary result, told by `undefined`.
    return undefined;
  }
}

/** A list in a result: an array of objects, or an object whose values are objects of one shape (a keyed list). */
export interface Collection {
  /** Key under which it stands, lower-case; '' at the top. */
  readonly name: string;
  readonly items: readonly JsonValue[];
}

export function collectionsOf(root: JsonValue): readonly Collection[] {
  const found: Collection[] = [];
  let nodes = 0;
  const visit = (value: JsonValue, name: string, depth: number): void => {
    nodes += 1;
    if (depth > MAX_DEPTH || nodes > MAX_NODES || typeof value !== 'object' || value === null) return;
    const children = Array.isArray(value) ? value.map((item) => ['', item] as const) : Object.entries(value);
    const items = children.map(([, item]) => item);
    if (items.length >= 2 && (Array.isArray(value) || alike(items))) found.push({ name, items });
    for (const [key, item] of children) visit(item, key === '' ? name : key.toLowerCase(), depth + 1);
  };
  visit(root, '', 0);
  return found;
}

function alike(items: readonly JsonValue[]): boolean {
  const [first] = items;
  if (!isJsonObject(first)) return false;
  const shape = Object.keys(first).sort().join('\u0000');
  return items.every((item) => isJsonObject(item) && Object.keys(item).sort().join('\u0000') === shape);
}

/** Every number of items that somebody may rightly count: all, and those with one value of one field. */
export function countsOf(collection: Collection): ReadonlySet<number> {
  const byValue = new Map<string, number>();
  const visit = (value: JsonValue, path: string, depth: number): void => {
    if (depth > 3) return;
    if (isJsonObject(value)) {
      for (const [key, inner] of Object.entries(value)) visit(inner, `${path}/${key}`, depth + 1);
    } else if (!Array.isArray(value)) {
      const key = `${path}=${String(value).slice(0, 80)}`;
      byValue.set(key, (byValue.get(key) ?? 0) + 1);
    }
  };
  for (const item of collection.items) visit(item, '', 0);
  return new Set([collection.items.length, ...byValue.values()]);
}

/** Scalars of a JSON value as text, by path; for comparing two readings of one thing. */
export function scalarsByPath(root: JsonValue): ReadonlyMap<string, string> {
  const scalars = new Map<string, string>();
  const visit = (value: JsonValue, path: string, depth: number): void => {
    if (scalars.size >= MAX_NODES || depth > MAX_DEPTH) return;
    if (isJsonObject(value)) {
      for (const [key, inner] of Object.entries(value)) visit(inner, `${path}/${key}`, depth + 1);
    } else if (Array.isArray(value)) {
      value.forEach((inner, place) => {
        visit(inner, `${path}/${place}`, depth + 1);
      });
    } else scalars.set(path, String(value));
  };
  visit(root, '', 0);
  return scalars;
}
