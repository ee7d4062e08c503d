import { gzipJson } from '../contracts/gzip.ts';
import { sha256Hex } from '../contracts/hash.ts';
import { MAX_TIMER_SECONDS, type SessionIndex, type TimerQueue } from '../contracts/ingest-ports.ts';
import { quarantineKey, rawKey } from '../contracts/object-keys.ts';
import type { Clock, ObjectStore } from '../contracts/ports.ts';
import { decodeLogEventMessage } from '../formats/decode-log-event.ts';
import type { RawRecord } from '../formats/format.ts';
import { statedSessionId } from '../session/assemble-ids.ts';
import { type EnvelopeTrouble, type LogEvent, toBase64 } from './envelope.ts';

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
  /** Records stored now or before; a duplicate counts as stored. */
  readonly stored: number;
  readonly duplicates: number;
  readonly quarantined: number;
  /** Records of our own log groups. */
  readonly dropped: number;
  /** Application lines that belong to no trace and no session. */
  readonly unrelated: number;
}

/** What lies under `raw/`: one log event's records of one trace. */
export interface StoredEvent {
  readonly event: Pick<LogEvent, 'id' | 'timestamp' | 'logGroup' | 'logStream'>;
  readonly records: readonly RawRecord[];
}

export interface StoredTrouble {
  readonly reason: string;
  readonly logGroup: string | null;
  readonly logStream: string | null;
  readonly eventId: string | null;
  /** The bytes as they came, base64. */
  readonly raw: string;
  readonly quarantinedAt: string;
}

/**
 * Stores a batch. Order matters and makes a retry after a crash at any point end in the same state:
 * raw object first, then the links, then the touch, then the timer, then the mark that it is armed. A crash before
 * the mark sends a second timer, which is harmless: closing is idempotent.
 *
 * A record that cannot be read is quarantined and the batch goes on; a platform fault throws, and the whole batch
 * is delivered again.
 */
export async function storeEvents(
  events: readonly LogEvent[],
  trouble: readonly EnvelopeTrouble[],
  deps: IngestDeps,
): Promise<IngestReport> {
  const report = { stored: 0, duplicates: 0, quarantined: 0, dropped: 0, unrelated: 0 };
  for (const item of trouble) {
    await quarantine(
      { reason: item.reason, logGroup: null, logStream: null, eventId: null, raw: item.raw },
      deps,
    );
    report.quarantined += 1;
  }
  const touched = new Map<string, string>();
  for (const event of joinCutLines(events)) {
    if (deps.isOwnLogGroup(event.logGroup)) {
      report.dropped += 1;
      continue;
    }
    const decoded = decodeLogEventMessage(event.message);
    if (!Array.isArray(decoded)) {
      if (isForeignLine(decoded.reason)) {
        report.unrelated += 1;
        continue;
      }
      const raw = toBase64(new TextEncoder().encode(event.message));
      const { logGroup, logStream, id: eventId } = event;
      await quarantine({ reason: decoded.reason, logGroup, logStream, eventId, raw }, deps);
      report.quarantined += 1;
      continue;
    }
    const byTrace = groupByTrace(decoded);
    if (byTrace.size === 0) report.unrelated += 1;
    const hash = eventHash(event);
    for (const [traceId, records] of byTrace) {
      const stored: StoredEvent = {
        event: {
          id: event.id,
          timestamp: event.timestamp,
          logGroup: event.logGroup,
          logStream: event.logStream,
        },
        records,
      };
      const created = await deps.objects.putIfAbsent(rawKey(traceId, hash), await gzipJson(stored));
      report.stored += 1;
      if (!created) report.duplicates += 1;
      for (const sessionId of await sessionsOf(traceId, records, deps)) touched.set(sessionId, hash);
    }
  }
  // Once a session and batch, after all its records are stored: the closing reads what lies there.
  for (const [sessionId, event] of touched) await touchAndArm(sessionId, event, deps);
  return report;
}

/** Plain text and other JSON of an application: counted, not kept. Text that begins as a record and breaks is. */
const isForeignLine = (reason: string): boolean => /^not-(?:json|telemetry):/.test(reason);

/** The same log event delivered again has the same id and text; two equal lines of an application have two ids. */
export function eventHash(event: Pick<LogEvent, 'id' | 'message'>): string {
  return sha256Hex(`${event.id}\n${event.message}`);
}

/** Log records without a trace id are filed under their session id, if they state one. */
function groupByTrace(records: readonly RawRecord[]): Map<string, RawRecord[]> {
  const groups = new Map<string, RawRecord[]>();
  for (const record of records) {
    const traceId = record.traceId ?? statedSessionId(record)?.value ?? null;
    if (traceId === null) continue;
    const group = groups.get(traceId);
    if (group === undefined) groups.set(traceId, [record]);
    else group.push(record);
  }
  return groups;
}

/**
 * The sessions that a trace's record concerns: those it names, else those that the trace is known to belong to,
 * else a session by the trace's own id, which hands over to the real one when it closes (close-session).
 */
async function sessionsOf(
  traceId: string,
  records: readonly RawRecord[],
  deps: IngestDeps,
): Promise<readonly string[]> {
  const stated = new Set(records.flatMap((record) => statedSessionId(record)?.value ?? []));
  if (stated.size > 0) {
    for (const sessionId of stated) await deps.index.link(traceId, sessionId);
    return [...stated];
  }
  const known = await deps.index.sessionsOfTrace(traceId);
  if (known.length > 0) return known;
  await deps.index.link(traceId, traceId);
  return [traceId];
}

export async function touchAndArm(
  sessionId: string,
  event: string,
  deps: Pick<IngestDeps, 'index' | 'timers' | 'clock' | 'idleSeconds'>,
): Promise<void> {
  const state = await deps.index.touch(sessionId, { at: deps.clock.now(), event });
  if (state.armed) return;
  await deps.timers.arm(sessionId, Math.min(deps.idleSeconds, MAX_TIMER_SECONDS));
  await deps.index.markArmed(sessionId);
}

async function quarantine(trouble: Omit<StoredTrouble, 'quarantinedAt'>, deps: IngestDeps): Promise<void> {
  const item: StoredTrouble = { ...trouble, quarantinedAt: new Date(deps.clock.now()).toISOString() };
  await deps.objects.putIfAbsent(
    quarantineKey(sha256Hex(`${trouble.eventId}\n${trouble.raw}`)),
    await gzipJson(item),
  );
}

/**
 * A line over Lambda's stdout limit (256 KB) arrives cut into two events of one stream. Adjacent events are joined
 * only if neither parses alone and the pair does.
 */
export function joinCutLines(events: readonly LogEvent[]): LogEvent[] {
  const joined: LogEvent[] = [];
  for (let at = 0; at < events.length; at += 1) {
    const event = events[at];
    const next = events[at + 1];
    if (event === undefined) continue;
    if (
      next !== undefined &&
      next.logStream === event.logStream &&
      next.logGroup === event.logGroup &&
      startsLikeJson(event.message) &&
      !parses(event.message) &&
      !parses(next.message) &&
      parses(event.message + next.message)
    ) {
      joined.push({ ...event, message: event.message + next.message });
      at += 1;
    } else {
      joined.push(event);
    }
  }
  return joined;
}

const startsLikeJson = (text: string): boolean => /^\s{0,64}[{[]/.test(text);

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
