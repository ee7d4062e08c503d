import type { Clock } from '../base/clock.ts';
import {
  MAX_TIMER_SECONDS,
  type SessionIndex,
  type SessionState,
  type TimerQueue,
  type WorkflowStarter,
} from '../ports/ingest-ports.ts';
import { nextLook } from './close-session.ts';
import { completeAll } from './complete-all.ts';

export interface SweepDeps {
  readonly index: Pick<SessionIndex, 'due' | 'postpone'>;
  readonly timers: TimerQueue;
  readonly workflow: Pick<WorkflowStarter, 'running'>;
  readonly clock: Clock;
  readonly shortestIdleSeconds: number;
  readonly maxAgeSeconds: number;
  /** Diagnoses that may run at the same time; what is due beyond them waits in the index. */
  readonly maxRunning: number;
}

export interface SweepReport {
  /** Sessions found, those of them told to close-session, and those that wait because enough is running. */
  readonly due: number;
  readonly sent: number;
  readonly held: number;
  /** How long the oldest of those held has been due, seconds. */
  readonly oldestHeldSeconds: number;
}

/** The schedule's period: what falls due within it is sent now, with the rest as its delay. */
const AHEAD_MS = 60_000;
/** A hint that nothing came of is sent again after a quarter of an hour, then after twice as long, up to a day. */
const FIRST_LEASE_MS = 15 * 60_000;
const MAX_LEASE_MS = 24 * 3_600_000;

/**
 * Finds the sessions that are due and hints at them, oldest first, as many as may run. The due time of a session that
 * was hinted at moves on, so that a lost hint, a crash or a dead letter costs time and never the session. Two sweeps at
 * once send each hint once.
 */
export async function sweep(deps: SweepDeps): Promise<SweepReport> {
  const { index, timers, workflow, clock } = deps;
  const now = clock.now();
  const free = Math.max(0, deps.maxRunning - (await workflow.running()) - (await timers.backlog()));
  const found: SessionState[] = [];
  for await (const state of index.due(now + AHEAD_MS)) found.push(state);
  const silent: SessionState[] = [];
  await completeAll(found, async (state) => {
    const later = nextLook(state, state.idleSeconds ?? deps.shortestIdleSeconds, deps.maxAgeSeconds);
    if (later <= now + AHEAD_MS) silent.push(state);
    // Still speaking: nobody needs to be told.
    else if (state.dueAt !== null)
      await index.postpone(state.sessionId, state.dueAt, { ...state, dueAt: later, hints: 0 });
  });
  silent.sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0));
  let sent = 0;
  await completeAll(silent.slice(0, free), async ({ sessionId, dueAt, hints, idleSeconds }) => {
    if (dueAt === null) return;
    const lease = Math.min(FIRST_LEASE_MS * 2 ** hints, MAX_LEASE_MS);
    const to = { dueAt: Math.max(now, dueAt) + lease, hints: hints + 1, idleSeconds };
    if (!(await index.postpone(sessionId, dueAt, to))) return;
    const delay = Math.ceil(Math.max(0, dueAt - now) / 1000);
    await timers.arm({ sessionId }, Math.min(delay, MAX_TIMER_SECONDS));
    sent += 1;
  });
  const waiting = silent.slice(free);
  const oldest = waiting[0]?.dueAt ?? now;
  return {
    due: found.length,
    sent,
    held: waiting.length,
    oldestHeldSeconds: Math.max(0, Math.round((now - oldest) / 1000)),
  };
}
