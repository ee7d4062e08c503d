import type { Feedback } from '../diagnosis/feedback.ts';
import type { Issue, IssueChange, IssueState } from '../diagnosis/issue.ts';
import type { Diagnosis, Fault } from '../diagnosis/schema.ts';
import type { DiagnosisSummary } from '../diagnosis/summary.ts';

/**
 * Blobs by key: S3 in the account, a folder locally. Keys are `/`-separated, without a leading slash.
 * Values are bytes; compression is the caller's business (`.gz` in the key says so).
 */
export interface ObjectStore {
  /** Writes only if the key is free. Returns false, without touching the old value, when it is taken. */
  putIfAbsent(key: string, bytes: Uint8Array): Promise<boolean>;
  /** Writes or replaces. Only for keys whose content derives from the key (caches, executions). */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** `null` when there is no such key; throws on every other trouble. */
  get(key: string): Promise<Uint8Array | null>;
  /** All keys with the prefix, in lexical order. */
  list(prefix: string): AsyncIterable<string>;
}

/** A page of results; `next` is opaque and absent on the last page. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

/**
 * Where diagnoses live: DynamoDB in the account, SQLite locally, the same code over both.
 * Writes are conditional single-item writes; the same diagnosis written twice changes nothing.
 */
export interface DiagnosisStore {
  /**
   * Stores a new version (or finds the identical one); returns the version it has, and what it did to issues (the
   * same again for the same diagnosis). ResultConflictError if the id is taken
   * by other content. `closing` is the number of the session's closing: the latest diagnosis is that of the highest,
   * whenever it was written. Without one it counts as of the newest content that is known.
   */
  put(
    diagnosis: Diagnosis,
    closing?: number,
  ): Promise<{ version: number; created: boolean; issues: readonly IssueChange[] }>;
  /** Without the findings whose issues people rejected; what is left out is named in it. To be asked before `put`. */
  withoutRejected(diagnosis: Diagnosis): Promise<Diagnosis>;
  /** Keeps what a person said of a failure, the last word for each; returns the issues that it is said of. */
  giveFeedback(diagnosis: Diagnosis, feedback: Feedback): Promise<readonly string[]>;
  latest(sessionId: string): Promise<Diagnosis | null>;
  version(sessionId: string, version: number): Promise<Diagnosis | null>;
  versions(sessionId: string): Promise<readonly DiagnosisSummary[]>;
  /**
   * Newest first. The first filter given, in the order issue, agent, service, outcome, category (an id or a parent), chooses the
   * list that is read; the others narrow it while reading. Without one of these, all diagnoses are read.
   */
  recent(query: {
    agent?: string;
    service?: string;
    outcome?: Diagnosis['outcome'];
    category?: string;
    model?: string;
    issue?: string;
    since?: string;
    limit?: number;
    next?: string;
  }): Promise<Page<DiagnosisSummary>>;
}

/** Faults across sessions. Diagnoses write them; people change their state. */
export interface IssueStore {
  /** The id of the issue that a fault belongs to; the same each time. Makes the issue's place if it is a new one. */
  issueOf(fault: Pick<Fault, 'site' | 'fingerprint' | 'words'>): Promise<string>;
  get(issue: string): Promise<Issue | null>;
  /** Last seen first. */
  list(state: IssueState, limit: number, agent?: string): Promise<readonly Issue[]>;
  /** `null` when there is no such issue. */
  setState(issue: string, state: 'open' | 'resolved' | 'muted'): Promise<Issue | null>;
}

/** An execution that ended in a fault: its session has no diagnosis from it. */
export interface ExecutionFailure {
  readonly sessionId: string;
  readonly sessionKey: string | null;
  readonly executionName: string;
  readonly errorName: string;
  readonly message: string;
  /** ISO time. */
  readonly at: string;
}

export interface FailureLog {
  /** Writes or replaces the row of this execution. */
  record(failure: ExecutionFailure): Promise<void>;
  ofSession(sessionId: string): Promise<readonly ExecutionFailure[]>;
}

/** A limit in USD that many callers share. Amounts are millionths of a dollar, whole numbers, so that sums are exact. */
export interface Budget {
  /** Holds the amount back. False, and nothing is held, when it would exceed the limit. */
  reserve(microUsd: number): Promise<boolean>;
  /** Replaces what was held back by what it came to. */
  settle(heldMicroUsd: number, spentMicroUsd: number): Promise<void>;
}
