import { SessionInvalidError } from '../contracts/errors.ts';
import { isJsonObject, type JsonValue } from '../contracts/json.ts';

/** Deeper nesting is refused: every reader behind the door may then recurse. */
const MAX_DEPTH = 200;
const REFUSED_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Makes a parsed document safe for everything behind the door: lone surrogates become U+FFFD (stores refuse them),
 * keys that reach prototypes are left out and counted, nesting beyond 200 levels is a SessionInvalidError.
 */
export function cleanJson(value: unknown, source: string): { value: JsonValue; refusedKeys: number } {
  let refusedKeys = 0;
  const clean = (item: unknown, depth: number): JsonValue => {
    if (depth > MAX_DEPTH) {
      throw new SessionInvalidError(
        `${source}: nested deeper than ${MAX_DEPTH} levels. Expected a session file; check that this is one.`,
      );
    }
    if (typeof item === 'string') return item.isWellFormed() ? item : item.toWellFormed();
    if (Array.isArray(item)) return item.map((entry) => clean(entry, depth + 1));
    if (isJsonObject(item)) {
      const out: { [key: string]: JsonValue } = {};
      for (const [key, entry] of Object.entries(item)) {
        if (REFUSED_KEYS.has(key)) refusedKeys += 1;
        else out[key.isWellFormed() ? key : key.toWellFormed()] = clean(entry, depth + 1);
      }
      return out;
    }
    if (typeof item === 'number') return Number.isFinite(item) ? item : String(item);
    return typeof item === 'boolean' ? item : null;
  };
  return { value: clean(value, 0), refusedKeys };
}
