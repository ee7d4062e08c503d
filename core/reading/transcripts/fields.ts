import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';

/** The text at the first of the keys that has a non-empty one. */
export function textAt(object: JsonObject, ...keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = object[key];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

export function numberAt(object: JsonObject, ...keys: readonly string[]): number | undefined {
  for (const key of keys) {
    const value = object[key];
    if (typeof value === 'number') return value;
  }
  return undefined;
}

export function objectAt(object: JsonObject, key: string): JsonObject | undefined {
  const value = object[key];
  return isJsonObject(value) ? value : undefined;
}

export function arrayAt(object: JsonObject, key: string): JsonValue[] | undefined {
  const value = object[key];
  return Array.isArray(value) ? value : undefined;
}

/** The objects of a list; what is not an object is left out. */
export function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** A file's name without folder and ending: what session ids of formats without ids of their own begin with. */
export function sourceStem(source: string): string {
  const base = source.split(/[\\/]/).at(-1) ?? source;
  return (
    base.replace(/(?:\.traj)?(?:\.(?:jsonl?|ndjson|log|txt|md|traj|eval))?(?:\.(?:gz|zst))?$/i, '') || source
  );
}
