import type { Clock } from '../base/clock.ts';
import { forEachConcurrently } from '../base/for-each-concurrently.ts';
import { sha256Hex } from '../base/hash.ts';
import { MAX_TIMER_SECONDS, type SessionIndex, type TimerQueue } from '../ports/ingest-ports.ts';
import type { ObjectStore } from '../ports/ports.ts';
import { statedSessionId } from '../reading/assembly/ids.ts';
import { isErrorLine, isTelling } from '../reading/assembly/records.ts';
import { isPieceOfLine, joinCutLines } from '../reading/decode/cut-lines.ts';
import { decodeLogEventMessage } from '../reading/decode/decode-log-event.ts';
import type { RawRecord } from '../reading/decode/format.ts';
import { UNKNOWN_SPAN, UNKNOWN_TRACE } from '../reading/decode/raw-record.ts';
import type { EnvelopeTrouble, LogEvent } from './envelope.ts';
import { quarantine } from './quarantine.ts';
import { eventHash, OBJECTS_AT_ONCE, storeRawEvent } from './raw-events.ts';

export interface IngestDeps {
  readonly objects: ObjectStore;
  readonly index: SessionIndex;
  readonly timers: TimerQueue;
  readonly clock: Clock;
  /** Silence after which a session is over, seconds. The first timer waits at most this long. */
  readonly idleSeconds: number;
  /** Log groups whose records are ours: analysing them would feed the pipeline with itself. */
  readonly isOwnLogGroup: (logGroup: string) => boolean;
}

export interface IngestReport {
  /** Raw objects, one a log event and trace, that lie there now, and how many of them lay there before. */
  readonly stored: number;
  readonly duplicates: number;
  /** Ids of what could not be read and was kept as it came. */
  readonly quarantined: readonly string[];
  /** Events of our own log groups. */
  readonly dropped: number;
  /** Events of an application that belong to no trace and no session. */
  readonly unrelated: number;
}

/** The records of one log event that belong to one trace. */
interface Arrival {
  readonly traceId: string;
  readonly event: LogEvent;
  readonly records: readonly RawRecord[];
}

/**
 * Stores a batch. Order matters and makes a retry after a crash at any point end in the same state: raw objects
 * first, then the links, then the touches, then the timers, each with the mark that it is armed. A crash before the
 * mark sends a second timer with the same token, which is harmless: closing is idempotent.
 *
 * A record that cannot be read is quarantined and the batch goes on; a platform fault throws, and the whole batch
 * is delivered again.
 */
export async function storeEvents(
  events: readonly LogEvent[],
  trouble: readonly EnvelopeTrouble[],
  deps: IngestDeps,
): Promise<IngestReport> {
  const quarantined: string[] = [];
  const counts = { stored: 0, duplicates: 0, dropped: 0, unrelated: 0 };
  for (const item of trouble) quarantined.push(await quarantine(item, deps));

  const arrivals: Arrival[] = [];
  for (const event of joinCutLines(events)) {
    if (deps.isOwnLogGroup(event.logGroup)) {
      counts.dropped += 1;
      continue;
    }
    const read = readEvent(event);
    if ('reason' in read) quarantined.push(await quarantine({ reason: read.reason, event }, deps));
    else if (read.arrivals.length === 0) counts.unrelated += 1;
    else arrivals.push(...read.arrivals);
  }
  await forEachConcurrently(arrivals, OBJECTS_AT_ONCE, async ({ traceId, event, records }) => {
    const created = await storeRawEvent(traceId, event, records, deps.objects);
    counts.stored += 1;
    if (!created) counts.duplicates += 1;
  });
  await announce(arrivals, deps);
  return { ...counts, quarantined };
}

type Reading = { readonly arrivals: readonly Arrival[] } | { readonly reason: string };

function readEvent(event: LogEvent): Reading {
  const decoded = decodeLogEventMessage(event.message);
  if (!Array.isArray(decoded)) {
    if (!isForeignLine(decoded.reason)) return { reason: decoded.reason };
    // The rest came in another delivery: `rootspan quarantine retry` joins them. What parses is no piece.
    return decoded.reason.startsWith('not-json:') && isPieceOfLine(event.message)
      ? { reason: 'cut-json: a piece of a line whose beginning is elsewhere' }
      : { arrivals: [] };
  }
  const byTrace = new Map<string, RawRecord[]>();
  for (const record of decoded) {
    const place = placeOf(record);
    if (place === null) {
      // One id for all that have none would join the sessions of everybody.
      if (record.type === 'span') return { reason: 'no-id: a span without a trace id or span id' };
      if (isTelling(record) && !isErrorLine(record))
        return { reason: 'no-id: content of an agent that names neither trace nor session' };
      continue;
    }
    const list = byTrace.get(place);
    if (list === undefined) byTrace.set(place, [record]);
    else list.push(record);
  }
  return { arrivals: [...byTrace].map(([traceId, records]) => ({ traceId, event, records })) };
}

/** Plain text and other JSON of an application: counted, not kept. Text that begins as a record and breaks is. */
const isForeignLine = (reason: string): boolean => /^not-(?:json|telemetry):/.test(reason);

/** The trace under which a record is filed; records without one are filed under the session that they state. */
function placeOf(record: RawRecord): string | null {
  if (record.type === 'span' && record.spanId === UNKNOWN_SPAN) return null;
  if (record.traceId !== null && record.traceId !== UNKNOWN_TRACE) return record.traceId;
  return statedSessionId(record)?.value ?? null;
}

/** Tells the sessions of a batch that something arrived, once each, after all its records are stored. */
async function announce(arrivals: readonly Arrival[], deps: IngestDeps): Promise<void> {
  const at = deps.clock.now();
  const concerned = new Map<string, Set<string>>();
  const losing = new Map<string, Set<string>>();
  const links: { traceId: string; sessionId: string }[] = [];
  const traces = Map.groupBy(arrivals, (arrival) => arrival.traceId);
  await forEachConcurrently(traces, OBJECTS_AT_ONCE, async ([traceId, group]) => {
    const hashes = group.map(({ event }) => eventHash(event));
    const known = await deps.index.sessionsOfTrace(traceId);
    const { sessions, news } = sessionsOf(traceId, group, known);
    for (const sessionId of sessions) collect(concerned, sessionId, hashes);
    for (const sessionId of news) links.push({ traceId, sessionId });
    // Sessions that have the trace already may have to give it up: they look again. Before the link is written,
    // because afterwards it is no news any more.
    if (news.length > 0) for (const sessionId of known) collect(losing, sessionId, hashes);
  });
  const touch = async ([sessionId, hashes]: [string, Set<string>]): Promise<void> => {
    await touchAndArm(sessionId, { at, batch: sha256Hex([...hashes].sort().join('\n')) }, deps);
  };
  await forEachConcurrently(losing, OBJECTS_AT_ONCE, touch);
  await forEachConcurrently(links, OBJECTS_AT_ONCE, ({ traceId, sessionId }) =>
    deps.index.link(traceId, sessionId),
  );
  await forEachConcurrently(concerned, OBJECTS_AT_ONCE, touch);
}

/**
 * The sessions that a trace's records concern: those they name; for records that name none, those that the trace is
 * known to belong to; else a session by the trace's own id, which hands over to the real one when it closes
 * (close-session). `news` are those that the trace is not linked to yet.
 */
function sessionsOf(
  traceId: string,
  group: readonly Arrival[],
  known: readonly string[],
): { readonly sessions: ReadonlySet<string>; readonly news: readonly string[] } {
  const sessions = new Set<string>();
  let nameless = false;
  for (const record of group.flatMap((arrival) => arrival.records)) {
    const stated = statedSessionId(record)?.value;
    if (stated === undefined) nameless = true;
    else sessions.add(stated);
  }
  if (nameless) {
    const named = known.filter((sessionId) => sessionId !== traceId);
    for (const sessionId of named) sessions.add(sessionId);
    if (sessions.size === 0) sessions.add(traceId);
  }
  return { sessions, news: [...sessions].filter((sessionId) => !known.includes(sessionId)) };
}

function collect(into: Map<string, Set<string>>, sessionId: string, hashes: readonly string[]): void {
  const set = into.get(sessionId) ?? new Set<string>();
  for (const hash of hashes) set.add(hash);
  into.set(sessionId, set);
}

/** Marks the arrival, and sends the session's timer if none is on its way. */
export async function touchAndArm(
  sessionId: string,
  arrival: { readonly at: number; readonly batch: string },
  deps: Pick<IngestDeps, 'index' | 'timers' | 'idleSeconds'>,
): Promise<void> {
  const state = await deps.index.touch(sessionId, arrival);
  if (state.timer !== null) return;
  await deps.timers.arm({ sessionId, token: arrival.batch }, Math.min(deps.idleSeconds, MAX_TIMER_SECONDS));
  await deps.index.markArmed(sessionId, arrival.batch);
}
