import { canonicalJson } from '../base/hash.ts';
import type { JsonValue } from '../base/json.ts';
import { type ErrorSpot, findError, findPlainError, isUserRefusal } from './error-signals.ts';
import type { ToolExchange, Trajectory } from './trajectory.ts';

/** A tool call whose result says that it failed. */
export interface FailedExchange {
  readonly exchange: ToolExchange;
  readonly result: string;
  readonly spot: ErrorSpot;
}

/** Whether the result of a call is an error, by the producer's word or else by its own. */
export function failureOf(exchange: ToolExchange): FailedExchange | null {
  const { result, isError } = exchange;
  if (result === null || isUserRefusal(result)) return null;
  const spot =
    isError === false
      ? // Frameworks mark a call a success when the tool returned at all, whatever it returned.
        findPlainError(result)
      : (findError(result) ?? (isError === true ? { start: 0, end: 0 } : null));
  return spot === null ? null : { exchange, result, spot };
}

export interface Recovery {
  recovered(exchange: ToolExchange): boolean | null;
}

/**
 * Whether the session got past a failed call.
 * - true: a later call of the same tool, or of a tool of the same family, succeeded;
 * - false: every later call of the tool failed too, or no call at all came after;
 * - null: work went on with other tools, and whether that reached the goal is not ours to say.
 *
 * Calls that one answer asked for run beside each other: none of them is before or after another.
 */
export function recoveryOf(trajectory: Trajectory): Recovery {
  const known = cache.get(trajectory);
  if (known !== undefined) return known;
  const lastGood = new Map<string, number>();
  const lastGoodOfFamily = new Map<string, number>();
  const lastTry = new Map<string, number>();
  let last = -1;
  // Exchanges stand in the order of the steps that asked.
  for (const exchange of trajectory.exchanges) {
    last = exchange.callStep;
    lastTry.set(exchange.name, last);
    if (exchange.result === null || failureOf(exchange) !== null) continue;
    lastGood.set(exchange.name, last);
    for (const family of familiesOf(exchange.name)) lastGoodOfFamily.set(family, last);
  }
  const recovery: Recovery = {
    recovered(exchange) {
      const place = exchange.callStep;
      if ((lastGood.get(exchange.name) ?? -1) > place) return true;
      if (familiesOf(exchange.name).some((family) => (lastGoodOfFamily.get(family) ?? -1) > place))
        return true;
      if ((lastTry.get(exchange.name) ?? -1) > place) return false;
      return place === last ? false : null;
    },
  };
  cache.set(trajectory, recovery);
  return recovery;
}

const cache = new WeakMap<Trajectory, Recovery>();

/** `find_user_by_email` and `find_user_by_phone` are two ways to one thing: the first two words of the name. */
function familiesOf(name: string): readonly string[] {
  const words = name
    .slice(0, 200)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  return words.length >= 3 ? [`${words[0]}_${words[1]}`] : [];
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
