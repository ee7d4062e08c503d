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
  /** Arrival clock, ms, when somebody must look at it next; `null` when it is closed. The truth: timers are hints. */
  readonly dueAt: number | null;
  /** Hints sent since the last look: each is waited for twice as long as the one before. */
  readonly hints: number;
  /** Idle time of the session's agent, seconds, once a look has found it out; `null` before. */
  readonly idleSeconds: number | null;
  /** Which part of the session is being collected, from 1, and since when (ms; `null`: nothing of it has arrived). */
  readonly part: number;
  readonly partSince: number | null;
  /** Arrival clock, ms, at which the last closing began to read; everything that arrived before is in it. */
  readonly closedAt: number | null;
  /** Content hash of the last closed form; `null` before the first, or when it was given to another session. */
  readonly closedHash: string | null;
  /** Number of the newest closing: rises with each different content, and is what orders diagnoses. */
  readonly closings: number;
  /** Content hash to which the number in `closings` was given. */
  readonly claimedHash: string | null;
  /** Diagnoses started for this part, and the moment before which no further one is, ms. */
  readonly diagnoses: number;
  readonly notBefore: number | null;
  /** Set when its traces turned out to belong to another session; its diagnoses count as superseded. */
  readonly ownedBy: string | null;
  /** Why the last closing started no diagnosis: `sampled-out`, `no-spans`, …; `null` when it started one. */
  readonly skipped: string | null;
}

/** What a closing writes down. */
export type ClosedAs = Pick<
  SessionState,
  'closedAt' | 'closedHash' | 'diagnoses' | 'notBefore' | 'ownedBy' | 'skipped'
>;

export interface SessionIndex {
  /**
   * Links a trace to a session; both directions become readable, that of `sessionsOfTrace` last. Writing the same
   * link again changes nothing.
   */
  link(traceId: string, sessionId: string): Promise<void>;
  sessionsOfTrace(traceId: string): Promise<readonly string[]>;
  tracesOfSession(sessionId: string): Promise<readonly string[]>;
  /** Keeps a delivery of a trace aside for a few days, under the hash of its events. */
  defer(traceId: string, delivery: { readonly hash: string; readonly bytes: Uint8Array }): Promise<void>;
  deferred(traceId: string): AsyncIterable<{ readonly hash: string; readonly bytes: Uint8Array }>;
  /**
   * A record arrived: `open` is set, `firstSeen` is set once, `lastSeen` only moves forward; `dueAt` is set if the
   * session had none. Returns the state after the write.
   */
  touch(
    sessionId: string,
    arrival: { readonly at: number; readonly batch: string; readonly dueAt: number },
  ): Promise<SessionState>;
  state(sessionId: string): Promise<SessionState | null>;
  /** Moves the due time, only if it is still `seen`. False, having written nothing, when it is not. */
  postpone(
    sessionId: string,
    seen: number,
    to: { readonly dueAt: number; readonly hints: number; readonly idleSeconds: number | null },
  ): Promise<boolean>;
  /** Gives the closing number after `seen` to a content. False when somebody else did: look again. */
  claim(sessionId: string, seen: number, hash: string): Promise<boolean>;
  /**
   * Ends a closing, only if nothing arrived since `seen` was read: no longer open, not due. Returns false, having
   * written nothing, if something did: the caller waits again.
   */
  markClosed(
    sessionId: string,
    seen: Pick<SessionState, 'lastSeen' | 'lastBatch'>,
    closing: ClosedAs,
  ): Promise<boolean>;
  /**
   * Ends the part that `seen` is in: what comes next belongs to the next part, which is closed until something comes,
   * or due at `dueAt` if something already came. Changes nothing when the part has been ended.
   */
  endPart(
    seen: Pick<SessionState, 'sessionId' | 'part' | 'lastSeen' | 'lastBatch'>,
    closing: Pick<ClosedAs, 'closedAt' | 'skipped'> & { readonly dueAt: number; readonly more: boolean },
  ): Promise<void>;
  /** Open sessions due by `until` (ms), in no order. May lag behind: what it tells is checked by the write. */
  due(until: number): AsyncIterable<SessionState>;
}

/** What a timer carries: only whose turn it is, because all else is in the index and may have changed. */
export const timerSchema = z.object({ sessionId: z.string().min(1) });
export type Timer = z.infer<typeof timerSchema>;

/** Hints that a session is due. One that is lost is sent again by the sweeper. SQS in the account. */
export interface TimerQueue {
  /** RangeError when the delay is not a whole number of seconds from 0 to MAX_TIMER_SECONDS. */
  arm(timer: Timer, delaySeconds: number): Promise<void>;
  /** Hints that nobody has dealt with yet, about. */
  backlog(): Promise<number>;
}

/** Starts the diagnosis. The name derives from the closing, so that a duplicate starts nothing. */
export interface WorkflowStarter {
  /** `exists` only when the running or closed execution of that name has the same input; else ResultConflictError. */
  start(name: string, input: WorkflowInput): Promise<'started' | 'exists'>;
  /** Executions that have not ended, about; counted to 1,000. */
  running(): Promise<number>;
}

/** SQS: DelaySeconds is 0–900. */
export const MAX_TIMER_SECONDS = 900;

export function checkTimerDelay(seconds: number): void {
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= MAX_TIMER_SECONDS) return;
  throw new RangeError(
    `DelaySeconds ${seconds}: a timer takes whole seconds from 0 to ${MAX_TIMER_SECONDS}; go in steps`,
  );
}
