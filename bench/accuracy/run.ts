import { forEachConcurrently } from '../../core/base/for-each-concurrently.ts';
import { ModelPendingError } from '../../core/errors/errors.ts';
import { addUsage, NO_USAGE, type Usage } from '../../core/model/port.ts';
import { toTrajectory } from '../../core/trajectory/to-trajectory.ts';
import { GROUPS, type Group, type LabelledRun } from '../datasets/labelled-run.ts';
import { actingAgent } from './acting-agent.ts';
import { type Baseline, type BaselineRun, baselines, lastPosition } from './baselines.ts';
import { type Agreement, agreement, type Case, evaluate, falseAlarms, type Metrics } from './metrics.ts';
import type { PredictedStep, Prediction, Predictor } from './predictor.ts';
import type { Rate } from './wilson.ts';

export interface RunSettings {
  /** How often each session is diagnosed; more than once measures agreement. Metrics use the first. */
  readonly repeats: number;
  /** Sessions at once. */
  readonly concurrency: number;
  /** Results of an earlier, interrupted run, by `resultKey`; not asked for again. */
  readonly done?: ReadonlyMap<string, Prediction>;
  readonly onResult?: (key: string, prediction: Prediction) => void;
}

export const resultKey = (runId: string, repeat: number): string => `${runId}#${repeat}`;

export interface GroupResult {
  readonly group: Group;
  readonly failedRuns: number;
  readonly healthyRuns: number;
  /** `null` without failed runs. */
  readonly metrics: Metrics | null;
  readonly baselines: readonly Baseline[];
  /** `null` without healthy runs. */
  readonly falseAlarms: Rate | null;
  readonly agreement: Agreement | null;
  readonly usage: Usage;
  readonly usageByStage: Readonly<Record<string, Usage>>;
  readonly runs: readonly RunRow[];
}

/** One run, for the JSON: what was expected and what was said. */
export interface RunRow {
  readonly id: string;
  readonly healthy: boolean;
  readonly gold: {
    readonly position: number;
    readonly category: string | null;
    readonly agent: string | null;
  } | null;
  readonly predictions: readonly {
    readonly critical: PredictedStep | null;
    readonly alternatives: readonly PredictedStep[];
    readonly outcome: string;
  }[];
}

export type AccuracyResult =
  | { readonly state: 'done'; readonly groups: readonly GroupResult[] }
  /** A batch model has unanswered requests; run again when they are answered. */
  | { readonly state: 'waiting'; readonly waitingRuns: number; readonly requestHashes: readonly string[] };

/**
 * Asks the predictor about every run, all independent ones side by side, and scores the answers. A run that waits
 * for batch answers does not stop the others, so that one exchange carries the round of every session.
 */
export async function measure(
  runs: readonly LabelledRun[],
  predictor: (run: LabelledRun) => Predictor,
  settings: RunSettings,
): Promise<AccuracyResult> {
  const results = new Map<string, Prediction>(settings.done);
  const pending = new Set<string>();
  const waiting = new Set<string>();
  const jobs = runs.flatMap((run) =>
    Array.from({ length: settings.repeats }, (_, repeat) => ({ run, repeat })).filter(
      ({ repeat }) => !results.has(resultKey(run.id, repeat)),
    ),
  );
  await forEachConcurrently(jobs, settings.concurrency, async ({ run, repeat }) => {
    const key = resultKey(run.id, repeat);
    try {
      const prediction = await predictor(run).predict(run.session, { failed: run.gold !== null, repeat });
      results.set(key, prediction);
      settings.onResult?.(key, prediction);
    } catch (error) {
      if (!(error instanceof ModelPendingError)) throw error;
      waiting.add(run.id);
      for (const hash of error.requestHashes) pending.add(hash);
    }
  });
  if (waiting.size > 0) {
    return { state: 'waiting', waitingRuns: waiting.size, requestHashes: [...pending] };
  }
  const groups = GROUPS.filter((group) => runs.some((run) => run.group === group));
  return {
    state: 'done',
    groups: groups.map((group) =>
      scoreGroup(
        group,
        runs.filter((run) => run.group === group),
        (run) =>
          Array.from(
            { length: settings.repeats },
            (_, repeat) => results.get(resultKey(run.id, repeat)) ?? null,
          ),
      ),
    ),
  };
}

function scoreGroup(
  group: Group,
  runs: readonly LabelledRun[],
  predictionsOf: (run: LabelledRun) => (Prediction | null)[],
): GroupResult {
  const cases: Case[] = [];
  const baselineRuns: BaselineRun[] = [];
  for (const run of runs) {
    if (run.gold === null) continue;
    const steps = toTrajectory(run.session).steps.map((step) => ({ ...step, agent: actingAgent(step) }));
    const agents = new Map(steps.map((step) => [step.position, step.agent]));
    const baselineRun = { gold: run.gold, steps };
    baselineRuns.push(baselineRun);
    cases.push({
      gold: run.gold,
      prediction: withAgents(predictionsOf(run)[0] ?? null, agents),
      lastPosition: lastPosition(baselineRun),
    });
  }
  const healthy = runs.filter((run) => run.gold === null);
  const all = runs.flatMap(predictionsOf).filter((prediction) => prediction !== null);
  const failed = runs.filter((run) => run.gold !== null);
  return {
    group,
    failedRuns: cases.length,
    healthyRuns: healthy.length,
    metrics: cases.length === 0 ? null : evaluate(cases),
    baselines: baselines(baselineRuns),
    falseAlarms:
      healthy.length === 0 ? null : falseAlarms(healthy.map((run) => predictionsOf(run)[0] ?? null)),
    agreement: agreement(
      failed.map((run) => predictionsOf(run).map((prediction) => prediction?.critical ?? null)),
    ),
    usage: all.reduce((sum, prediction) => addUsage(sum, prediction.usage), NO_USAGE),
    usageByStage: addStages(all.map((prediction) => prediction.usageByStage)),
    runs: runs.map((run) => ({
      id: run.id,
      healthy: run.gold === null,
      gold: run.gold === null ? null : run.gold.critical,
      predictions: predictionsOf(run).map((prediction) => ({
        critical: prediction?.critical ?? null,
        alternatives: prediction?.alternatives ?? [],
        outcome: prediction?.outcome ?? 'no prediction',
      })),
    })),
  };
}

/** A predictor that knows no agent at a step names the one who acts there. */
function withAgents(
  prediction: Prediction | null,
  agents: ReadonlyMap<number, string>,
): Pick<Prediction, 'critical' | 'alternatives'> | null {
  if (prediction === null) return null;
  const named = (step: PredictedStep): PredictedStep => ({
    ...step,
    agent: step.agent ?? agents.get(step.position) ?? null,
  });
  const { critical, alternatives } = prediction;
  return { critical: critical === null ? null : named(critical), alternatives: alternatives.map(named) };
}

function addStages(stages: readonly Readonly<Record<string, Usage>>[]): Record<string, Usage> {
  const sum = new Map<string, Usage>();
  for (const stage of stages) {
    for (const [name, usage] of Object.entries(stage))
      sum.set(name, addUsage(sum.get(name) ?? NO_USAGE, usage));
  }
  return Object.fromEntries([...sum].sort(([a], [b]) => a.localeCompare(b)));
}
