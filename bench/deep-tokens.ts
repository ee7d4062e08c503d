import { existsSync } from 'node:fs';
import path from 'node:path';
import { DEFAULT_OPTIONS, type DiagnosisOptions } from '../core/diagnosis/options.ts';
import { limitsOf, UNNAMED_MODEL } from '../core/model/capabilities.ts';
import { makeTokenCounter } from '../core/planning/tokens/make-token-counter.ts';
import { diagnose } from '../core/stages/pipeline.ts';
import { loadAgentRx } from './datasets/agentrx.ts';
import type { LabelledRun } from './datasets/labelled-run.ts';
import { type RecordedPrompt, recordingModel } from './deep/recording-model.ts';

const DEFAULT_ROOT = path.resolve(import.meta.dirname, '..', '..', 'shared', 'bench', 'dev');

/** Mean input tokens a run of the framework's public code, as counted for domain/agentrx.md. */
const REFERENCE = {
  tau: { judge: 10_000, oneShot: 20_000, stepByStep: 625_000 },
  magentic: { judge: 21_000, oneShot: 30_000, stepByStep: 1_360_000 },
} as const;

const VARIANTS = [
  { name: 'judge alone (standard)', options: {} },
  { name: 'deep, one-shot', options: { depth: 'deep', synthesis: 'one-shot' } },
  { name: 'deep, step by step', options: { depth: 'deep', synthesis: 'step-by-step' } },
] as const satisfies readonly { name: string; options: Partial<DiagnosisOptions> }[];

/**
 * `npm run bench -- deep-tokens [folder]`: input tokens a run and stage at each depth, over the prompts that the
 * pipeline really builds (o200k tokens, answer schema included). No model is asked: a stub answers. Exit code 1 when a
 * bound is broken.
 */
export async function benchDeepTokens(args: readonly string[]): Promise<number> {
  const root = args[0] ?? DEFAULT_ROOT;
  if (!existsSync(root)) {
    console.error(`no benchmark data at ${root}; give the folder as an argument`);
    return 2;
  }
  const runs = loadAgentRx(root).filter((run) => run.gold !== null);
  let withinBounds = true;
  for (const group of ['tau', 'magentic'] as const) {
    const of = runs.filter((run) => run.group === group);
    withinBounds = (await printGroup(group, of)) && withinBounds;
  }
  return withinBounds ? 0 : 1;
}

async function printGroup(group: keyof typeof REFERENCE, runs: readonly LabelledRun[]): Promise<boolean> {
  console.log(`\n${group}: ${runs.length} failed runs, mean input tokens a run`);
  const totals = new Map<string, number>();
  for (const { name, options } of VARIANTS) {
    const prompts = await promptsOf(runs, options);
    const paid = prompts.filter(({ repeated }) => !repeated);
    console.log(`  ${name}`);
    for (const [purpose, of] of Map.groupBy(prompts, (prompt) => prompt.purpose))
      printStage(purpose, of, runs.length);
    // Detection is the same at both depths and is no part of the reference's figures.
    const judged = paid.filter(({ purpose }) => purpose !== 'analyze-chunks');
    const mean = sum(judged) / runs.length;
    totals.set(name, mean);
    console.log(`    without detection ${format(mean)}, with it ${format(sum(paid) / runs.length)}`);
  }
  const [judge = 0, oneShot = 0, stepByStep = 0] = VARIANTS.map(({ name }) => totals.get(name));
  const reference = REFERENCE[group];
  const share = (stepByStep / reference.stepByStep) * 100;
  console.log(
    `  one-shot is ${(oneShot / judge).toFixed(2)} times the judge alone (at most 2.5; reference ${(reference.oneShot / reference.judge).toFixed(2)})`,
  );
  console.log(
    `  step by step is ${share.toFixed(1)} % of the reference's ${format(reference.stepByStep)} (at most 10 %)`,
  );
  return oneShot <= 2.5 * judge && share <= 10;
}

async function promptsOf(
  runs: readonly LabelledRun[],
  options: Partial<DiagnosisOptions>,
): Promise<readonly RecordedPrompt[]> {
  const counter = makeTokenCounter();
  const { model, take } = recordingModel(counter, limitsOf(UNNAMED_MODEL));
  const deps = { model, counter, clock: { now: () => 0 } };
  for (const { session } of runs) {
    await diagnose(session, { ...DEFAULT_OPTIONS, assumeFailed: true, ...options }, deps);
  }
  return take();
}

function printStage(purpose: string, prompts: readonly RecordedPrompt[], runs: number): void {
  const paid = prompts.filter(({ repeated }) => !repeated);
  const repeated = prompts.length - paid.length;
  const cacheable = paid.reduce((total, prompt) => total + prompt.cacheable, 0);
  const share = sum(paid) === 0 ? 0 : Math.round((cacheable / sum(paid)) * 100);
  console.log(
    `    ${purpose.padEnd(20)} ${format(sum(paid) / runs).padStart(8)}   ${(paid.length / runs).toFixed(2)} calls a run, ${share} % served by a prefix cache` +
      (repeated === 0 ? '' : `, ${repeated} more answered by the response cache`),
  );
}

const sum = (prompts: readonly RecordedPrompt[]): number =>
  prompts.reduce((total, { tokens }) => total + tokens, 0);
const format = (tokens: number): string => Math.round(tokens).toLocaleString('en');
