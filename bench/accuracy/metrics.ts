import type { CriticalCategory } from '../../core/vocabulary/critical-categories.ts';
import type { Gold } from '../datasets/labelled-run.ts';
import type { PredictedStep, Prediction } from './predictor.ts';
import { type Rate, rateOf } from './wilson.ts';

export const TOLERANCES = [0, 1, 3, 5] as const;

/** One failed run as the metrics see it. */
export interface Case {
  readonly gold: Gold;
  readonly prediction: Pick<Prediction, 'critical' | 'alternatives'> | null;
  /** Highest step position of the run. */
  readonly lastPosition: number;
}

/** Definitions of the AgentRx paper and code, except that a run without a prediction is wrong, never left out. */
export interface Metrics {
  readonly runs: number;
  /** Runs for which a critical step was named. */
  readonly answered: number;
  /** Share with |p − g| ≤ k, for k of TOLERANCES; k = 0 is step accuracy. */
  readonly within: readonly { readonly k: number; readonly rate: Rate }[];
  /** The gold step is the predicted one or among the alternatives (three in all). */
  readonly topThree: Rate;
  /** Mean |p − g| in steps; a run without a prediction counts with the farthest step of the run. */
  readonly meanDistance: number;
  readonly category: {
    /** Predicted category is the root failure's; n counts the runs that have a category label. */
    readonly critical: Rate;
    /** … is among those of all marked failures. */
    readonly any: Rate;
    /** … is the first marked failure's. */
    readonly earliest: Rate;
    /** … is the last marked failure's. */
    readonly terminal: Rate;
  };
  /** Predicted agent is the labelled one, without regard to case; n counts the runs that name an agent. */
  readonly agent: Rate;
  readonly perCategory: readonly CategoryScore[];
}

export interface CategoryScore {
  readonly category: CriticalCategory;
  readonly gold: number;
  readonly predicted: number;
  readonly hits: number;
  /** hits / predicted; `null` when never predicted. */
  readonly precision: number | null;
  /** hits / gold; `null` when no run has it. */
  readonly recall: number | null;
}

export function evaluate(cases: readonly Case[]): Metrics {
  const n = cases.length;
  const critical = (entry: Case): PredictedStep | null => entry.prediction?.critical ?? null;
  const count = (test: (entry: Case) => boolean): number => cases.filter(test).length;

  const labelled = cases.filter((entry) => entry.gold.critical.category !== null);
  const categoryRate = (accepts: (gold: Gold) => readonly (CriticalCategory | null | undefined)[]): Rate => {
    const hits = labelled.filter((entry) => {
      const predicted = critical(entry)?.category;
      return predicted !== undefined && accepts(entry.gold).includes(predicted);
    });
    return rateOf(hits.length, labelled.length);
  };

  const named = cases.filter((entry) => entry.gold.critical.agent !== null);
  return {
    runs: n,
    answered: count((entry) => critical(entry) !== null),
    within: TOLERANCES.map((k) => ({
      k,
      rate: rateOf(
        count((entry) => distance(entry) <= k),
        n,
      ),
    })),
    topThree: rateOf(
      count((entry) => {
        const candidates = [critical(entry), ...(entry.prediction?.alternatives ?? [])].slice(0, 3);
        return candidates.some((candidate) => candidate?.position === entry.gold.critical.position);
      }),
      n,
    ),
    meanDistance: n === 0 ? 0 : cases.reduce((sum, entry) => sum + countedDistance(entry), 0) / n,
    category: {
      critical: categoryRate((gold) => [gold.critical.category]),
      any: categoryRate((gold) => gold.failures.map((failure) => failure.category)),
      earliest: categoryRate((gold) => [gold.failures.at(0)?.category]),
      terminal: categoryRate((gold) => [gold.failures.at(-1)?.category]),
    },
    agent: rateOf(
      named.filter((entry) => sameAgent(critical(entry)?.agent, entry.gold.critical.agent)).length,
      named.length,
    ),
    perCategory: perCategory(labelled),
  };
}

/** |p − g|, infinite without a prediction. Steps are compared as numbers, never as text. */
function distance({ prediction, gold }: Case): number {
  const position = prediction?.critical?.position;
  return position === undefined ? Number.POSITIVE_INFINITY : Math.abs(position - gold.critical.position);
}

function countedDistance(entry: Case): number {
  const g = entry.gold.critical.position;
  const d = distance(entry);
  return Number.isFinite(d) ? d : Math.max(g, Math.abs(entry.lastPosition - g));
}

/** Publishers write "WebSurfer" and "Websurfer". */
export function sameAgent(a: string | null | undefined, b: string | null): boolean {
  return typeof a === 'string' && b !== null && a.toLowerCase() === b.toLowerCase();
}

function perCategory(cases: readonly Case[]): CategoryScore[] {
  const scores = new Map<CriticalCategory, { gold: number; predicted: number; hits: number }>();
  const score = (category: CriticalCategory) => {
    const found = scores.get(category) ?? { gold: 0, predicted: 0, hits: 0 };
    scores.set(category, found);
    return found;
  };
  for (const { gold, prediction } of cases) {
    const expected = gold.critical.category;
    const predicted = prediction?.critical?.category;
    if (expected !== null) score(expected).gold += 1;
    if (predicted !== undefined) score(predicted).predicted += 1;
    if (predicted !== undefined && predicted === expected) score(predicted).hits += 1;
  }
  return [...scores]
    .map(([category, { gold, predicted, hits }]) => ({
      category,
      gold,
      predicted,
      hits,
      precision: predicted === 0 ? null : hits / predicted,
      recall: gold === 0 ? null : hits / gold,
    }))
    .sort((a, b) => b.gold - a.gold || a.category.localeCompare(b.category));
}

/** Share of healthy runs given a critical failure at medium confidence (0.75) or above. */
export function falseAlarms(predictions: readonly (Pick<Prediction, 'critical'> | null)[]): Rate {
  const alarms = predictions.filter((prediction) => (prediction?.critical?.confidence ?? 0) >= 0.75);
  return rateOf(alarms.length, predictions.length);
}

/** How far repeated runs of the same session agree: the mean over sessions of the share of equal pairs. */
export interface Agreement {
  readonly repeats: number;
  readonly step: number;
  readonly category: number;
}

/** One list of repeats a session; `null` for a single run. No answer twice counts as agreement. */
export function agreement(repeats: readonly (readonly (PredictedStep | null)[])[]): Agreement | null {
  const several = repeats.filter((list) => list.length > 1);
  if (several.length === 0) return null;
  const share = (key: 'position' | 'category'): number => {
    const perSession = several.map((list) => {
      let equal = 0;
      let pairs = 0;
      for (const [i, a] of list.entries()) {
        for (const b of list.slice(i + 1)) {
          pairs += 1;
          if (a?.[key] === b?.[key]) equal += 1;
        }
      }
      return equal / pairs;
    });
    return perSession.reduce((sum, value) => sum + value, 0) / perSession.length;
  };
  return {
    repeats: Math.max(...several.map((list) => list.length)),
    step: share('position'),
    category: share('category'),
  };
}
