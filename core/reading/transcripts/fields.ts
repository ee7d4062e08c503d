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

const ISO_TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d{0,9})?(Z|[+-]\d\d:?\d\d)?$/;

/**
 * An ISO date (taken as UTC without a zone), or milliseconds or seconds since the epoch, as nanoseconds in decimal;
 * `null` when it is none. Fractions stay exact: runs of one millisecond are ordered by their microseconds.
 */
export function toUnixNano(value: JsonValue | undefined): string | null {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) {
    // Seconds have 10 digits until the year 2286, milliseconds 13.
    const milliseconds = value < 1e11 ? value * 1000 : value;
    return (BigInt(Math.round(milliseconds * 1000)) * 1000n).toString();
  }
  const parts = typeof value === 'string' ? ISO_TIME.exec(value) : null;
  if (parts === null) return null;
  const [, date = '', time = '', fraction = '', zone = 'Z'] = parts;
  const milliseconds = Date.parse(`${date}T${time}${zone}`);
  if (Number.isNaN(milliseconds) || milliseconds < 0) return null;
  return (BigInt(milliseconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0'))).toString();
}

/** A file's name without folder and ending: what session ids of formats without ids of their own begin with. */
export function sourceStem(source: string): string {
  const base = source.split(/[\\/]/).at(-1) ?? source;
  return base.replace(/\.(jsonl?|ndjson|log|txt)$/i, '') || source;
}
