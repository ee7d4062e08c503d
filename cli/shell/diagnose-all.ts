import type { DiagnosisOptions } from '../../core/diagnosis/options.ts';
import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { ErrorName } from '../../core/errors/error-names.ts';
import { RootspanError } from '../../core/errors/errors.ts';
import { type VerdictPolicy, verdict } from '../../core/report-build/verdict.ts';
import type { Session } from '../../core/session/session.ts';
import { type DiagnoseDeps, diagnose } from '../../core/stages/pipeline.ts';
import { safeLine } from '../../report/escape.ts';
import { renderTerminal } from '../../report/terminal.ts';
import { type OpenStore, pipelineDeps } from './deps.ts';
import { explainError } from './errors.ts';
import { ExitCode, exitCodeOf } from './exit-codes.ts';
import { type CliIo, palette, progress } from './io.ts';

export interface DiagnoseTask {
  readonly sessionId: string;
  load(): Promise<Session>;
  /** Called when its diagnosis is stored and printed. */
  finished?(): Promise<void>;
}

export interface DiagnoseAllFlags {
  readonly model: string;
  /** Folder in which the model's answers are written down, for `replay:`. */
  readonly record?: string;
  readonly json?: boolean;
  readonly policy: VerdictPolicy;
  readonly exitZero?: boolean;
  /** Sessions known to be good, on which synthesised constraints are tried. */
  readonly healthy?: DiagnoseDeps['healthy'] & object;
}

/** One session that could not be diagnosed must not hide the others: its error is said, and its code is among them. */
export async function diagnoseAll(
  tasks: readonly DiagnoseTask[],
  options: DiagnosisOptions,
  flags: DiagnoseAllFlags,
  store: OpenStore | null,
  io: CliIo,
): Promise<ExitCode[]> {
  const { policy } = flags;
  const asJson = flags.json ?? !io.outIsTerminal;
  const codes: ExitCode[] = [];
  const report = progress(io);
  const deps = await pipelineDeps(flags.model, store, io, flags.record);
  const done: Pick<Diagnosis, 'outcome' | 'failures' | 'criticalStep'>[] = [];
  let waiting = 0;
  for (const [index, task] of tasks.entries()) {
    const name = safeLine(task.sessionId, 100);
    const label = tasks.length === 1 ? name : `${index + 1}/${tasks.length} ${name}`;
    try {
      const fresh = await diagnose(await task.load(), options, {
        ...deps,
        ...(flags.healthy === undefined ? {} : { healthy: flags.healthy }),
        onProgress: ({ stage, done, total }) => report(`${label}: ${stage} ${done}/${total}`),
      });
      const stored =
        store === null ? fresh : { ...fresh, version: (await store.diagnoses.put(fresh)).version };
      report('');
      print(stored, asJson, policy, io);
      // Not the whole of it: hundreds of sessions may be long ones.
      done.push({ outcome: stored.outcome, failures: stored.failures, criticalStep: stored.criticalStep });
      await task.finished?.();
      codes.push(flags.exitZero === true ? ExitCode.Passed : exitCodeOf(verdict(stored, policy)));
    } catch (error) {
      report('');
      // All sessions get the chance to write their open requests into the same batch round.
      if (error instanceof RootspanError && error.name === ErrorName.ModelPending) {
        waiting += 1;
        codes.push(ExitCode.Waiting);
        continue;
      }
      const { text, exitCode } = explainError(error);
      io.err(`rootspan: ${name}: ${text}\n`);
      codes.push(exitCode);
    }
  }
  if (waiting > 0) {
    io.err(
      `rootspan: waiting: ${waiting} of ${tasks.length} sessions have open requests in ${flags.model.replace(/^batch:/, '')}/requests.jsonl; ` +
        'put the answers into responses.jsonl beside it and run the same command again\n',
    );
  }
  if (tasks.length > 1) io.err(summarise(done, tasks.length));
  return codes;
}

/** For who reads hundreds: how many came out how, and by which category they were lost, the most frequent first. */
function summarise(
  done: readonly Pick<Diagnosis, 'outcome' | 'failures' | 'criticalStep'>[],
  all: number,
): string {
  const counts = (values: readonly string[]): string =>
    [...Map.groupBy(values, (value) => value)]
      .map(([value, { length }]) => ({ value, length }))
      .sort((a, b) => b.length - a.length)
      .map(({ value, length }) => `${length} ${value}`)
      .join(', ');
  const failing = done.filter(({ failures }) => failures.length > 0).length;
  const critical = counts(done.flatMap(({ criticalStep }) => criticalStep?.category ?? []));
  return (
    `rootspan: ${done.length} of ${all} sessions diagnosed (${counts(done.map(({ outcome }) => outcome)) || 'none'}), ` +
    `${failing} with failures${critical === '' ? '' : `; critical steps: ${critical}`}\n`
  );
}

function print(diagnosis: Diagnosis, asJson: boolean, policy: VerdictPolicy, io: CliIo): void {
  // Several sessions give several JSON values, one after the other: what jq reads as a stream.
  if (asJson) io.out(`${JSON.stringify(diagnosis, null, 2)}\n`);
  else
    io.out(
      renderTerminal(diagnosis, {
        palette: palette(io),
        width: Math.min(io.columns, 120),
        policy,
      }),
    );
}
