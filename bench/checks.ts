import { existsSync } from 'node:fs';
import path from 'node:path';
import { CHECKS, runChecks } from '../core/checks/registry.ts';
import type { CheckReport } from '../core/diagnosis/check-report.ts';
import type { CriticalStep } from '../core/diagnosis/schema.ts';
import { CRITICAL_RULES, judgeWithoutModel } from '../core/explanation/critical-step/by-rule.ts';
import { toTrajectory } from '../core/trajectory/to-trajectory.ts';
import type { Trajectory } from '../core/trajectory/trajectory.ts';
import { toolErrorLines } from './accuracy/tool-errors.ts';
import { loadAgentRx } from './datasets/agentrx.ts';
import type { LabelledRun } from './datasets/labelled-run.ts';
import { loadLabels } from './datasets/labels.ts';
import { loadWhoWhen } from './datasets/who-when.ts';
import { healthySessions } from './healthy/sessions.ts';
import { share } from './print/share.ts';

const SHARED = path.resolve(import.meta.dirname, '..', '..', 'shared');
const DEFAULT_ROOT = path.join(SHARED, 'bench', 'dev');
const LABELLED = path.join(SHARED, 'dev-sessions');
/** From this confidence on, a failure on a healthy run counts as a false alarm (medium). */
const MEDIUM = 0.75;

interface Measured {
  /** Data set, healthy runs apart. */
  readonly column: string;
  readonly run: LabelledRun;
  readonly trajectory: Trajectory;
  readonly reports: readonly CheckReport[];
  readonly critical: CriticalStep | null;
}

/** `npm run bench -- checks [folder]`: what the model-free checks and the judge over them are worth, rule by rule. */
export function benchChecks(args: readonly string[]): number {
  const root = args[0] ?? DEFAULT_ROOT;
  if (!existsSync(root)) {
    console.error(`no benchmark data at ${root}; give the folder as an argument`);
    return 2;
  }
  const labelled = existsSync(LABELLED) ? loadLabels(LABELLED) : [];
  const measured = [...loadAgentRx(root), ...loadWhoWhen(root), ...labelled, ...ownHealthy()].map(measure);
  printChecks(measured);
  printRules(measured);
  printHealthy(measured);
  console.log(`\n${toolErrorLines(measured.map(({ run }) => run)).join('\n')}`);
  return 0;
}

/** Healthy conversations of our own, in every form that they are written in. */
function ownHealthy(): LabelledRun[] {
  return healthySessions().map(({ kind, writer, session }) => ({
    id: `${writer}/${kind}`,
    group: 'own',
    session,
    gold: null,
    expectedActions: null,
    answers: [],
  }));
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
    critical: judgeWithoutModel(trajectory, reports),
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
        const report = reports.find((candidate) => candidate.checkId === id);
        if (report === undefined || report.state === 'blind') blind += 1;
        if (report === undefined || report.findings.length === 0) continue;
        fired += 1;
        if (report.findings.some((finding) => finding.weight === 'failure')) failures += 1;
        const gold = run.gold?.critical.position;
        if (report.findings.some((finding) => trajectory.stepBySpan.get(finding.spanId)?.position === gold))
          hits += 1;
      }
      return `${fired}/${rows.length} (${failures}, ${hits}, ${blind})`.padStart(24);
    });
    console.log(`${id.padEnd(28)}${cells.join('')}`);
  }
}

/** For each rule that names a critical step: how often it is the labelled one, where the run failed. */
function printRules(measured: readonly Measured[]): void {
  console.log(
    '\nCritical step without a model, nobody told that a run failed: right / named on failed runs (n), named on healthy runs\n',
  );
  for (const rule of CRITICAL_RULES) {
    const named = measured.filter(({ critical }) => critical?.reason === rule.reason);
    const failed = named.filter(({ run }) => run.gold !== null);
    const right = failed.filter(({ run, critical }) => critical?.position === run.gold?.critical.position);
    const groups = Map.groupBy(failed, ({ run }) => run.group);
    const byGroup = [...groups].map(([group, rows]) => {
      const hits = rows.filter(({ run, critical }) => critical?.position === run.gold?.critical.position);
      return `${group} ${hits.length}/${rows.length}`;
    });
    console.log(
      `  ${rule.id.padEnd(20)} ${share(right.length, failed.length).padEnd(18)} healthy ${named.length - failed.length}  ${byGroup.join(', ')}`,
    );
  }
}

function printHealthy(measured: readonly Measured[]): void {
  const healthy = measured.filter(({ run }) => run.gold === null);
  console.log('\nHealthy runs');
  for (const [group, rows] of Map.groupBy(healthy, ({ run }) => run.group)) {
    const failed = rows.filter(({ critical }) => critical !== null);
    const alarmed = rows.filter(({ reports }) =>
      reports.some(({ findings }) =>
        findings.some(({ weight, confidence }) => weight === 'failure' && confidence >= MEDIUM),
      ),
    );
    console.log(
      `  ${group.padEnd(20)} given a critical step (FAILED) ${share(failed.length, rows.length)}, a failure of confidence >= ${MEDIUM} ${share(alarmed.length, rows.length)}`,
    );
  }
}
