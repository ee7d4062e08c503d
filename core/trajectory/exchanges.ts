import { canonicalJson } from '../base/hash.ts';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import { errorClassRow } from '../vocabulary/error-classes.ts';
import { mannerOf, nameWords } from '../vocabulary/tool-verbs.ts';
import type { Classified } from './classify-error.ts';
import type { ErrorSpot } from './error-signals.ts';
import { toolOutcome } from './tool-outcome.ts';
import type { ToolExchange, Trajectory } from './trajectory.ts';

/** A tool call whose result says that it was not carried out. */
export interface FailedExchange extends Classified {
  readonly exchange: ToolExchange;
  readonly result: string;
  readonly spot: ErrorSpot;
}

/** The failure of a call by its result: an error, or a refusal by a rule of the business; `null` for neither. */
export function failureOf(exchange: ToolExchange): FailedExchange | null {
  const outcome = toolOutcome(exchange);
  if (outcome.state !== 'failed' || exchange.result === null) return null;
  const { spot, class: kind, certain } = outcome;
  return { exchange, result: exchange.result, spot, class: kind, certain };
}

/** What became of a failed call. */
export type Recovery =
  /** `by` did what it was to do. */
  | { readonly recovered: true; readonly by: ToolExchange }
  /** It was tried again in vain, or nothing at all succeeded after it. */
  | { readonly recovered: false }
  /** Work went on in other ways, and whether they reached the goal is not ours to say. */
  | { readonly recovered: null };

/**
 * Whether the session got past a failed call.
 * - yes: a later call with the same goal succeeded. The same goal is the same deed on the same sort of thing
 *   (`find_user_by_email` and `lookup_user`), and, where nothing was wrong with the call, with the same values: the
 *   order of one customer is not placed by placing that of another;
 * - no: no call at all succeeded after it;
 * - unknown: everything else.
 *
 * Calls that one answer asked for run beside each other: none of them is before or after another.
 */
export function recoveryOf(trajectory: Trajectory): (exchange: ToolExchange) => Recovery {
  const known = cache.get(trajectory);
  if (known !== undefined) return known;
  const good = new Map<string, { readonly place: number; readonly exchange: ToolExchange }[]>();
  let lastGood = -1;
  // Exchanges stand in the order of the steps that asked.
  for (const exchange of trajectory.exchanges) {
    const place = exchange.callStep;
    const { state } = toolOutcome(exchange);
    if (state === 'unanswered' || state === 'failed' || state === 'interrupted') continue;
    lastGood = place;
    const key = goalOf(exchange.name);
    const list = good.get(key);
    if (list === undefined) good.set(key, [{ place, exchange }]);
    else list.push({ place, exchange });
  }
  const recovery = (exchange: ToolExchange): Recovery => {
    const place = exchange.callStep;
    const kind = failureOf(exchange)?.class ?? null;
    const anyValues = kind === null || errorClassRow(kind).blame !== 'outside';
    const wanted = callKey(exchange);
    const list = good.get(goalOf(exchange.name)) ?? [];
    const from = firstAfter(list, place);
    const later = list.slice(from, from + LOOK_AHEAD);
    const by = later.find(
      ({ exchange: other }) => anyValues || callKey(other) === wanted || sameValues(exchange, other),
    );
    if (by !== undefined) return { recovered: true, by: by.exchange };
    return { recovered: lastGood > place ? null : false };
  };
  cache.set(trajectory, recovery);
  return recovery;
}

/** Index of the first entry behind the place, by bisection. */
function firstAfter(list: readonly { readonly place: number }[], place: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle]?.place ?? 0) > place) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Later successes looked at for a recovery; bounds the work on sessions of very many calls. */
const LOOK_AHEAD = 50;

const cache = new WeakMap<Trajectory, (exchange: ToolExchange) => Recovery>();

/** Two calls on the same thing: of the values that name one (ids, dates, names), none differs. */
function sameValues(a: ToolExchange, b: ToolExchange): boolean {
  if (!isJsonObject(a.arguments) || !isJsonObject(b.arguments)) return true;
  for (const [key, value] of Object.entries(a.arguments)) {
    const other = b.arguments[key];
    if (typeof value !== 'string' || typeof other !== 'string' || !NAMES_A_THING.test(key)) continue;
    if (value !== other) return false;
  }
  return true;
}

const NAMES_A_THING =
  /(?:^|_|-)(?:id|uuid|key|name|number|no|ref|code|account|user|email|path|url|file)$|[a-z](?:Id|Name|Number|Ref|Key|Path|Url)$/;

/** Manner and object of a tool's name: `get_order`, `lookup_orders_by_email` and `fetchOrder` have one goal. */
function goalOf(name: string): string {
  const words = nameWords(name);
  const by = words.findIndex(
    (word, at) => at > 1 && ['by', 'with', 'via', 'from', 'for', 'using', 'v2', 'v3', 'retry'].includes(word),
  );
  const kept = by < 0 ? words : words.slice(0, by);
  const [verb = '', ...object] = kept;
  const manner = mannerOf(name);
  return object.length === 0
    ? verb
    : `${manner === 'reads' ? 'read' : verb} ${object.map((word) => word.replace(/(?<=[a-z]{3})s$/, '')).join(' ')}`;
}

/** One text per call: name and arguments, in canonical order. */
export function callKey(exchange: ToolExchange): string {
  return `${exchange.name}\u0000${argumentText(exchange.arguments)}`;
}

function argumentText(value: JsonValue): string {
  return canonicalJson(value);
}

/** Arguments as text for quoting: the producer's own where kept. */
export function argumentsAsText(exchange: ToolExchange): string {
  return exchange.argumentsRaw ?? JSON.stringify(exchange.arguments);
}
