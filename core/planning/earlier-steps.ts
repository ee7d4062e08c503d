import type { StepRenderer } from '../prompting/render-steps.ts';
import { renderName } from '../prompting/render-text.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';

const CALLS_NAMED = 8;
const NAME_LENGTH = 40;
const ERRORS_NAMED = 10;

/**
 * One line on the steps before any step: how many of which kind, calls by tool, where errors were. A planner asks at
 * several steps for each chunk, so where things stand is laid out once and then counted by search.
 */
export function summariseBefore(
  trajectory: Trajectory,
): (firstStep: number, renderer: StepRenderer) => string {
  const kinds = new Positions();
  const calls = new Positions();
  const errors: number[] = [];
  for (const { index, kind, span } of trajectory.steps) {
    kinds.add(kind, index);
    const isError =
      span.errors.length > 0 ||
      span.status === 'error' ||
      (span.kind === 'execute_tool' && span.toolResult?.isError === true);
    if (isError) errors.push(index);
  }
  for (const { name, callStep } of trajectory.exchanges) calls.add(name, callStep);

  return (firstStep, { aliases }) => {
    const called = calls
      .before(firstStep)
      .map(([name, n]) => `${renderName(name.slice(0, NAME_LENGTH).toWellFormed())} ×${n}`);
    const failed = errors.slice(0, countBelow(errors, firstStep));
    const ofKind = kinds.before(firstStep).map(([kind, n]) => `${n} ${kind}`);
    return [
      `${aliases.of(0)} to ${aliases.of(firstStep - 1)} are in earlier chunks (${ofKind.join(', ')})`,
      ...(called.length > 0 ? [`calls: ${list(called, CALLS_NAMED, (call) => call)}`] : []),
      ...(failed.length > 0 ? [`errors at ${list(failed, ERRORS_NAMED, (step) => aliases.of(step))}`] : []),
    ].join('; ');
  };
}

function list<T>(items: readonly T[], most: number, write: (item: T) => string): string {
  const named = items.slice(0, most).map(write).join(', ');
  return items.length > most ? `${named} and ${items.length - most} more` : named;
}

/** At which steps each name stands. */
class Positions {
  readonly #of = new Map<string, number[]>();
  #inOrder = true;

  add(name: string, step: number): void {
    const known = this.#of.get(name);
    if (known === undefined) {
      this.#of.set(name, [step]);
      return;
    }
    this.#inOrder &&= step >= (known.at(-1) ?? step);
    known.push(step);
  }

  /** Names with their counts before the step, most frequent first, then in order of appearance. */
  before(step: number): [string, number][] {
    if (!this.#inOrder) {
      for (const steps of this.#of.values()) steps.sort((a, b) => a - b);
      this.#inOrder = true;
    }
    return [...this.#of]
      .map(([name, steps]): [string, number] => [name, countBelow(steps, step)])
      .filter(([, count]) => count > 0)
      .sort((a, b) => b[1] - a[1]);
  }
}

/** How many of the ascending numbers are below the limit. */
function countBelow(ascending: readonly number[], limit: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? limit) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
