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
  readonly lastEvent: string;
  /** A timer message is on its way. */
  readonly armed: boolean;
  /** Arrival clock, ms, at which the last closing began to read; everything that arrived before is in it. */
  readonly closedAt: number | null;
  /** Content hash of the last frozen form; `null` before the first, or when it was given to another session. */
  readonly closedHash: string | null;
  /** How often different content was frozen. */
  readonly closings: number;
  /** Set when its traces turned out to belong to another session. */
  readonly ownedBy: string | null;
  /** Why the last closing started no diagnosis: `sampled-out`, `no-spans`, …; `null` when it started one. */
  readonly skipped: string | null;
}

export interface SessionIndex {
  /** Links a trace to a session; both directions become readable. Writing the same link again changes nothing. */
  link(traceId: string, sessionId: string): Promise<void>;
  sessionsOfTrace(traceId: string): Promise<readonly string[]>;
  tracesOfSession(sessionId: string): Promise<readonly string[]>;
  /**
   * A record arrived: `firstSeen` is set once, `lastSeen` only moves forward. Returns the state after the write.
   */
  touch(sessionId: string, arrival: { readonly at: number; readonly event: string }): Promise<SessionState>;
  markArmed(sessionId: string): Promise<void>;
  state(sessionId: string): Promise<SessionState | null>;
  /**
   * Ends a closing, only if nothing arrived since `seen` was read. Returns false, having written nothing, if
   * something did: the caller waits again.
   */
  markClosed(
    sessionId: string,
    seen: Pick<SessionState, 'lastSeen' | 'lastEvent'>,
    closing: Pick<SessionState, 'closedAt' | 'closedHash' | 'closings' | 'ownedBy' | 'skipped'>,
  ): Promise<boolean>;
  /** Sessions with a timer on its way, oldest arrival first. */
  pending(): AsyncIterable<SessionState>;
}

/** The idle timer. SQS in the account: at most 900 seconds of delay, so long waits go in steps. */
export interface TimerQueue {
  arm(sessionId: string, delaySeconds: number): Promise<void>;
}

/** Starts the diagnosis. The name derives from the content, so that a duplicate starts nothing. */
export interface WorkflowStarter {
  /** `exists` only when the running or closed execution of that name has the same input; else ResultConflictError. */
  start(name: string, input: WorkflowInput): Promise<'started' | 'exists'>;
}

/** SQS: DelaySeconds is 0–900. */
export const MAX_TIMER_SECONDS = 900;
