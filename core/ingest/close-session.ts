import type { AgentSettings } from '../contracts/agent-settings.ts';
import { SessionTooLargeError } from '../contracts/errors.ts';
import { gunzipText, gzipJson } from '../contracts/gzip.ts';
import { canonicalJson, sha256Hex } from '../contracts/hash.ts';
import { MAX_TIMER_SECONDS, type SessionState, type WorkflowStarter } from '../contracts/ingest-ports.ts';
import { executionName, rawPrefix, sessionObjectKey } from '../contracts/object-keys.ts';
import type { ObjectStore } from '../contracts/ports.ts';
import type { RawRecord } from '../formats/format.ts';
import { assembleSessions } from '../session/assemble.ts';
import type { Session } from '../session/model.ts';
import { type IngestDeps, type StoredEvent, touchAndArm } from './store-events.ts';

export interface CloseDeps extends Pick<IngestDeps, 'objects' | 'index' | 'timers' | 'clock'> {
  readonly workflow: WorkflowStarter;
  /** Settings by agent name; `null` is an agent that telemetry does not name. */
  /** No agent's session is over sooner: reading a session only to find that it goes on is the expensive way. */
  readonly shortestIdleSeconds: number;
  readonly settingsFor: (agent: string | null) => AgentSettings;
}

export type Closing =
  | { readonly result: 'waiting'; readonly seconds: number }
  | { readonly result: 'unknown' }
  | { readonly result: 'unchanged'; readonly hash: string }
  | { readonly result: 'handed-over'; readonly to: string }
  | { readonly result: 'skipped'; readonly reason: string }
  | { readonly result: 'started'; readonly name: string; readonly sessionKey: string; readonly hash: string };

/** 1 GiB of raw text is beyond what a Lambda of 3 GB can assemble; such a session is refused by name, not half-read. */
export const MAX_SESSION_BYTES = 1024 * 1024 * 1024;
/** One stored event inflates to at most what one subscription payload can carry. */
const MAX_EVENT_BYTES = 64 * 1024 * 1024;

/**
 * A timer fired. If the session has been silent for its idle time: reads all its raw records, assembles, freezes
 * under the content hash and starts the diagnosis under the name derived from it. Otherwise waits on, in steps of
 * at most 900 s. Every step can be repeated: frozen objects are create-only, the execution name is the content,
 * and the end is only written if nothing arrived since.
 */
export async function closeSession(sessionId: string, deps: CloseDeps): Promise<Closing> {
  const state = await deps.index.state(sessionId);
  if (state === null) return { result: 'unknown' };
  const now = deps.clock.now();
  const early = waitSeconds(state, deps.shortestIdleSeconds, now);
  if (early > 0) return rearm(sessionId, early, deps);

  const session = await assemble(sessionId, deps);
  if (session === null) return endWithout(state, now, deps);
  if (session.owner !== sessionId) return handOver(state, session.owner, now, deps);

  const settings = deps.settingsFor(session.session.agent);
  const late = waitSeconds(state, settings.idleSeconds, now);
  if (late > 0) return rearm(sessionId, late, deps);

  const text = canonicalJson(session.session);
  const hash = sha256Hex(text);
  if (hash === state.closedHash) {
    return end(
      state,
      now,
      { closedHash: hash, closings: state.closings, ownedBy: null, skipped: state.skipped },
      deps,
      {
        result: 'unchanged',
        hash,
      },
    );
  }
  const key = sessionObjectKey(sessionId, hash);
  await deps.objects.putIfAbsent(key, await gzipJson(JSON.parse(text)));
  const closings = state.closings + 1;
  if (!sampled(sessionId, settings.sampling)) {
    const reason = 'sampled-out';
    return end(state, now, { closedHash: hash, closings, ownedBy: null, skipped: reason }, deps, {
      result: 'skipped',
      reason,
    });
  }
  const name = executionName(sessionId, hash);
  await deps.workflow.start(name, {
    sessionId,
    sessionKey: key,
    ...(settings.model === null ? {} : { model: settings.model }),
    options: {
      depth: settings.depth,
      confidence: settings.confidence,
      votes: settings.votes,
      deepRule: settings.deepRule,
    },
  });
  return end(state, now, { closedHash: hash, closings, ownedBy: null, skipped: null }, deps, {
    result: 'started',
    name,
    sessionKey: key,
    hash,
  });
}

const waitSeconds = (state: SessionState, idleSeconds: number, now: number): number =>
  Math.max(0, Math.ceil((state.lastSeen + idleSeconds * 1000 - now) / 1000));

async function rearm(sessionId: string, seconds: number, deps: CloseDeps): Promise<Closing> {
  const step = Math.min(seconds, MAX_TIMER_SECONDS);
  await deps.timers.arm(sessionId, step);
  return { result: 'waiting', seconds: step };
}

/** Writes the end, or waits on if something arrived while we were reading. */
async function end(
  state: SessionState,
  startedAt: number,
  closing: Pick<SessionState, 'closedHash' | 'closings' | 'ownedBy' | 'skipped'>,
  deps: CloseDeps,
  result: Closing,
): Promise<Closing> {
  const closed = await deps.index.markClosed(state.sessionId, state, { ...closing, closedAt: startedAt });
  return closed ? result : rearm(state.sessionId, deps.shortestIdleSeconds, deps);
}

/**
 * The traces turned out to belong to another session. Where a record named that session, ingest linked the trace
 * and touched the session after the record was stored, so its closing sees everything and need not wait longer.
 * Only a trace it does not know of yet makes it look again; touched before linked, so that a crash in between
 * repeats both.
 */
async function handOver(state: SessionState, owner: string, now: number, deps: CloseDeps): Promise<Closing> {
  const known = new Set(await deps.index.tracesOfSession(owner));
  const news = (await deps.index.tracesOfSession(state.sessionId)).filter((traceId) => !known.has(traceId));
  if (news.length > 0) {
    await touchAndArm(owner, state.lastEvent, { ...deps, idleSeconds: deps.shortestIdleSeconds });
    for (const traceId of news) await deps.index.link(traceId, owner);
  }
  return end(
    state,
    now,
    { closedHash: null, closings: state.closings, ownedBy: owner, skipped: null },
    deps,
    {
      result: 'handed-over',
      to: owner,
    },
  );
}

async function endWithout(state: SessionState, now: number, deps: CloseDeps): Promise<Closing> {
  const reason = 'no-spans';
  return end(
    state,
    now,
    { closedHash: null, closings: state.closings, ownedBy: null, skipped: reason },
    deps,
    {
      result: 'skipped',
      reason,
    },
  );
}

/** The session made of all records of its traces, or whose they are instead; `null` when they hold no span. */
async function assemble(
  sessionId: string,
  deps: CloseDeps,
): Promise<{ session: Session; owner: string } | null> {
  const records: RawRecord[] = [];
  let bytes = 0;
  for (const traceId of await deps.index.tracesOfSession(sessionId)) {
    for await (const stored of storedEvents(traceId, deps.objects)) {
      bytes += stored.bytes;
      if (bytes > MAX_SESSION_BYTES) {
        throw new SessionTooLargeError(
          `session ${sessionId} has more than ${MAX_SESSION_BYTES} bytes of raw records; ` +
            'its producer may be reusing one session id: give each conversation its own',
        );
      }
      for (const record of stored.event.records) records.push(record);
    }
  }
  const { sessions } = assembleSessions(records);
  const own = sessions.find((session) => session.sessionId === sessionId);
  if (own !== undefined) return { session: own, owner: sessionId };
  const other = sessions[0];
  return other === undefined ? null : { session: other, owner: other.sessionId };
}

export async function* storedEvents(
  traceId: string,
  objects: ObjectStore,
): AsyncIterable<{ event: StoredEvent; bytes: number }> {
  for await (const key of objects.list(rawPrefix(traceId))) {
    const bytes = await objects.get(key);
    if (bytes === null) continue;
    const text = await gunzipText(bytes, MAX_EVENT_BYTES);
    // Written by ourselves under a create-only key: trusted inside.
    yield { event: JSON.parse(text) as StoredEvent, bytes: text.length };
  }
}

/** The same session is always in or always out, whatever its version. */
function sampled(sessionId: string, share: number): boolean {
  return Number.parseInt(sha256Hex(`sample:${sessionId}`).slice(0, 8), 16) < share * 0x1_0000_0000;
}
