import * as z from 'zod';
import type { WorkflowInput } from './workflow.ts';

/**
 * Ports of the way in: from a log event to a frozen session. Every write behind them is a conditional single-item
 * write or a create-only object, so that a duplicate event, batch or timer changes nothing.
 */

/** What the index knows of one session (or of a trace that has not named its session: then the id is the trace id). */
export interface SessionState {
  readonly sessionId: string;
  /** Arrival clock, ms: when its first and its newest record came in. */
  readonly firstSeen: number;
  readonly lastSeen: number;
  /** Hash of the newest arrival; with `lastSeen` it tells whether anything came in between. */
  readonly lastBatch: string;
  /** Something arrived that no closing has read. */
  readonly open: boolean;
  /** Token of the timer that is on its way; `null` when none is. Timers with another token are spare. */
  readonly timer: string | null;
  /** Arrival clock, ms, at which the last closing began to read; everything that arrived before is in it. */
  readonly closedAt: number | null;
  /** Content hash of the last closed form; `null` before the first, or when it was given to another session. */
  readonly closedHash: string | null;
  /** How often different content was closed. */
  readonly closings: number;
  /** Set when its traces turned out to belong to another session; its diagnoses count as superseded. */
  readonly ownedBy: string | null;
  /** Why the last closing started no diagnosis: `sampled-out`, `no-spans`, …; `null` when it started one. */
  readonly skipped: string | null;
}

export interface SessionIndex {
  /**
   * Links a trace to a session; both directions become readable, that of `sessionsOfTrace` last. Writing the same
   * link again changes nothing.
   */
  link(traceId: string, sessionId: string): Promise<void>;
  sessionsOfTrace(traceId: string): Promise<readonly string[]>;
  tracesOfSession(sessionId: string): Promise<readonly string[]>;
  /**
   * A record arrived: `open` is set, `firstSeen` is set once, `lastSeen` only moves forward. Returns the state after
   * the write.
   */
  touch(sessionId: string, arrival: { readonly at: number; readonly batch: string }): Promise<SessionState>;
  /** The timer with this token is on its way. Changes nothing when another one already is. */
  markArmed(sessionId: string, token: string): Promise<void>;
  state(sessionId: string): Promise<SessionState | null>;
  /**
   * Ends a closing, only if nothing arrived since `seen` was read: no longer open, no timer. Returns false, having
   * written nothing, if something did: the caller waits again.
   */
  markClosed(
    sessionId: string,
    seen: Pick<SessionState, 'lastSeen' | 'lastBatch'>,
    closing: Pick<SessionState, 'closedAt' | 'closedHash' | 'closings' | 'ownedBy' | 'skipped'>,
  ): Promise<boolean>;
  /** Sessions with a timer on its way, oldest arrival first. */
  pending(): AsyncIterable<SessionState>;
}

/** What a timer carries. */
export const timerSchema = z.object({
  sessionId: z.string().min(1),
  token: z.string().min(1),
  /** Idle time of the session's agent, once a look at the session has found it out; seconds. */
  idleSeconds: z.number().positive().optional(),
});
export type Timer = z.infer<typeof timerSchema>;

/** The idle timer. SQS in the account: at most 900 seconds of delay, so long waits go in steps. */
export interface TimerQueue {
  /** RangeError when the delay is not a whole number of seconds from 0 to MAX_TIMER_SECONDS. */
  arm(timer: Timer, delaySeconds: number): Promise<void>;
}

/** Starts the diagnosis. The name derives from the content, so that a duplicate starts nothing. */
export interface WorkflowStarter {
  /** `exists` only when the running or closed execution of that name has the same input; else ResultConflictError. */
  start(name: string, input: WorkflowInput): Promise<'started' | 'exists'>;
}

/** SQS: DelaySeconds is 0–900. */
export const MAX_TIMER_SECONDS = 900;

export function checkTimerDelay(seconds: number): void {
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= MAX_TIMER_SECONDS) return;
  throw new RangeError(
    `DelaySeconds ${seconds}: a timer takes whole seconds from 0 to ${MAX_TIMER_SECONDS}; go in steps`,
  );
}
