import { gzipJson } from '../base/gzip.ts';
import { canonicalJson, sha256Hex } from '../base/hash.ts';
import { RootspanError, SessionTooLargeError } from '../errors/errors.ts';
import type { AgentSettings } from '../ports/agent-settings.ts';
import {
  MAX_TIMER_SECONDS,
  type SessionState,
  type Timer,
  type WorkflowStarter,
} from '../ports/ingest-ports.ts';
import { executionName, sessionObjectKey } from '../ports/object-keys.ts';
import type { FailureLog } from '../ports/ports.ts';
import { assembleSessions } from '../reading/assembly/assemble.ts';
import type { RawRecord } from '../reading/decode/format.ts';
import { redactPersonal } from '../redaction/redact-personal.ts';
import { type Session, sessionSpans } from '../session/session.ts';
import { readRawEvents } from './raw-events.ts';
import { type IngestDeps, touchAndArm } from './store-events.ts';

export interface CloseDeps extends Pick<IngestDeps, 'objects' | 'index' | 'timers' | 'clock'> {
  readonly workflow: WorkflowStarter;
  readonly failures: Pick<FailureLog, 'record'>;
  /** No agent's session is over sooner: reading a session only to find that it goes on is the expensive way. */
  readonly shortestIdleSeconds: number;
  /** Settings by agent name; `null` is an agent that telemetry does not name. */
  readonly settingsFor: (agent: string | null) => AgentSettings;
}

export type Closing =
  | { readonly result: 'waiting'; readonly seconds: number }
  | { readonly result: 'unknown' }
  /** Another timer does it, or it has been done and nothing arrived since. */
  | { readonly result: 'spare' }
  | { readonly result: 'unchanged'; readonly hash: string }
  | { readonly result: 'handed-over'; readonly to: string }
  | { readonly result: 'skipped'; readonly reason: string }
  | { readonly result: 'started'; readonly name: string; readonly sessionKey: string; readonly hash: string };

/**
 * Raw text of one session. Reading, assembling and hashing takes 10 bytes of memory a character (measured; 20 where
 * text is beyond Latin-1), and the function has 3,008 MB: 128 Mi × 20 = 2.6 GB. A larger session is refused by name.
 */
const MAX_SESSION_CHARACTERS = 128 * 1024 * 1024;

/** One closing: the session as it was when the timer fired, and the arrival clock at that moment. */
interface Look {
  readonly timer: Timer;
  readonly state: SessionState;
  readonly now: number;
}

/**
 * A timer fired. If the session has been silent for its idle time: reads all its raw records, assembles, freezes
 * under the content hash and starts the diagnosis under the name derived from it. Otherwise waits on, in steps of
 * at most 900 s. Every step can be repeated: frozen objects are create-only, the execution name is the content,
 * and the end is only written if nothing arrived since.
 *
 * A session that cannot be assembled is written down as a failure and closed. Platform faults throw, and the timer
 * comes again.
 */
export async function closeSession(timer: Timer, deps: CloseDeps): Promise<Closing> {
  const state = await deps.index.state(timer.sessionId);
  if (state === null) return { result: 'unknown' };
  if (!state.open || (state.timer !== null && state.timer !== timer.token)) return { result: 'spare' };
  const look: Look = { timer, state, now: deps.clock.now() };
  const early = waitSeconds(look, timer.idleSeconds ?? deps.shortestIdleSeconds);
  if (early > 0) return rearm(timer, early, deps);

  const assembled = await assembleOrRefuse(look, deps);
  if ('refused' in assembled) return end(look, { skipped: assembled.refused }, deps);
  const own = assembled.sessions.find((session) => session.sessionId === timer.sessionId);
  if (own !== undefined) return close(look, own, deps);
  return assembled.sessions.length === 0
    ? end(look, { skipped: 'no-spans' }, deps)
    : handOver(look, assembled.sessions, deps);
}

async function close(look: Look, assembled: Session, deps: CloseDeps): Promise<Closing> {
  const { state, timer } = look;
  const settings = deps.settingsFor(assembled.agent);
  const { idleSeconds } = settings;
  const late = waitSeconds(look, idleSeconds);
  // The next look knows whom it waits for, and need not read the session to find out.
  if (late > 0) return rearm({ ...timer, idleSeconds }, late, deps);

  // Credentials are gone from every assembled session.
  const session = settings.redaction === 'personal' ? redactPersonal(assembled) : assembled;
  const text = canonicalJson(session);
  const hash = sha256Hex(text);
  if (hash === state.closedHash) return end(look, { closedHash: hash, skipped: state.skipped }, deps);
  const closings = state.closings + 1;
  // Spans of servers, clients and queues alone are other people's traces, our own state machine's among them.
  if (sessionSpans(session).every((span) => span.kind === 'other'))
    return end(look, { closedHash: hash, closings, skipped: 'no-agent-content' }, deps);

  const sessionKey = sessionObjectKey(session.sessionId, hash);
  await deps.objects.putIfAbsent(sessionKey, await gzipJson(JSON.parse(text)));
  if (!isSampled(session.sessionId, settings.sampling))
    return end(look, { closedHash: hash, closings, skipped: 'sampled-out' }, deps);
  const name = executionName(session.sessionId, hash);
  await deps.workflow.start(name, {
    sessionId: session.sessionId,
    sessionKey,
    ...(settings.model === null ? {} : { model: settings.model }),
    options: {
      depth: settings.depth,
      confidence: settings.confidence,
      votes: settings.votes,
      deepRule: settings.deepRule,
    },
  });
  return end(look, { closedHash: hash, closings }, deps, { result: 'started', name, sessionKey, hash });
}

/** Whole seconds until the session has been silent for so long. */
const waitSeconds = ({ state, now }: Look, idleSeconds: number): number =>
  Math.max(0, Math.ceil((state.lastSeen + idleSeconds * 1000 - now) / 1000));

async function rearm(timer: Timer, seconds: number, deps: CloseDeps): Promise<Closing> {
  const step = Math.min(seconds, MAX_TIMER_SECONDS);
  await deps.timers.arm(timer, step);
  return { result: 'waiting', seconds: step };
}

/** Writes the end, or waits on if something arrived while we were reading. */
async function end(
  { timer, state, now }: Look,
  closing: Partial<Pick<SessionState, 'closedHash' | 'closings' | 'ownedBy' | 'skipped'>>,
  deps: CloseDeps,
  started?: Closing,
): Promise<Closing> {
  const written = {
    closedAt: now,
    closedHash: closing.closedHash ?? null,
    closings: closing.closings ?? state.closings,
    ownedBy: closing.ownedBy ?? null,
    skipped: closing.skipped ?? null,
  };
  if (!(await deps.index.markClosed(state.sessionId, state, written)))
    return rearm(timer, timer.idleSeconds ?? deps.shortestIdleSeconds, deps);
  if (started !== undefined) return started;
  if (written.ownedBy !== null) return { result: 'handed-over', to: written.ownedBy };
  if (written.closedHash !== null && written.closedHash === state.closedHash)
    return { result: 'unchanged', hash: written.closedHash };
  return { result: 'skipped', reason: written.skipped ?? '' };
}

/**
 * The traces turned out to belong to other sessions. Where a record named such a session, ingest linked the trace
 * and touched the session after the record was stored, so its closing sees everything. It must look again only if
 * it does not know one of its traces, or if this session heard of records after it did.
 */
async function handOver(look: Look, owners: readonly Session[], deps: CloseDeps): Promise<Closing> {
  const { lastSeen, lastBatch } = look.state;
  for (const owner of owners) {
    const known = new Set(await deps.index.tracesOfSession(owner.sessionId));
    const news = owner.traces.map(({ traceId }) => traceId).filter((traceId) => !known.has(traceId));
    const heard = (await deps.index.state(owner.sessionId))?.lastSeen ?? Number.NEGATIVE_INFINITY;
    if (news.length === 0 && heard >= lastSeen) continue;
    // Touched before linked: afterwards the traces are no news, and a retry would not know that it has to.
    const idleSeconds = deps.shortestIdleSeconds;
    await touchAndArm(owner.sessionId, { at: look.now, batch: lastBatch }, { ...deps, idleSeconds });
    for (const traceId of news) await deps.index.link(traceId, owner.sessionId);
  }
  return end(look, { ownedBy: owners[0]?.sessionId ?? null }, deps);
}

/** The sessions made of all records of the session's traces, or the name of the error that forbids it. */
async function assembleOrRefuse(
  { timer: { sessionId }, state, now }: Look,
  deps: CloseDeps,
): Promise<{ readonly sessions: readonly Session[] } | { readonly refused: string }> {
  try {
    return assembleSessions(await readRecords(sessionId, deps));
  } catch (error) {
    if (!(error instanceof RootspanError) || error.fault !== 'input') throw error;
    await deps.failures.record({
      sessionId,
      sessionKey: null,
      // No execution was started; a name of the same kind, by what the look saw.
      executionName: executionName(sessionId, sha256Hex(`refused ${state.lastBatch}`)),
      errorName: error.name,
      message: error.message,
      at: new Date(now).toISOString(),
    });
    return { refused: error.name };
  }
}

async function readRecords(sessionId: string, deps: CloseDeps): Promise<RawRecord[]> {
  const records: RawRecord[] = [];
  let size = 0;
  for (const traceId of await deps.index.tracesOfSession(sessionId)) {
    await readRawEvents(traceId, deps.objects, (event, characters) => {
      size += characters;
      if (size > MAX_SESSION_CHARACTERS) {
        throw new SessionTooLargeError(
          `session ${sessionId} has more than ${MAX_SESSION_CHARACTERS} characters of raw records; ` +
            'its producer may be reusing one session id: give each conversation its own',
        );
      }
      for (const record of event.records) records.push(record);
    });
  }
  return records;
}

/** The same session is always in or always out, whatever its version. */
function isSampled(sessionId: string, share: number): boolean {
  return Number.parseInt(sha256Hex(`sample:${sessionId}`).slice(0, 8), 16) < share * 0x1_0000_0000;
}
