import { hash } from 'node:crypto';
import type { JsonValue } from './json.ts';

/** SHA-256 of the text's UTF-8 bytes, 64 lower-case hex digits. Lone surrogates count as U+FFFD. */
export function sha256Hex(text: string): string {
  return hash('sha256', text);
}

/** Deeper values are refused: everything we hash was parsed from a bounded document. */
const MAX_DEPTH = 1000;

/**
 * JSON text with object keys in code-unit order and no white space: equal values have equal texts whatever the
 * order in which they were built. As `JSON.stringify`, it leaves out properties that are `undefined`, writes
 * `undefined` in arrays as `null`, and -0 as `0`. Unlike it, it throws a TypeError on what JSON cannot carry
 * (NaN, infinities, bigint, functions, symbols, objects with a prototype of their own) instead of changing it,
 * and a RangeError beyond 1,000 levels. A hash over it is an identity, so nothing may be lost.
 */
export function canonicalJson(value: JsonValue | object | undefined): string {
  return write(value ?? null, 0);
}

function write(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH) throw new RangeError(`value is nested deeper than ${MAX_DEPTH} levels`);
  if (value === null || value === undefined) return 'null';
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`JSON cannot carry the number ${value}`);
      return JSON.stringify(value);
    case 'object':
      break;
    default:
      throw new TypeError(`JSON cannot carry a ${typeof value}`);
  }
  if (Array.isArray(value)) return `[${value.map((item) => write(item, depth + 1)).join(',')}]`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new TypeError('JSON carries plain objects only (found a class instance: Map, Date, …)');
  }
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${write(item, depth + 1)}`);
  return `{${entries.join(',')}}`;
}
