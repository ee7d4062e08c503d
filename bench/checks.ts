import { existsSync } from 'node:fs';
import path from 'node:path';
import type { CheckReport } from '../core/checks/check.ts';
import { CHECKS, runChecks } from '../core/checks/registry.ts';
import type { CriticalStep } from '../core/diagnosis/schema.ts';
import { judgeWithoutModel } from '../core/judge/model-free.ts';
import { DATA_SETS, type LabelledRun, readLabelledRuns } from './checks-runs.ts';

const DEFAULT_ROOT = path.resolve(import.meta.dirname, '..', '..', 'shared', 'bench', 'dev');
/** From this confidence on, a critical step on a healthy run counts as a false alarm (medium). */
const MEDIUM = 0.75;

interface Measured {
  readonly run: LabelledRun;
  readonly reports: readonly CheckReport[];
  readonly assumed: CriticalStep | null;
  readonly unassumed: CriticalStep | null;
}

/** `node bench/main.ts checks [folder]`: what the model-free checks and the judge over them are worth. */
export function benchChecks(args: readonly string[]): number {
  const root = args[0] ?? DEFAULT_ROOT;
  if (!existsSync(root)) {
    console.error(`no benchmark data at ${root}; give the folder as an argument`);
    return 2;
  }
  const measured = readLabelledRuns(root).map((run): Measured => {
    const reports = runChecks(run.trajectory);
    return {
      run,
      reports,
      assumed: judgeWithoutModel(run.trajectory, reports, { assumeFailed: true }),
      unassumed: judgeWithoutModel(run.trajectory, reports, { assumeFailed: false }),
    };
  });
  printChecks(measured);
  printJudge(measured);
  printAlarms(measured);
  return 0;
}

/** Per check and data set: runs with a finding / runs, of which at the gold step; and blind runs. */
function printChecks(measured: readonly Measured[]): void {
  console.log('Checks: runs with a finding / runs (with weight "failure", at the gold step, blind)\n');
  console.log(`${'check'.padEnd(28)}${DATA_SETS.map((name) => name.padStart(26)).join('')}`);
  for (const { id } of CHECKS) {
    const cells = DATA_SETS.map((dataSet) => {
      const rows = measured.filter(({ run }) => run.dataSet === dataSet);
      let fired = 0;
      let failures = 0;
      let hits = 0;
      let blind = 0;
      for (const { run, reports } of rows) {
        const report = reports.find((one) => one.checkId === id);
        if (report === undefined || report.state === 'blind') blind += 1;
        if (report === undefined || report.findings.length === 0) continue;
        fired += 1;
        if (report.findings.some((finding) => finding.weight === 'failure')) failures += 1;
        if (report.findings.some((finding) => positionOf(run, finding.spanId) === run.goldPosition))
          hits += 1;
      }
      return `${fired}/${rows.length} (${failures}, ${hits}, ${blind})`.padStart(26);
    });
    console.log(`${id.padEnd(28)}${cells.join('')}`);
  }
}

/** Exact step of the model-free judge when the session is known to have failed, beside the constants. */
function printJudge(measured: readonly Measured[]): void {
  console.log('\nJudge without a model, sessions known to have failed: exact step\n');
  for (const dataSet of DATA_SETS) {
    const rows = measured.filter(({ run }) => run.dataSet === dataSet && !run.healthy);
    if (rows.length === 0) continue;
    const hits = rows.filter(({ run, assumed }) => assumed?.position === run.goldPosition).length;
    const firstFour = rows.filter(({ run, assumed }) =>
      [assumed, ...(assumed?.alternatives ?? [])].some((one) => one?.position === run.goldPosition),
    ).length;
    const agents = rows.filter(({ run, assumed }) => sameAgent(assumed?.agent ?? null, run.goldAgent)).length;
    // tau names no agents.
    const named = rows.some(({ run }) => run.trajectory.steps.some((step) => step.agent !== null));
    const constant = bestConstant(rows);
    console.log(
      `${dataSet.padEnd(22)} ${share(hits, rows.length)}  among four ${share(firstFour, rows.length)}  ` +
        `agent ${named ? share(agents, rows.length) : '–'}  best constant (${constant.position}) ${share(constant.hits, rows.length)}`,
    );
    for (const parity of [0, 1]) {
      const half = rows.filter((_, index) => index % 2 === parity);
      const halfHits = half.filter(({ run, assumed }) => assumed?.position === run.goldPosition).length;
      const halfConstant = bestConstant(half);
      console.log(
        `${`  ${parity === 0 ? 'even' : 'odd'} runs`.padEnd(22)} ${share(halfHits, half.length)}  ` +
          `best constant of it ${share(halfConstant.hits, half.length)}`,
      );
    }
    const byReason = new Map<string, [number, number]>();
    for (const { run, assumed } of rows) {
      const tally = byReason.get(assumed?.reason ?? 'no step named') ?? [0, 0];
      tally[1] += 1;
      if (assumed?.position === run.goldPosition) tally[0] += 1;
      byReason.set(assumed?.reason ?? 'no step named', tally);
    }
    for (const [reason, [right, all]] of byReason) console.log(`    ${right}/${all} ${reason}`);
  }
}

function printAlarms(measured: readonly Measured[]): void {
  const healthy = measured.filter(({ run }) => run.healthy);
  const alarms = healthy.filter(({ unassumed }) => (unassumed?.confidence ?? 0) >= MEDIUM);
  const failed = measured.filter(({ run }) => !run.healthy);
  const named = failed.filter(({ unassumed }) => unassumed !== null);
  const right = named.filter(({ run, unassumed }) => unassumed?.position === run.goldPosition);
  console.log('\nWithout that knowledge');
  console.log(
    `  false alarms on healthy runs (confidence >= ${MEDIUM}): ${share(alarms.length, healthy.length)}`,
  );
  console.log(`  failed runs where a step is named: ${share(named.length, failed.length)}`);
  console.log(`  of these at the gold step: ${share(right.length, named.length)}`);
}

function positionOf(run: LabelledRun, spanId: string): number | undefined {
  return run.trajectory.stepBySpan.get(spanId)?.position;
}

function sameAgent(named: string | null, gold: string | null): boolean {
  return named !== null && gold !== null && named.toLowerCase() === gold.toLowerCase();
}

function bestConstant(rows: readonly Measured[]): { position: number; hits: number } {
  const tally = new Map<number, number>();
  for (const { run } of rows) {
    if (run.goldPosition !== null) tally.set(run.goldPosition, (tally.get(run.goldPosition) ?? 0) + 1);
  }
  let best = { position: 0, hits: 0 };
  for (const [position, hits] of tally) if (hits > best.hits) best = { position, hits };
  return best;
}

function share(part: number, whole: number): string {
  return whole === 0 ? '0/0' : `${part}/${whole} (${((100 * part) / whole).toFixed(1)} %)`;
}
