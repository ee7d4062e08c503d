import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { repairJson } from '../../base/repair-json.ts';

/** Deeper documents are refused: every walk over a parsed value may then recurse. */
export const MAX_JSON_DEPTH = 200;
/** Producers quote JSON in JSON; three levels is the most that real records carry. */
const MAX_NESTED_LEVELS = 3;

/** Keys that would reach an object's prototype in careless hands; refused wherever maps are built from input. */
export function isForbiddenKey(key: string): boolean {
  return key === '__proto__' || key === 'constructor' || key === 'prototype';
}

/** Text without lone surrogates: stores, tokenisers and hashes fail on them. Each becomes U+FFFD. */
export function toWellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

export type Decoded =
  | { readonly ok: true; readonly value: JsonValue; readonly note: DecodeNote }
  | { readonly ok: false; readonly reason: string };

/**
 * How far the value can be trusted to be what the producer meant. `exact`; `changed`: forbidden keys dropped or
 * lone surrogates replaced; `repaired`: not JSON (NaN, raw control characters, Python repr, …), read by best
 * effort; `truncated`: the text ends inside a string, array or object.
 */
export type DecodeNote = 'exact' | 'changed' | 'repaired' | 'truncated';

type SourceReviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;
const parseWithSource: (text: string, reviver: SourceReviver) => unknown = JSON.parse;

/**
 * Parses JSON text strictly, but keeps what `JSON.parse` loses: integers beyond 2^53 become decimal strings.
 * Forbidden keys are dropped, lone surrogates replaced. Not ok: no JSON, or nested deeper than 200 levels.
 */
export function parseJson(text: string): Decoded {
  try {
    const plain: JsonValue = JSON.parse(text);
    switch (lookOver(plain, 0)) {
      case 'as-written':
        return { ok: true, value: plain, note: 'exact' };
      case 'too-deep':
        return { ok: false, reason: `nested deeper than ${MAX_JSON_DEPTH} levels` };
      case 'needs-care':
        return parseWithCare(text);
    }
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? withoutQuote(error.message) : 'not JSON' };
  }
}

type Look = 'as-written' | 'needs-care' | 'too-deep';

/**
 * Whether a value that `JSON.parse` gave is what was written. Long files are parsed by it: its values are fewer than the
 * text has letters, so looking at them costs less than looking at the text.
 */
function lookOver(value: JsonValue, depth: number): Look {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? 'as-written' : 'needs-care';
    case 'number':
      // A fraction is what a double can hold of it; whole numbers beyond 2^53 and infinities are not.
      return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))
        ? 'as-written'
        : 'needs-care';
    case 'object':
      break;
    default:
      return 'as-written';
  }
  if (value === null) return 'as-written';
  if (depth >= MAX_JSON_DEPTH) return 'too-deep';
  let look: Look = 'as-written';
  if (Array.isArray(value)) {
    for (const item of value) {
      const inner = lookOver(item, depth + 1);
      if (inner === 'too-deep') return inner;
      if (inner === 'needs-care') look = inner;
    }
    return look;
  }
  for (const key in value) {
    if (isForbiddenKey(key) || !key.isWellFormed()) look = 'needs-care';
    const inner = lookOver(value[key] ?? null, depth + 1);
    if (inner === 'too-deep') return inner;
    if (inner === 'needs-care') look = inner;
  }
  return look;
}

function parseWithCare(text: string): Decoded {
  let changed = false;
  const value = parseWithSource(text, (key, item, context) => {
    if (isForbiddenKey(key)) {
      changed = true;
      return undefined;
    }
    if (typeof item === 'number' && !Number.isSafeInteger(item)) {
      const source = context?.source ?? '';
      if (/^-?\d+$/.test(source)) return source;
      // 1e400 is no number that anything can carry on: unknown, not infinite.
      if (!Number.isFinite(item)) return null;
    }
    if (typeof item === 'string' && !item.isWellFormed()) {
      changed = true;
      return item.toWellFormed();
    }
    if (isJsonObject(item) && Object.keys(item).some((name) => !name.isWellFormed())) {
      changed = true;
      return Object.fromEntries(Object.entries(item).map(([name, inner]) => [name.toWellFormed(), inner]));
    }
    return item;
  });
  return { ok: true, value: value as JsonValue, note: changed ? 'changed' : 'exact' };
}

/** V8 quotes the text around the place in its complaint, which may be part of a secret. */
const withoutQuote = (complaint: string): string =>
  complaint.slice(0, 200).replace(/(?:, )?(?:\.{3})?"[\s\S]*"(?:\.{3})? is not valid JSON$/, '') ||
  'not valid JSON';

/**
 * Parses JSON and what producers write in its place: NaN and infinities (kept as strings), raw control
 * characters, Python reprs, cut text. Never evaluates anything. Python constructor calls and the like are not ok.
 */
export function parseLooseJson(text: string): Decoded {
  const strict = parseJson(text);
  if (strict.ok) return strict;
  const { depth, open } = scan(text);
  if (depth > MAX_JSON_DEPTH || !REPAIRABLE.test(text)) return strict;
  const json = repairJson(text);
  const repaired = json === null ? strict : parseJson(json);
  if (!repaired.ok) return strict;
  return { ok: true, value: repaired.value, note: open ? 'truncated' : 'repaired' };
}

/** `[INFO] done` and `{name}, hello` are prose: only what opens like an object, a list of values or a string is repaired. */
const REPAIRABLE = /^\s{0,64}(\{\s{0,64}(["'}]|\w+\s{0,8}:)|\[\s{0,64}[{["'\d\]-]|")/;

export interface Unwrapped {
  readonly value: JsonValue;
  readonly note: DecodeNote;
  /** How many layers of quoting were taken off; 0 = it was no JSON text. */
  readonly levels: number;
}

/**
 * Takes JSON out of a string that holds it, at most three layers deep and only where the text begins with `{`, `[`
 * or `"`. Any other value, and text that is no JSON, comes back as it is.
 */
export function unwrapJson(input: JsonValue, maxLevels = MAX_NESTED_LEVELS): Unwrapped {
  let value = input;
  let note: DecodeNote = 'exact';
  let levels = 0;
  while (levels < maxLevels && typeof value === 'string' && looksLikeJson(value)) {
    const decoded = parseLooseJson(value);
    if (!decoded.ok) break;
    // A quoted word inside prose is not a layer: repairing plain text would invent structure.
    if (decoded.note !== 'exact' && decoded.note !== 'changed' && typeof decoded.value === 'string') break;
    value = decoded.value;
    if (RANK[decoded.note] > RANK[note]) note = decoded.note;
    levels += 1;
  }
  return { value: typeof value === 'string' ? toWellFormed(value) : value, note, levels };
}

const RANK: Record<DecodeNote, number> = { exact: 0, changed: 1, repaired: 2, truncated: 3 };

export function looksLikeJson(text: string): boolean {
  return /^\s{0,64}[{["]/.test(text);
}

/**
 * Drops forbidden keys and replaces lone surrogates in a value that came from a plain `JSON.parse`, e.g. in a
 * document that somebody else parsed. Beyond 200 levels a value is replaced by a note, so that walks stay bounded.
 */
export function sanitiseJson(value: JsonValue, depth = 0): JsonValue {
  if (typeof value === 'string') return toWellFormed(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return null;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_JSON_DEPTH) return '[nested too deeply]';
  if (Array.isArray(value)) return value.map((item) => sanitiseJson(item, depth + 1));
  const out: { [key: string]: JsonValue } = {};
  for (const [key, item] of Object.entries(value)) {
    if (!isForbiddenKey(key)) out[toWellFormed(key)] = sanitiseJson(item, depth + 1);
  }
  return out;
}

/**
 * Whether a text begins as a JSON object or list and breaks off inside it, whatever words stand at the break.
 * `[INFO] done` and `{name}, hello` begin as none.
 */
export function breaksOff(text: string): boolean {
  return /^\s{0,64}(?:\{\s{0,64}"|\[\s{0,64}[{["])/.test(text) && scan(text).open && !parseJson(text).ok;
}

/** Deepest nesting, and whether the text ends inside a string or an open bracket. Tolerates what is no JSON. */
function scan(text: string): { depth: number; open: boolean } {
  let depth = 0;
  let deepest = 0;
  let quote = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (quote !== 0) {
      if (code === 92) i += 1;
      else if (code === quote) quote = 0;
    } else if (code === 34) quote = code;
    else if (code === 123 || code === 91) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (code === 125 || code === 93) depth -= 1;
  }
  return { depth: deepest, open: quote !== 0 || depth > 0 };
}
