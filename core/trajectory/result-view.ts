import type { JsonValue } from '../base/json.ts';
import { plainResult } from './block-key.ts';

/** A result as a machine sees it: its text without the wrapping of protocols, and its JSON where it has any. */
export interface ResultView {
  readonly text: string;
  /** An object or a list; `undefined` when the text is none. */
  readonly json: JsonValue | undefined;
}

/** Results longer than this are not parsed; what an agent reads is far shorter. */
const MAX_PARSED = 400_000;

const cache = new WeakMap<object, ResultView>();

/** The view of the result that `owner` (an exchange, a part) holds, made once. */
export function resultView(owner: object, result: string): ResultView {
  const known = cache.get(owner);
  if (known !== undefined) return known;
  const text = result.length > MAX_PARSED ? result : plainResult(result);
  const view = { text, json: parseJson(text) };
  cache.set(owner, view);
  return view;
}

/** An object or a list of JSON, or `undefined`. */
export function parseJson(text: string): JsonValue | undefined {
  if (text.length > MAX_PARSED || !/^\s{0,100}[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // Not JSON: an ordinary result, told by `undefined`.
    return undefined;
  }
}
