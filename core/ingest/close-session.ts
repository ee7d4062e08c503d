import { gzipJson } from '../base/gzip.ts';
import { canonicalJson, sha256Hex } from '../base/hash.ts';
import { ResultConflictError, RootspanError } from '../errors/errors.ts';
import type { AgentSettings } from '../ports/agent-settings.ts';
import type { ClosedAs, SessionState, WorkflowStarter } from '../ports/ingest-ports.ts';
import { executionName, sessionObjectKey } from '../ports/object-keys.ts';
import type { FailureLog } from '../ports/ports.ts';
import type { WorkflowInput } from '../ports/workflow.ts';
import { assembleSessions } from '../reading/assembly/assemble.ts';
import { redactPersonal } from '../redaction/redact-personal.ts';
import { type Session, sessionSpans } from '../session/session.ts';
import { beginPartEnd, readSessionRecords, type SessionRecords } from './session-records.ts';
import { type IngestDeps, touchSession } from './store-events.ts';

export interface CloseDeps extends Pick<IngestDeps, 'objects' | 'index' | 'clock'> {
  readonly workflow: Pick<WorkflowStarter, 'start'>;
  readonly failures: Pick<FailureLog, 'record'>;
  /** No agent's session is over sooner: reading a session only to find that it goes on is the expensive way. */
  readonly shortestIdleSeconds: number;
  /** Age of a part, seconds, at which it is closed although the session is not silent. */
  readonly maxAgeSeconds: number;
  /** Settings by agent name; `null` is an agent that telemetry does not name. */
  readonly settingsFor: (agent: string | null) => AgentSettings;
}

export type Closing =
  | { readonly result: 'waiting'; readonly until: number }
  | { readonly result: 'unknown' }
  /** It has been done and nothing arrived since. */
  | { readonly result: 'spare' }
  | { readonly result: 'unchanged'; readonly hash: string }
  | { readonly result: 'handed-over'; readonly to: string }
  | { readonly result: 'skipped'; readonly reason: string }
  | { readonly result: 'started'; readonly name: string; readonly sessionKey: string; readonly hash: string };

/** One look: the session as the index had it, and the arrival clock at that moment. */
interface Look {
  readonly state: SessionState;
  readonly now: number;
  /** The part is as old as a part may be. */
  readonly isAged: boolean;
}

/** Somebody else closes the same session at this moment: looked at again when that is over. */
const COLLISION_MS = 60_000;
/** The minimum distance between diagnoses of a session doubles with each, up to a day. */
const MAX_DISTANCE_MS = 86_400_000;

/**
 * Looks at a session that may be due. If it has been silent for its idle time, or its part is of age, or holds all that
 * one part can: reads its raw records, assembles, freezes under the content hash, takes the next closing number for it
 * and starts the diagnosis. Otherwise writes down when to look again; whoever reads the due times comes back then.
 *
 * Every step can be repeated: frozen objects are create-only, a content takes one number, the execution is named by
 * both, and the end is only written if nothing arrived since.
 *
 * A session that cannot be assembled is written down as a failure and closed. Platform faults throw, and the look is
 * due again.
 */
export async function closeSession(sessionId: string, deps: CloseDeps): Promise<Closing> {
  const state = await deps.index.state(sessionId);
  if (state === null) return { result: 'unknown' };
  if (!state.open) return { result: 'spare' };
  const now = deps.clock.now();
  const isAged = state.partSince !== null && now - state.partSince >= deps.maxAgeSeconds * 1000;
  const look: Look = { state, now, isAged };
  const early = nextLook(state, state.idleSeconds ?? deps.shortestIdleSeconds, deps.maxAgeSeconds);
  if (early > now) return wait(look, early, deps);

  const { read, sessions, refused } = await readOrRefuse(look, deps);
  if (refused !== null) return end(look, read, { skipped: refused }, deps);
  const closing = sessions.find((session) => session.sessionId === sessionId);
  const others = sessions.filter((session) => session !== closing);
  // A trace of many sessions is looked at once for all of them, under its own id.
  if (closing === undefined || read.traces.includes(sessionId)) await wake(look, others, deps);
  if (closing !== undefined) return close(look, read, closing, deps);
  const [owner] = others;
  return owner === undefined
    ? end(look, read, { skipped: state.part > 1 ? 'nothing-new' : 'no-spans' }, deps)
    : end(look, read, { ownedBy: owner.sessionId }, deps);
}

/** When a session is to be looked at whose agent has this idle time, ms; not later than its part is of age. */
export function nextLook(
  state: Pick<SessionState, 'lastSeen' | 'notBefore' | 'partSince'>,
  idleSeconds: number,
  maxAgeSeconds: number,
): number {
  const silent = Math.max(state.lastSeen + idleSeconds * 1000, state.notBefore ?? 0);
  return Math.min(silent, (state.partSince ?? state.lastSeen) + maxAgeSeconds * 1000);
}

async function close(
  look: Look,
  read: SessionRecords,
  assembled: Session,
  deps: CloseDeps,
): Promise<Closing> {
  const { state, now } = look;
  const settings = deps.settingsFor(assembled.agent);
  const late = read.hasMore ? now : nextLook(state, settings.idleSeconds, deps.maxAgeSeconds);
  // The next look knows whom it waits for, and need not read the session to find out.
  if (late > now) return wait(look, late, deps, settings.idleSeconds);

  // Credentials are gone from every assembled session.
  const redacted = settings.redaction === 'personal' ? redactPersonal(assembled) : assembled;
  const session = asPart(redacted, state.part);
  const text = canonicalJson(session);
  const hash = sha256Hex(text);
  if (hash === state.closedHash) return end(look, read, { closedHash: hash, skipped: state.skipped }, deps);
  // What a part has is fixed before its number is taken, so that a retry finds the same content.
  if (isEnding(look, read)) await beginPartEnd(state, read.deliveries, deps.objects);
  let closing = state.closings;
  if (hash !== state.claimedHash) {
    closing += 1;
    if (!(await deps.index.claim(state.sessionId, state.closings, hash)))
      return wait(look, now + COLLISION_MS, deps, settings.idleSeconds);
  }
  // Spans of servers, clients and queues alone are other people's traces, our own state machine's among them.
  if (sessionSpans(session).every((span) => span.kind === 'other'))
    return end(look, read, { closedHash: hash, skipped: 'no-agent-content' }, deps);

  const sessionKey = sessionObjectKey(session.sessionId, hash);
  await deps.objects.putIfAbsent(sessionKey, await gzipJson(JSON.parse(text)));
  if (!isSampled(state.sessionId, settings.sampling))
    return end(look, read, { closedHash: hash, skipped: 'sampled-out' }, deps);
  const name = executionName(session.sessionId, closing, hash);
  await start(name, { sessionId: session.sessionId, sessionKey, closing, ...settingsInput(settings) }, deps);
  const distance = Math.min(settings.returnSeconds * 1000 * 2 ** state.diagnoses, MAX_DISTANCE_MS);
  const closed = { closedHash: hash, diagnoses: state.diagnoses + 1, notBefore: now + distance };
  return end(look, read, closed, deps, { result: 'started', name, sessionKey, hash });
}

/** The next parts of a session are sessions of their own, named after it. */
function asPart(session: Session, part: number): Session {
  if (part === 1) return session;
  const sessionId = `${session.sessionId}#part-${part}`;
  return { ...session, sessionId, traces: session.traces.map((trace) => ({ ...trace, sessionId })) };
}

const isEnding = (look: Look, read: SessionRecords): boolean => look.isAged || read.hasMore;

const settingsInput = (settings: AgentSettings): Pick<WorkflowInput, 'model' | 'options'> => ({
  ...(settings.model === null ? {} : { model: settings.model }),
  options: {
    depth: settings.depth,
    confidence: settings.confidence,
    votes: settings.votes,
    deepRule: settings.deepRule,
  },
});

/**
 * The name says which content of which session is diagnosed. An execution that has it with another input was started by
 * an earlier try of this very closing, before the agent's settings were changed: it stands.
 */
async function start(name: string, input: WorkflowInput, { workflow }: CloseDeps): Promise<void> {
  try {
    await workflow.start(name, input);
  } catch (error) {
    if (!(error instanceof ResultConflictError)) throw error;
  }
}

async function wait(
  { state }: Look,
  until: number,
  deps: CloseDeps,
  idleSeconds = state.idleSeconds,
): Promise<Closing> {
  // If the due time has moved meanwhile, somebody else will look.
  if (state.dueAt !== null)
    await deps.index.postpone(state.sessionId, state.dueAt, { dueAt: until, hints: 0, idleSeconds });
  return { result: 'waiting', until };
}

/** Writes the end, or waits on if something arrived while we were reading. */
async function end(
  look: Look,
  read: SessionRecords,
  closing: Partial<ClosedAs>,
  deps: CloseDeps,
  started?: Closing,
): Promise<Closing> {
  const { state, now } = look;
  const written: ClosedAs = {
    closedAt: now,
    closedHash: closing.closedHash ?? null,
    diagnoses: closing.diagnoses ?? state.diagnoses,
    notBefore: closing.notBefore ?? state.notBefore,
    ownedBy: closing.ownedBy ?? null,
    skipped: closing.skipped ?? null,
  };
  const again = now + deps.shortestIdleSeconds * 1000;
  if (isEnding(look, read) && written.ownedBy === null) {
    const more = { dueAt: read.hasMore ? now : again, more: read.hasMore };
    await beginPartEnd(state, read.deliveries, deps.objects);
    await deps.index.endPart(state, { closedAt: now, skipped: written.skipped, ...more });
  } else if (!(await deps.index.markClosed(state.sessionId, state, written))) return wait(look, again, deps);
  if (started !== undefined) return started;
  if (written.ownedBy !== null) return { result: 'handed-over', to: written.ownedBy };
  if (written.closedHash !== null && written.closedHash === state.closedHash)
    return { result: 'unchanged', hash: written.closedHash };
  return { result: 'skipped', reason: written.skipped ?? '' };
}

/**
 * Traces turned out to belong, whole or in part, to other sessions. Where a record named such a session, ingest linked
 * the trace and touched the session after the record was stored, so its closing sees everything. It must look again
 * only if it does not know one of its traces, or if this session heard of records after it did.
 */
async function wake(look: Look, owners: readonly Session[], deps: CloseDeps): Promise<void> {
  const { lastSeen, lastBatch } = look.state;
  for (const owner of owners) {
    const known = new Set(await deps.index.tracesOfSession(owner.sessionId));
    const news = owner.traces.map(({ traceId }) => traceId).filter((traceId) => !known.has(traceId));
    const heard = (await deps.index.state(owner.sessionId))?.lastSeen ?? Number.NEGATIVE_INFINITY;
    if (news.length === 0 && heard >= lastSeen) continue;
    // Touched before linked: afterwards the traces are no news, and a retry would not know that it has to.
    const idleSeconds = deps.shortestIdleSeconds;
    await touchSession(
      owner.sessionId,
      { at: look.now, batch: lastBatch },
      { index: deps.index, idleSeconds },
    );
    for (const traceId of news) await deps.index.link(traceId, owner.sessionId);
  }
}

const NOTHING_READ: SessionRecords = { traces: [], records: [], deliveries: [], hasMore: false };

/** What was read and the sessions made of it, or the name of the error that forbids it. */
async function readOrRefuse(
  { state, now }: Look,
  deps: CloseDeps,
): Promise<{
  readonly read: SessionRecords;
  readonly sessions: readonly Session[];
  readonly refused: string | null;
}> {
  const { sessionId, part, lastBatch } = state;
  try {
    const read = await readSessionRecords(state, deps);
    const inherited = part > 1 ? await namedBefore(sessionId, read.traces, deps) : new Map<string, string>();
    return { read, sessions: assembleSessions(read.records, { inherited }).sessions, refused: null };
  } catch (error) {
    if (!(error instanceof RootspanError) || error.fault !== 'input') throw error;
    await deps.failures.record({
      sessionId,
      sessionKey: null,
      // No execution was started; a name of the same kind, by what the look saw.
      executionName: executionName(sessionId, 0, sha256Hex(`refused ${lastBatch}`)),
      errorName: error.name,
      message: error.message,
      at: new Date(now).toISOString(),
    });
    return { read: NOTHING_READ, sessions: [], refused: error.name };
  }
}

/** The record that names a trace's session may stand in an ended part: the index knows it still. */
async function namedBefore(
  sessionId: string,
  traces: readonly string[],
  { index }: CloseDeps,
): Promise<Map<string, string>> {
  const named = new Map<string, string>();
  for (const traceId of traces) {
    const owners = (await index.sessionsOfTrace(traceId)).filter((id) => id !== traceId);
    if (owners.length === 1 && owners[0] === sessionId) named.set(traceId, sessionId);
  }
  return named;
}

/** The same session is always in or always out, whatever its version. */
function isSampled(sessionId: string, share: number): boolean {
  return Number.parseInt(sha256Hex(`sample:${sessionId}`).slice(0, 8), 16) < share * 0x1_0000_0000;
}
