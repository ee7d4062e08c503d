import { LocalTimerQueue } from '../../adapters/local/local-timer-queue.ts';
import { LocalWorkflowStarter } from '../../adapters/local/local-workflow-starter.ts';
import { type LocalStores, openLocalStores } from '../../adapters/local/open-stores.ts';
import { runDue } from '../../adapters/local/run-due.ts';
import { VirtualClock } from '../../adapters/local/virtual-clock.ts';
import { plural } from '../../core/base/plural.ts';
import { type ConfidenceWord, DEFAULT_OPTIONS } from '../../core/diagnosis/options.ts';
import type { Depth } from '../../core/diagnosis/schema.ts';
import { DEFAULT_MAX_AGE_SECONDS, DEFAULT_SETTINGS } from '../../core/ports/agent-settings.ts';
import { makeCloseSessionHandler } from '../../lambdas/close-session/handler.ts';
import { makeIngestHandler } from '../../lambdas/ingest/handler.ts';
import { safeLine } from '../../report/escape.ts';
import { systemClock } from '../shell/deps.ts';
import { type DiagnoseTask, diagnoseAll } from '../shell/diagnose-all.ts';
import { eachInput } from '../shell/each-input.ts';
import { explainError, UsageError } from '../shell/errors.ts';
import { ExitCode, worstExitCode } from '../shell/exit-codes.ts';
import { readFrozenSession } from '../shell/frozen-sessions.ts';
import type { CliIo } from '../shell/io.ts';
import type { OutputFlags } from '../shell/output-format.ts';
import { deliveriesOf } from '../shell/read-deliveries.ts';
import { policyOf, type VerdictFlags } from '../shell/verdict-policy.ts';

export interface IngestFlags extends VerdictFlags, OutputFlags {
  readonly model: string;
  readonly depth: Depth;
  readonly confidence: ConfidenceWord;
  readonly votes: number;
  readonly store: string;
  readonly concurrency?: number;
  readonly exitZero?: boolean;
}

/**
 * The way in locally: Lambda events go through the handlers of ingest and close-session over a folder's stores,
 * in the order of the files, on a clock that jumps over the idle time when all are in. A later run with late
 * records makes new versions; a run that was broken off, or waits for a batch of answers, goes on with the next.
 */
export async function ingestCommand(
  files: readonly string[],
  flags: IngestFlags,
  io: CliIo,
): Promise<number> {
  if (flags.store === 'none' || flags.store.startsWith('table:'))
    throw new UsageError(
      '--store: ingest locally keeps raw records, so it needs a folder; in an account the deployed Lambdas do this',
    );
  const policy = policyOf(flags);
  const stores = await openLocalStores(flags.store, systemClock);
  try {
    const local = openLocalIngest(stores);
    const codes = await deliver(files, local, io);
    const settled = await settle(local, io);
    codes.push(...settled.codes);
    const tasks: DiagnoseTask[] = (await local.workflow.open()).map(({ name, input }) => ({
      sessionId: input.sessionId,
      load: () => readFrozenSession(input.sessionKey, stores.objects),
      finished: () => local.workflow.finish(name),
    }));
    const changed = new Set(tasks.map(({ sessionId }) => sessionId));
    tasks.push(
      ...(await standing(
        settled.closed.filter((id) => !changed.has(id)),
        stores,
        io,
      )),
    );
    const options = {
      ...DEFAULT_OPTIONS,
      depth: flags.depth,
      confidence: flags.confidence,
      votes: flags.votes,
    };
    codes.push(...(await diagnoseAll(tasks, options, { ...flags, policy }, stores, io)));
    return worstExitCode(codes);
  } finally {
    await stores.close();
  }
}

/** Sessions that closed as they were: what is stored of them is said again, so that a second run is no greener. */
async function standing(
  sessionIds: readonly string[],
  { diagnoses }: LocalStores,
  io: CliIo,
): Promise<DiagnoseTask[]> {
  const tasks: DiagnoseTask[] = [];
  for (const sessionId of sessionIds) {
    const stored = await diagnoses.latest(sessionId);
    if (stored === null) continue;
    io.err(
      `rootspan: ${safeLine(sessionId, 100)}: nothing new since version ${stored.version}, which stands\n`,
    );
    tasks.push({ sessionId, standing: stored });
  }
  return tasks;
}

type LocalIngest = ReturnType<typeof openLocalIngest>;

/** Stores, queue and clock of one run. */
export function openLocalIngest(stores: LocalStores) {
  const clock = new VirtualClock(systemClock.now());
  return {
    objects: stores.objects,
    index: stores.index,
    failures: stores.failures,
    timers: new LocalTimerQueue(clock),
    workflow: new LocalWorkflowStarter(stores.objects),
    clock,
    idleSeconds: DEFAULT_SETTINGS.idleSeconds,
    shortestIdleSeconds: DEFAULT_SETTINGS.idleSeconds,
    maxAgeSeconds: DEFAULT_MAX_AGE_SECONDS,
    settingsFor: () => DEFAULT_SETTINGS,
    // Nothing of ours is written to a log group locally.
    isOwnLogGroup: () => false,
  };
}

async function deliver(args: readonly string[], local: LocalIngest, io: CliIo): Promise<ExitCode[]> {
  const handle = makeIngestHandler(local);
  const sum = { stored: 0, duplicates: 0, deferred: 0, unrelated: 0, quarantined: 0 };
  const codes = await eachInput(args, io, async (input) => {
    for await (const delivery of deliveriesOf(input)) {
      const report = await handle(delivery);
      sum.stored += report.stored;
      sum.duplicates += report.duplicates;
      sum.deferred += report.deferred;
      sum.unrelated += report.unrelated;
      sum.quarantined += report.quarantined.length;
    }
  });
  if (args.length === 0) return codes;
  io.err(
    `rootspan: ${sum.stored} records stored (${sum.duplicates} were there already), ` +
      `${sum.unrelated} of no trace or session, ${sum.quarantined} not readable\n`,
  );
  if (sum.quarantined > 0) {
    io.err('rootspan: what could not be read is kept: `rootspan quarantine list` says why\n');
    codes.push(ExitCode.Unknown);
  }
  if (sum.deferred > 0) {
    // Nothing was looked at: that is not clean.
    io.err(
      `rootspan: ${plural(sum.deferred, 'record')} of traces that show no span of an agent, model or tool (other traffic, ` +
        'or content that is not here): kept aside for three days, in case they do later\n',
    );
    codes.push(ExitCode.Unknown);
  }
  if (sum.stored + sum.deferred + sum.quarantined === 0) {
    io.err(
      'rootspan: no telemetry in the input; a session document is read by `rootspan diagnose`, ' +
        'and `rootspan doctor <file>` says what a file holds\n',
    );
    codes.push(ExitCode.Usage);
  }
  return codes;
}

/**
 * Lets time run until nothing is due, what a run before left open included. A session that cannot be closed stays due, for
 * the next run. What is closed
 * without a diagnosis is said with the reason, and never reads as clean: its code is Partial.
 */
export async function settle(
  local: LocalIngest,
  io: CliIo,
): Promise<{ readonly codes: readonly ExitCode[]; readonly closed: readonly string[] }> {
  const codes: ExitCode[] = [];
  const handle = makeCloseSessionHandler(local, {
    comeAgain: async () => {},
    report: (body, error) => {
      const { text, exitCode } = explainError(error);
      io.err(`rootspan: closing ${safeLine(body, 300)}: ${text}\n`);
      codes.push(exitCode);
    },
  });
  const leftOut = new Map<string, string>();
  const closed = new Set<string>();
  await runDue(local, async (timer) => {
    const { batchItemFailures } = await handle({
      Records: [{ messageId: timer.sessionId, body: JSON.stringify(timer) }],
    });
    const state = await local.index.state(timer.sessionId);
    if (state?.open === false && state.skipped !== null) leftOut.set(state.sessionId, state.skipped);
    else if (state?.open === false) closed.add(state.sessionId);
    return batchItemFailures.length === 0;
  });
  if (sayLeftOut(leftOut, io)) codes.push(ExitCode.Unknown);
  return { codes, closed: [...closed] };
}

const SHOWN_IDS = 3;

/** Reasons as close-session writes them down; others are names of errors. */
const WHY_LEFT_OUT: Readonly<Record<string, string>> = {
  'no-agent-content':
    'no span of an agent, model or tool in them (other traffic, or content that is not here)',
  'no-spans': 'log records without their spans, from which no session could be made',
};

/** False when there is nothing to say. */
function sayLeftOut(leftOut: ReadonlyMap<string, string>, io: CliIo): boolean {
  for (const reason of new Set(leftOut.values())) {
    const ids = [...leftOut]
      .filter(([, leftOutReason]) => leftOutReason === reason)
      .map(([id]) => safeLine(id, 60));
    const more = ids.length > SHOWN_IDS ? `, and ${ids.length - SHOWN_IDS} more` : '';
    io.err(
      `rootspan: ${plural(ids.length, 'session')} closed without a diagnosis: ${reason}: ` +
        `${Object.hasOwn(WHY_LEFT_OUT, reason) ? WHY_LEFT_OUT[reason] : 'the input cannot be a session'} ` +
        `(${ids.slice(0, SHOWN_IDS).join(', ')}${more}); \`rootspan doctor\` on the files says what is missing\n`,
    );
  }
  return leftOut.size > 0;
}
