import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { DynamoFailureLog } from '../../adapters/aws/dynamo-failure-log.ts';
import { DynamoSessionIndex } from '../../adapters/aws/dynamo-session-index.ts';
import { LocalTimerQueue } from '../../adapters/local/local-timer-queue.ts';
import { LocalWorkflowStarter } from '../../adapters/local/local-workflow-starter.ts';
import { type LocalStores, openLocalStores } from '../../adapters/local/open-stores.ts';
import { runDue } from '../../adapters/local/run-due.ts';
import { SqliteTable } from '../../adapters/local/sqlite-table.ts';
import { VirtualClock } from '../../adapters/local/virtual-clock.ts';
import type { Clock } from '../../core/base/clock.ts';
import type { LogEvent } from '../../core/ingest/envelope.ts';
import { DEFAULT_MAX_AGE_SECONDS, DEFAULT_SETTINGS } from '../../core/ports/agent-settings.ts';
import { getJson } from '../../core/ports/carried.ts';
import { sessionSchema, sessionSpans } from '../../core/session/session.ts';
import { makeCloseSessionHandler } from '../../lambdas/close-session/handler.ts';
import { makeIngestHandler } from '../../lambdas/ingest/handler.ts';
import { MemoryObjects } from '../account/world.ts';
import { cpuTimed } from '../print/cpu-time.ts';
import {
  answerOf,
  CALLS_A_SESSION,
  madeRecords,
  RECORDS_A_SESSION,
  SPANS_A_SESSION,
  sessionName,
} from './made-records.ts';

/** Sessions that send at the same time, so that a batch holds records of many. */
export const AT_ONCE = 10;
export const BATCH_RECORDS = 50;
/** Every so many batches one is delivered twice. */
export const REPEAT = 10;

export interface Spent {
  wallMs: number;
  /** Of this process, the local store included. */
  cpuMs: number;
}

export interface MeasuredIngest {
  readonly records: number;
  readonly sessions: number;
  readonly ingest: Readonly<Spent>;
  readonly close: Readonly<Spent>;
  /** Calls by port and method, of those that write. */
  readonly writes: ReadonlyMap<string, number>;
  /** Records that were stored for the first time. */
  readonly fresh: number;
  /** Spans and answers that are not exactly once in the frozen form of their session. */
  readonly lost: number;
  readonly faults: readonly unknown[];
  readonly heapMb: number;
  /** From the first tenth of the records to the last. */
  readonly heapGrowthMb: number;
}

/** `memory` leaves out what a disk takes: what is left is our own work and the table's. */
export type StoreKind = 'folder' | 'memory';

/** At least so many generated records through the handlers of ingest and close-session over local stores. */
export async function measureIngest(atLeast: number, kind: StoreKind = 'folder'): Promise<MeasuredIngest> {
  const sessions = Math.ceil(atLeast / RECORDS_A_SESSION);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rootspan-bench-'));
  const now = { now: () => Date.now() };
  const stores = kind === 'memory' ? inMemory(now) : await openLocalStores(folder, now);
  try {
    const writes = new Map<string, number>();
    const clock = new VirtualClock(1_700_000_000_000);
    const workflow = new LocalWorkflowStarter(stores.objects);
    const timers = new LocalTimerQueue(clock);
    const deps = {
      objects: counting(stores.objects, 'object', ['putIfAbsent', 'put'], writes),
      index: counting(
        stores.index,
        'index',
        ['link', 'defer', 'touch', 'postpone', 'claim', 'markClosed', 'endPart'],
        writes,
      ),
      timers,
      workflow: counting(workflow, 'execution', ['start'], writes),
      failures: counting(stores.failures, 'failure', ['record'], writes),
      clock,
      idleSeconds: DEFAULT_SETTINGS.idleSeconds,
      shortestIdleSeconds: DEFAULT_SETTINGS.idleSeconds,
      maxAgeSeconds: DEFAULT_MAX_AGE_SECONDS,
      settingsFor: () => DEFAULT_SETTINGS,
      isOwnLogGroup: () => false,
    };
    const faults: unknown[] = [];
    const ingest = makeIngestHandler(deps);
    const close = makeCloseSessionHandler(deps, {
      comeAgain: async () => {},
      report: (_body, error) => faults.push(error),
    });
    const heaps: number[] = [];
    const ingesting: Spent = { wallMs: 0, cpuMs: 0 };
    const closing: Spent = { wallMs: 0, cpuMs: 0 };
    let fresh = 0;
    const settle = (until?: number): Promise<void> =>
      spend(closing, async () => {
        await runDue(
          deps,
          async (timer) => {
            const { batchItemFailures } = await close({
              Records: [{ messageId: timer.sessionId, body: JSON.stringify(timer) }],
            });
            return batchItemFailures.length === 0;
          },
          until,
        );
      });
    for (let first = 0; first < sessions; first += AT_ONCE) {
      const count = Math.min(AT_ONCE, sessions - first);
      const batches = batchesOf(Array.from({ length: count }, (_, n) => madeRecords(first + n)));
      await spend(ingesting, async () => {
        for (const [index, batch] of batches.entries()) {
          for (let times = index % REPEAT === 0 ? 2 : 1; times > 0; times -= 1) {
            const report = await ingest(batch);
            fresh += report.stored - report.duplicates;
          }
        }
      });
      // Half an hour between the waves: the sessions before have been silent and close.
      await settle(clock.now() + 1_800_000);
      heaps.push(usedMb());
    }
    await settle();

    const lost = await countLost(sessions, stores.objects, await workflow.open());
    const tenth = Math.ceil(heaps.length / 10);
    return {
      records: sessions * RECORDS_A_SESSION,
      sessions,
      ingest: ingesting,
      close: closing,
      writes,
      fresh,
      lost,
      faults,
      heapMb: Math.max(...heaps),
      heapGrowthMb: Math.max(...heaps.slice(-tenth)) - Math.max(...heaps.slice(0, tenth)),
    };
  } finally {
    await stores.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function inMemory(clock: Clock): Pick<LocalStores, 'objects' | 'index' | 'failures' | 'close'> {
  const table = new SqliteTable(null, clock);
  return {
    objects: new MemoryObjects(),
    index: new DynamoSessionIndex(table, clock, { retentionDays: null }),
    failures: new DynamoFailureLog(table, clock, null),
    close: async () => table.close(),
  };
}

async function spend(on: Spent, work: () => Promise<void>): Promise<void> {
  const start = performance.now();
  const { seconds } = await cpuTimed(work);
  on.wallMs += performance.now() - start;
  on.cpuMs += seconds * 1000;
}

/** The records of all sessions in turn, by log group, as Lambda events. */
function batchesOf(sessions: readonly (readonly LogEvent[])[]): object[] {
  const longest = Math.max(...sessions.map((events) => events.length));
  const mixed = Array.from({ length: longest }, (_, at) =>
    sessions.flatMap((events) => events[at] ?? []),
  ).flat();
  return [...Map.groupBy(mixed, (event) => event.logGroup)].flatMap(([logGroup, events]) =>
    Array.from({ length: Math.ceil(events.length / BATCH_RECORDS) }, (_, n) => {
      const logEvents = events.slice(n * BATCH_RECORDS, (n + 1) * BATCH_RECORDS);
      const payload = { messageType: 'DATA_MESSAGE', logGroup, logStream: 'default', logEvents };
      return { awslogs: { data: gzipSync(JSON.stringify(payload)).toString('base64') } };
    }),
  );
}

/** Spans and answers that are not exactly once in the one frozen form of their session. */
async function countLost(
  sessions: number,
  objects: Parameters<typeof getJson>[0],
  started: Awaited<ReturnType<LocalWorkflowStarter['open']>>,
): Promise<number> {
  let lost = Math.abs(started.length - sessions);
  const keys = new Map(started.map(({ input }) => [input.sessionId, input.sessionKey]));
  for (let n = 0; n < sessions; n += 1) {
    const key = keys.get(sessionName(n));
    if (key === undefined) continue;
    const spans = sessionSpans(sessionSchema.parse(await getJson(objects, key)));
    const answered = spans.filter(
      (span) => span.kind === 'inference' && JSON.stringify(span.output).includes(answerOf(span.spanId)),
    );
    lost += Math.abs(SPANS_A_SESSION - new Set(spans.map(({ spanId }) => spanId)).size);
    lost += Math.abs(CALLS_A_SESSION - answered.length);
  }
  return lost;
}

/** The port with calls of the named methods counted as writes. */
function counting<T extends object>(
  port: T,
  name: string,
  methods: readonly string[],
  writes: Map<string, number>,
): T {
  return new Proxy(port, {
    get: (target, method) => {
      const member: unknown = Reflect.get(target, method);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (methods.includes(String(method))) {
          const what = `${name}.${String(method)}`;
          writes.set(what, (writes.get(what) ?? 0) + 1);
        }
        return Reflect.apply(member, target, args) as unknown;
      };
    },
  });
}

function usedMb(): number {
  // Without --expose-gc the high-water mark of a wave counts: bounded all the same, if it is.
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}
