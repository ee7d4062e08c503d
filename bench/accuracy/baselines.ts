import type { Step } from '../../core/trajectory/trajectory.ts';
import { CRITICAL_CATEGORIES } from '../../core/vocabulary/critical-categories.ts';
import type { Gold } from '../datasets/labelled-run.ts';
import { type Case, evaluate, type Metrics, sameAgent, TOLERANCES } from './metrics.ts';
import type { PredictedStep } from './predictor.ts';
import { type Rate, rateOf } from './wilson.ts';

/** A failed run with what trivial predictors look at. */
export interface BaselineRun {
  readonly gold: Gold;
  readonly steps: readonly Pick<Step, 'position' | 'agent' | 'kind'>[];
}

/** What a predictor that looks at nothing scores. Beside every figure, because constants beat much published work. */
export interface Baseline {
  readonly name: string;
  readonly exact: Rate;
  readonly within: Metrics['within'];
  readonly meanDistance: number;
  readonly categoryCritical: Rate;
  readonly agent: Rate;
}

/** Uniform random, first and last agent step, and the best constant step, which is chosen on these very runs. */
export function baselines(runs: readonly BaselineRun[]): Baseline[] {
  if (runs.length === 0) return [];
  return [
    uniformRandom(runs),
    fixed('first agent step', runs, (run) => agentSteps(run).at(0)),
    fixed('last agent step', runs, (run) => agentSteps(run).at(-1)),
    bestConstant(runs),
  ];
}

/** Steps at which an agent acts: model calls, in any multi-agent or plain log. */
export function agentSteps(run: BaselineRun): BaselineRun['steps'] {
  const acting = run.steps.filter((step) => step.kind === 'inference');
  return acting.length > 0 ? acting : run.steps;
}

/** Exact expectation of a uniform choice among the steps of the run and the ten categories; no sampling. */
export function uniformRandom(runs: readonly BaselineRun[]): Baseline {
  let distance = 0;
  let agent = 0;
  const hits = TOLERANCES.map(() => 0);
  for (const { gold, steps } of runs) {
    const g = gold.critical.position;
    for (const step of steps) {
      const d = Math.abs(step.position - g);
      distance += d / steps.length;
      TOLERANCES.forEach((k, index) => {
        if (d <= k) hits[index] = (hits[index] ?? 0) + 1 / steps.length;
      });
      if (sameAgent(step.agent, gold.critical.agent)) agent += 1 / steps.length;
    }
  }
  const within = TOLERANCES.map((k, index) => ({ k, rate: rateOf(hits[index] ?? 0, runs.length) }));
  const labelled = runs.filter((run) => run.gold.critical.category !== null).length;
  return {
    name: 'uniform random',
    exact: within[0]?.rate ?? rateOf(0, runs.length),
    within,
    meanDistance: distance / runs.length,
    categoryCritical: rateOf(labelled / CRITICAL_CATEGORIES.length, labelled),
    agent: rateOf(agent, runs.filter((run) => run.gold.critical.agent !== null).length),
  };
}

/** The most frequent label among the runs; ties go to the alphabetically first. */
function mostFrequent<T extends string>(values: readonly (T | null)[]): T | null {
  const counts = new Map<T, number>();
  for (const value of values) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))[0]?.[0] ?? null;
}

function fixed(
  name: string,
  runs: readonly BaselineRun[],
  pick: (run: BaselineRun) => Pick<Step, 'position' | 'agent'> | undefined,
): Baseline {
  const category = mostFrequent(runs.map((run) => run.gold.critical.category)) ?? 'inconclusive';
  const cases = runs.map((run): Case => {
    const step = pick(run);
    const critical: PredictedStep | null =
      step === undefined ? null : { position: step.position, agent: step.agent, category, confidence: 1 };
    return { gold: run.gold, prediction: { critical, alternatives: [] }, lastPosition: lastPosition(run) };
  });
  const metrics = evaluate(cases);
  return {
    name,
    exact: metrics.within[0]?.rate ?? rateOf(0, runs.length),
    within: metrics.within,
    meanDistance: metrics.meanDistance,
    categoryCritical: metrics.category.critical,
    agent: metrics.agent,
  };
}

export function lastPosition(run: BaselineRun): number {
  return run.steps.reduce((last, step) => Math.max(last, step.position), 0);
}

function bestConstant(runs: readonly BaselineRun[]): Baseline {
  const counts = new Map<number, number>();
  for (const { gold } of runs) {
    counts.set(gold.critical.position, (counts.get(gold.critical.position) ?? 0) + 1);
  }
  const [best] = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0] ?? [0];
  return fixed(`best constant (step ${best})`, runs, (run) =>
    run.steps.find((step) => step.position === best),
  );
}
