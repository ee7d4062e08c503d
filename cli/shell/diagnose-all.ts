import { forEachConcurrently } from '../../core/base/for-each-concurrently.ts';
import type { DiagnosisOptions } from '../../core/diagnosis/options.ts';
import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { ErrorName } from '../../core/errors/error-names.ts';
import { RootspanError } from '../../core/errors/errors.ts';
import { CALLS_AT_ONCE, type Model } from '../../core/model/port.ts';
import { type VerdictPolicy, verdict } from '../../core/report-build/verdict.ts';
import type { Session } from '../../core/session/session.ts';
import { type DiagnoseDeps, diagnose } from '../../core/stages/pipeline.ts';
import { safeLine } from '../../report/escape.ts';
import { batchProgress } from './batch-progress.ts';
import { type OpenStore, pipelineDeps } from './deps.ts';
import { explainError } from './errors.ts';
import { ExitCode, exitCodeOf } from './exit-codes.ts';
import { freezeSession } from './frozen-sessions.ts';
import type { CliIo } from './io.ts';
import { type OutputFlags, resultWriter } from './output-format.ts';

export type DiagnoseTask = { readonly sessionId: string } & (
  | {
      load(): Promise<Session>;
      /** Called when its diagnosis is stored. */
      finished?(): Promise<void>;
    }
  /** Nothing changed since this diagnosis: it is shown again and nothing is asked. */
  | { readonly standing: Diagnosis }
);

export interface DiagnoseAllFlags extends OutputFlags {
  readonly model: string;
  /** Folder in which the model's answers are written down, for `replay:`. */
  readonly record?: string;
  readonly policy: VerdictPolicy;
  readonly exitZero?: boolean;
  /** Sessions, and calls of the model, at the same time. */
  readonly concurrency?: number;
  /** Sessions known to be good, on which synthesised constraints are tried. */
  readonly healthy?: DiagnoseDeps['healthy'] & object;
  /** Called with what came out, in the order of the input. */
  readonly onDiagnosis?: (diagnosis: Diagnosis) => void;
}

/**
 * Sessions at the same time when nobody says: a session waits for its model nearly all of its time, so as many as the
 * model may have calls. Where no service is asked it is work for the processor, which is one.
 */
const defaultConcurrency = ({ spec, limits }: Model): number =>
  /^(bedrock|openai):/u.test(spec) ? (limits.callsAtOnce ?? CALLS_AT_ONCE) : 1;

/** The user pressed Ctrl-C: what has been asked is waited for, since it is paid for, and nothing more is asked. */
class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

type Ended = { readonly diagnosis: Diagnosis } | { readonly code: ExitCode; readonly line: string | null };

/**
 * Diagnoses all sessions, several at a time, and writes the results in the order of the input. One session that could
 * not be diagnosed does not hide the others: its error is said, and its code is among them. A fault that is not the
 * session's (a refused credential, an unknown model) ends the batch at once.
 */
export async function diagnoseAll(
  tasks: readonly DiagnoseTask[],
  options: DiagnosisOptions,
  flags: DiagnoseAllFlags,
  store: OpenStore | null,
  io: CliIo,
): Promise<ExitCode[]> {
  const { policy } = flags;
  const codes: ExitCode[] = [];
  const { model, ...deps } = await pipelineDeps(flags.model, store, io, flags);
  const writer = resultWriter(flags, policy, store, io);
  const progress = batchProgress(tasks.length, io);
  const counts = new Counts();
  const ended = new Map<number, Ended>();
  let written = 0;
  let interrupted = false;
  let fault: unknown = null;

  const stopWhenInterrupted: Model = {
    spec: model.spec,
    limits: model.limits,
    ask: async (request) => {
      if (interrupted || fault !== null) throw new Interrupted();
      return model.ask(request);
    },
  };
  const release = io.onInterrupt(() => {
    if (interrupted) process.exit(130);
    interrupted = true;
    progress.clear();
    io.err('rootspan: stopping: what has been asked is waited for; Ctrl-C again ends at once\n');
  });

  /** Everything up to the first session that is still open. */
  const writeReady = (): void => {
    for (let next = ended.get(written); next !== undefined; next = ended.get(++written)) {
      ended.delete(written);
      progress.clear();
      if ('diagnosis' in next) {
        writer.add(next.diagnosis);
        flags.onDiagnosis?.(next.diagnosis);
      } else if (next.line !== null) io.err(next.line);
    }
  };

  const work = async ([index, task]: readonly [number, DiagnoseTask]): Promise<void> => {
    if (interrupted || fault !== null) return;
    const name = safeLine(task.sessionId, 100);
    try {
      progress.begin(name);
      if ('standing' in task) {
        ended.set(index, { diagnosis: task.standing });
        counts.add(task.standing);
        codes.push(flags.exitZero === true ? ExitCode.Passed : exitCodeOf(verdict(task.standing, policy)));
        progress.end(name, 0);
        writeReady();
        return;
      }
      const session = await task.load();
      const fresh = await diagnose(session, options, {
        ...deps,
        model: stopWhenInterrupted,
        ...(flags.healthy === undefined ? {} : { healthy: flags.healthy }),
        onProgress: ({ stage, done, total }) => progress.stage(name, `${stage} ${done}/${total}`),
      });
      const diagnosis = await keep(fresh, session, store);
      await task.finished?.();
      counts.add(diagnosis);
      codes.push(flags.exitZero === true ? ExitCode.Passed : exitCodeOf(verdict(diagnosis, policy)));
      ended.set(index, { diagnosis });
      progress.end(name, diagnosis.usage.costUsd);
    } catch (error) {
      progress.end(name, null);
      if (error instanceof Interrupted) return;
      if (isOfTheBatch(error, tasks.length)) {
        fault ??= error;
        return;
      }
      // All sessions get the chance to write their open requests into the same batch round.
      if (error instanceof RootspanError && error.name === ErrorName.ModelPending) {
        counts.waiting += 1;
        codes.push(ExitCode.Waiting);
        ended.set(index, { code: ExitCode.Waiting, line: null });
      } else {
        const { text, exitCode } = explainError(error);
        codes.push(exitCode);
        ended.set(index, { code: exitCode, line: `rootspan: ${name}: ${text}\n` });
      }
    }
    writeReady();
  };

  try {
    await forEachConcurrently(tasks.entries(), flags.concurrency ?? defaultConcurrency(model), work);
  } finally {
    release();
    progress.clear();
  }
  // Sessions after one that was left open are done all the same.
  for (const index of [...ended.keys()].sort((a, b) => a - b)) {
    written = index;
    writeReady();
  }
  await writer.end();
  if (fault !== null) {
    const { text, exitCode } = explainError(fault);
    io.err(`rootspan: ${text}${leftOver(counts, tasks.length)}\n`);
    codes.push(exitCode);
  } else if (interrupted) {
    io.err(`rootspan: interrupted${leftOver(counts, tasks.length)}\n`);
    codes.push(ExitCode.Runtime);
  }
  if (counts.waiting > 0) {
    io.err(
      `rootspan: waiting: ${counts.waiting} of ${tasks.length} sessions have open requests in ${flags.model.replace(/^batch:/, '')}/requests.jsonl; ` +
        'put the answers into responses.jsonl beside it and run the same command again\n',
    );
  }
  if (tasks.length > 1 && counts.done > 0) io.err(counts.text(tasks.length));
  return codes;
}

async function keep(fresh: Diagnosis, session: Session, store: OpenStore | null): Promise<Diagnosis> {
  if (store === null) return fresh;
  // The session first: a diagnosis that is listed can be shown whole.
  await freezeSession(session, fresh, store.objects);
  const diagnosis = await store.diagnoses.withoutRejected(fresh);
  return { ...diagnosis, version: (await store.diagnoses.put(diagnosis)).version };
}

/** What the next session would meet as well: somebody must mend the command, the credential or the budget. */
const isOfTheBatch = (error: unknown, tasks: number): boolean =>
  tasks > 1 && error instanceof RootspanError && error.fault === 'configuration';

const leftOver = ({ done }: Counts, all: number): string =>
  all === 1
    ? ''
    : `; ${done} of ${all} sessions are done, ${all - done} are not: run the same command again to go on ` +
      '(answers already given are kept and not paid for twice)';

/** Not the diagnoses themselves: hundreds of sessions may be long ones. */
class Counts {
  done = 0;
  waiting = 0;
  #failing = 0;
  readonly #outcomes = new Map<string, number>();
  readonly #critical = new Map<string, number>();

  add({ outcome, failures, criticalStep }: Diagnosis): void {
    this.done += 1;
    if (failures.length > 0) this.#failing += 1;
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1);
    if (criticalStep !== null)
      this.#critical.set(criticalStep.category, (this.#critical.get(criticalStep.category) ?? 0) + 1);
  }

  /** For who reads hundreds: how many came out how, and by which category they were lost, the most frequent first. */
  text(all: number): string {
    const list = (counts: ReadonlyMap<string, number>): string =>
      [...counts]
        .sort(([, a], [, b]) => b - a)
        .map(([value, count]) => `${count} ${value}`)
        .join(', ');
    const critical = list(this.#critical);
    return (
      `rootspan: ${this.done} of ${all} sessions diagnosed (${list(this.#outcomes)}), ${this.#failing} with failures` +
      `${critical === '' ? '' : `; critical steps: ${critical}`}\n`
    );
  }
}
