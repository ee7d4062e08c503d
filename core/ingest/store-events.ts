import type { Clock } from '../base/clock.ts';
import { sha256Hex } from '../base/hash.ts';
import type { SessionIndex } from '../ports/ingest-ports.ts';
import type { ObjectStore } from '../ports/ports.ts';
import { statedSessionId } from '../reading/assembly/ids.ts';
import { isErrorLine, isTelling } from '../reading/assembly/records.ts';
import { showsAgent } from '../reading/assembly/shows-agent.ts';
import { isPieceOfLine, joinCutLines } from '../reading/decode/cut-lines.ts';
import { decodeLogEventMessage, isForeignLine } from '../reading/decode/decode-log-event.ts';
import type { RawRecord } from '../reading/decode/format.ts';
import { UNKNOWN_SPAN, UNKNOWN_TRACE } from '../reading/decode/raw-record.ts';
import { completeAll } from './complete-all.ts';
import type { EnvelopeTrouble, LogEvent } from './envelope.ts';
import { quarantine } from './quarantine.ts';
import { eventHash, packDelivery, type RawDelivery, rawKeyOf } from './raw-records.ts';
import { SessionCaps } from './session-caps.ts';

export interface IngestDeps {
  readonly objects: ObjectStore;
  readonly index: SessionIndex;
  readonly clock: Clock;
  /** Silence after which a session may be over, seconds: the shortest of any agent. */
  readonly idleSeconds: number;
  /** Log groups whose records are ours: analysing them would feed the pipeline with itself. */
  readonly isOwnLogGroup: (logGroup: string) => boolean;
}

export interface IngestReport {
  /** Log events that are kept now, counted once for each of their traces, and how many of them were kept before. */
  readonly stored: number;
  readonly duplicates: number;
  /** Log events of traces that show nothing of an agent: kept aside for a few days, in case they do later. */
  readonly deferred: number;
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

/** What a delivery brought of one trace that matters, and the sessions that the trace was linked to before. */
interface TraceNews {
  readonly traceId: string;
  readonly records: readonly RawRecord[];
  readonly hash: string;
  readonly known: readonly string[];
}

/**
 * Stores a delivery. Order matters and makes a retry after a crash at any point end in the same state: raw objects
 * first, then the links, then the touches, which set the due time. Everything may be written again without harm.
 *
 * A record that cannot be read is quarantined and the rest goes on; a platform fault throws after everything else was
 * done, and the whole delivery comes again.
 */
export async function storeEvents(
  events: readonly LogEvent[],
  trouble: readonly EnvelopeTrouble[],
  deps: IngestDeps,
  caps: SessionCaps = new SessionCaps(),
): Promise<IngestReport> {
  const quarantined: string[] = [];
  const counts = { stored: 0, duplicates: 0, deferred: 0, dropped: 0, unrelated: 0 };
  const bad: ({ reason: string; event: LogEvent } | EnvelopeTrouble)[] = [...trouble];

  const arrivals: Arrival[] = [];
  for (const event of joinCutLines(events)) {
    if (deps.isOwnLogGroup(event.logGroup)) {
      counts.dropped += 1;
      continue;
    }
    const read = readEvent(event);
    const refused = 'reason' in read ? read.reason : caps.refuse(read.arrivals);
    if (refused !== null) bad.push({ reason: refused, event });
    else if ('reason' in read || read.arrivals.length === 0) counts.unrelated += 1;
    else arrivals.push(...read.arrivals);
  }
  await completeAll(bad, async (item) => {
    quarantined.push(await quarantine(item, deps));
  });
  const news: TraceNews[] = [];
  await completeAll(
    Map.groupBy(arrivals, (arrival) => arrival.traceId),
    async ([traceId, arrived]) => {
      // One delivery may hold an event twice.
      const group = [...new Map(arrived.map((arrival) => [eventHash(arrival.event), arrival])).values()];
      const stored = await storeTrace(traceId, group, deps);
      if (stored === 'deferred') counts.deferred += group.length;
      else {
        counts.stored += group.length;
        if (!stored.fresh) counts.duplicates += group.length;
        news.push(stored.news);
      }
    },
  );
  await announce(news, deps);
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

/** The trace under which a record is filed; records without one are filed under the session that they state. */
function placeOf(record: RawRecord): string | null {
  if (record.type === 'span' && record.spanId === UNKNOWN_SPAN) return null;
  if (record.traceId !== null && record.traceId !== UNKNOWN_TRACE) return record.traceId;
  return statedSessionId(record)?.value ?? null;
}

/**
 * Keeps what came of one trace. A trace that no record has shown to be an agent's costs one row that expires, and no
 * look: most traces of an account are other services'. Whoever shows an agent later finds the row (close-session reads
 * both), and who kept it aside looks again after the write, so that one of the two sees the other.
 */
async function storeTrace(
  traceId: string,
  group: readonly Arrival[],
  deps: IngestDeps,
): Promise<'deferred' | { readonly fresh: boolean; readonly news: TraceNews }> {
  const records = group.flatMap((arrival) => arrival.records);
  const delivery = await packDelivery(group);
  let known = await deps.index.sessionsOfTrace(traceId);
  if (
    known.length === 0 &&
    !records.some((record) => statedSessionId(record) !== null || showsAgent(record))
  ) {
    await keepAside(traceId, delivery, deps);
    known = await deps.index.sessionsOfTrace(traceId);
    if (known.length === 0) return 'deferred';
  }
  const fresh = await deps.objects.putIfAbsent(rawKeyOf(traceId, delivery), delivery.bytes);
  return { fresh, news: { traceId, records, hash: delivery.hash, known } };
}

/** A row of the table takes 400 KB. */
const MAX_DEFERRED_BYTES = 300_000;

async function keepAside(traceId: string, delivery: RawDelivery, deps: IngestDeps): Promise<void> {
  if (delivery.bytes.length <= MAX_DEFERRED_BYTES) await deps.index.defer(traceId, delivery);
  else await deps.objects.putIfAbsent(rawKeyOf(traceId, delivery), delivery.bytes);
}

/** Tells the sessions of a delivery that something arrived, once each, after all its records are stored. */
async function announce(news: readonly TraceNews[], deps: IngestDeps): Promise<void> {
  const concerned = new Map<string, Set<string>>();
  const losing = new Map<string, Set<string>>();
  const links: { traceId: string; sessionId: string }[] = [];
  await completeAll(news, async (trace) => {
    const { sessions, fresh, mayLose } = await sessionsOf(trace, deps.index);
    for (const sessionId of sessions) collect(concerned, sessionId, trace.hash);
    for (const sessionId of fresh) links.push({ traceId: trace.traceId, sessionId });
    // Before the link is written, because afterwards it is no news any more.
    for (const sessionId of mayLose) collect(losing, sessionId, trace.hash);
  });
  const at = deps.clock.now();
  const touch = async ([sessionId, hashes]: [string, Set<string>]): Promise<void> => {
    await touchSession(sessionId, { at, batch: sha256Hex([...hashes].sort().join('\n')) }, deps);
  };
  await completeAll(losing, touch);
  await completeAll(links, ({ traceId, sessionId }) => deps.index.link(traceId, sessionId));
  await completeAll(concerned, touch);
}

/**
 * The sessions that a trace's records concern: those they name; for records that name none, the one session that the
 * trace is known to belong to, else a session by the trace's own id. That one hands over to the real one when it
 * closes, and of a trace with many sessions it wakes those that got something (close-session): a nameless record wakes
 * one session whatever their number, so that writes grow with the records.
 *
 * `fresh` are those that the trace is not linked to yet; `mayLose` are those that have spans by inheritance, which a
 * further name may take from them.
 */
async function sessionsOf(
  { traceId, records, known }: TraceNews,
  index: SessionIndex,
): Promise<{
  readonly sessions: ReadonlySet<string>;
  readonly fresh: readonly string[];
  readonly mayLose: readonly string[];
}> {
  const sessions = new Set<string>();
  let nameless = false;
  for (const record of records) {
    const stated = statedSessionId(record)?.value;
    if (stated === undefined) nameless = true;
    else sessions.add(stated);
  }
  const others = known.filter((sessionId) => sessionId !== traceId);
  const all = new Set([...sessions, ...others]);
  const isNew = [...sessions].some((sessionId) => !known.includes(sessionId));
  const [only] = all;
  if (all.size > 1 ? nameless || isNew : nameless && only === undefined) sessions.add(traceId);
  else if (nameless && only !== undefined) {
    sessions.add(only);
    // The trace's own id may be a session that somebody names, beside the other.
    if (known.includes(traceId) && (await index.state(traceId))?.ownedBy === null) sessions.add(traceId);
  }
  const fresh = [...sessions].filter((sessionId) => !known.includes(sessionId));
  if (fresh.length === 0) return { sessions, fresh, mayLose: [] };
  return { sessions, fresh, mayLose: others.length > 1 ? [] : known };
}

function collect(into: Map<string, Set<string>>, sessionId: string, hash: string): void {
  into.set(sessionId, (into.get(sessionId) ?? new Set<string>()).add(hash));
}

/** Marks the arrival, and sets the session's due time if it has none. */
export async function touchSession(
  sessionId: string,
  { at, batch }: { readonly at: number; readonly batch: string },
  { index, idleSeconds }: Pick<IngestDeps, 'index' | 'idleSeconds'>,
): Promise<void> {
  await index.touch(sessionId, { at, batch, dueAt: at + idleSeconds * 1000 });
}
