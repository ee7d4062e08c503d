import { existsSync } from 'node:fs';
import path from 'node:path';
import { CHECKS, runChecks } from '../core/checks/registry.ts';
import type { CheckReport } from '../core/diagnosis/check-report.ts';
import type { CriticalStep } from '../core/diagnosis/schema.ts';
import { judgeWithoutModel } from '../core/explanation/critical-step/by-rule.ts';
import { toTrajectory } from '../core/trajectory/to-trajectory.ts';
import type { Trajectory } from '../core/trajectory/trajectory.ts';
import { loadAgentRx } from './datasets/agentrx.ts';
import { GROUPS, type LabelledRun } from './datasets/labelled-run.ts';
import { loadWhoWhen } from './datasets/who-when.ts';

const DEFAULT_ROOT = path.resolve(import.meta.dirname, '..', '..', 'shared', 'bench', 'dev');
/** From this confidence on, a critical step on a healthy run counts as a false alarm (medium). */
const MEDIUM = 0.75;

interface Measured {
  /** Data set, healthy runs apart. */
  readonly column: string;
  readonly run: LabelledRun;
  readonly trajectory: Trajectory;
  readonly reports: readonly CheckReport[];
  readonly assumed: CriticalStep | null;
  readonly unassumed: CriticalStep | null;
}

/** `npm run bench -- checks [folder]`: what the model-free checks and the judge over them are worth, rule by rule. */
export function benchChecks(args: readonly string[]): number {
  const root = args[0] ?? DEFAULT_ROOT;
  if (!existsSync(root)) {
    console.error(`no benchmark data at ${root}; give the folder as an argument`);
    return 2;
  }
  const measured = [...loadAgentRx(root), ...loadWhoWhen(root)].map(measure);
  printChecks(measured);
  printJudge(measured);
  printAlarms(measured);
  return 0;
}

/** The labels in `run` are read by the tallies alone; checks and judge get the trajectory. */
function measure(run: LabelledRun): Measured {
  const trajectory = toTrajectory(run.session);
  const reports = runChecks(trajectory);
  return {
    column: run.gold === null ? `${run.group} healthy` : run.group,
    run,
    trajectory,
    reports,
    assumed: judgeWithoutModel(trajectory, reports),
    unassumed: judgeWithoutModel(trajectory, reports),
  };
}

function printChecks(measured: readonly Measured[]): void {
  const columns = [...new Set(measured.map(({ column }) => column))];
  console.log('Checks: runs with a finding / runs (with weight "failure", at the gold step, blind)\n');
  console.log(`${'check'.padEnd(28)}${columns.map((name) => name.padStart(24)).join('')}`);
  for (const { id } of CHECKS) {
    const cells = columns.map((column) => {
      const rows = measured.filter((row) => row.column === column);
      let fired = 0;
      let failures = 0;
      let hits = 0;
      let blind = 0;
      for (const { run, trajectory, reports } of rows) {
        const report = reports.find((one) => one.checkId === id);
        if (report === undefined || report.state === 'blind') blind += 1;
        if (report === undefined || report.findings.length === 0) continue;
        fired += 1;
        if (report.findings.some((finding) => finding.weight === 'failure')) failures += 1;
        const gold = run.gold?.critical.position;
        if (report.findings.some((one) => trajectory.stepBySpan.get(one.spanId)?.position === gold))
          hits += 1;
      }
      return `${fired}/${rows.length} (${failures}, ${hits}, ${blind})`.padStart(24);
    });
    console.log(`${id.padEnd(28)}${cells.join('')}`);
  }
}

/** Exact step of the judge when the session is known to have failed, on each half apart, and by rule. */
function printJudge(measured: readonly Measured[]): void {
  console.log('\nJudge without a model, sessions known to have failed: exact step\n');
  for (const group of GROUPS) {
    const rows = measured.filter(({ run }) => run.group === group && run.gold !== null);
    if (rows.length === 0) continue;
    const amongFour = rows.filter(({ run, assumed }) =>
      [assumed, ...(assumed?.alternatives ?? [])].some(
        (one) => one?.position === run.gold?.critical.position,
      ),
    );
    console.log(`${group}  among four ${share(amongFour.length, rows.length)}`);
    const halves = [0, 1].map((parity) => rows.filter((_, index) => index % 2 === parity));
    for (const [name, part] of [
      ['all runs', rows],
      ['even runs', halves[0] ?? []],
      ['odd runs', halves[1] ?? []],
    ] as const) {
      console.log(
        `  ${name.padEnd(10)} ${share(part.filter(isRight).length, part.length).padEnd(18)} ` +
          `best constant of them ${share(bestConstant(part), part.length)}`,
      );
    }
    const byReason = Map.groupBy(rows, ({ assumed }) => assumed?.reason ?? 'no step named');
    for (const [reason, part] of byReason) {
      console.log(`    ${part.filter(isRight).length}/${part.length} ${reason}`);
    }
  }
}

function printAlarms(measured: readonly Measured[]): void {
  const healthy = measured.filter(({ run }) => run.gold === null);
  const alarms = healthy.filter(({ unassumed }) => (unassumed?.confidence ?? 0) >= MEDIUM);
  const failed = measured.filter(({ run }) => run.gold !== null);
  const named = failed.filter(({ unassumed }) => unassumed !== null);
  const right = named.filter(({ run, unassumed }) => unassumed?.position === run.gold?.critical.position);
  console.log('\nWithout that knowledge');
  console.log(
    `  false alarms on healthy runs (confidence >= ${MEDIUM}): ${share(alarms.length, healthy.length)}`,
  );
  console.log(`  failed runs where a step is named: ${share(named.length, failed.length)}`);
  console.log(`  of these at the gold step: ${share(right.length, named.length)}`);
}

function isRight({ run, assumed }: Measured): boolean {
  return assumed !== null && assumed.position === run.gold?.critical.position;
}

function bestConstant(rows: readonly Measured[]): number {
  const byPosition = Map.groupBy(rows, ({ run }) => run.gold?.critical.position);
  return Math.max(0, ...[...byPosition.values()].map((part) => part.length));
}

function share(part: number, whole: number): string {
  return whole === 0 ? '0/0' : `${part}/${whole} (${((100 * part) / whole).toFixed(1)} %)`;
}
