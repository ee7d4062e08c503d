import { canonicalJson } from '../../core/base/hash.ts';
import { ResultConflictError } from '../../core/errors/errors.ts';
import type { ClosedAs, SessionIndex, SessionState, WorkflowStarter } from '../../core/ports/ingest-ports.ts';
import type { ExecutionFailure, FailureLog, ObjectStore } from '../../core/ports/ports.ts';
import type { WorkflowInput } from '../../core/ports/workflow.ts';

/** Doubles of the ingest ports, held to the same contract suites as the real adapters. */

export class MemoryObjectStore implements ObjectStore {
  readonly objects = new Map<string, Uint8Array>();

  async putIfAbsent(key: string, bytes: Uint8Array): Promise<boolean> {
    if (this.objects.has(key)) return false;
    this.objects.set(key, bytes);
    return true;
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    this.objects.set(key, bytes);
  }

  async get(key: string): Promise<Uint8Array | null> {
    return this.objects.get(key) ?? null;
  }

  async *list(prefix: string): AsyncIterable<string> {
    yield* [...this.objects.keys()].filter((key) => key.startsWith(prefix)).sort();
  }
}

export class MemorySessionIndex implements SessionIndex {
  readonly states = new Map<string, SessionState>();
  readonly ofTrace = new Map<string, Set<string>>();
  readonly ofSession = new Map<string, Set<string>>();

  async link(traceId: string, sessionId: string): Promise<void> {
    this.ofSession.set(sessionId, (this.ofSession.get(sessionId) ?? new Set()).add(traceId));
    this.ofTrace.set(traceId, (this.ofTrace.get(traceId) ?? new Set()).add(sessionId));
  }

  async sessionsOfTrace(traceId: string): Promise<readonly string[]> {
    return [...(this.ofTrace.get(traceId) ?? [])].sort();
  }

  async tracesOfSession(sessionId: string): Promise<readonly string[]> {
    return [...(this.ofSession.get(sessionId) ?? [])].sort();
  }

  readonly aside = new Map<string, Map<string, Uint8Array>>();

  async defer(traceId: string, { hash, bytes }: { hash: string; bytes: Uint8Array }): Promise<void> {
    this.aside.set(traceId, (this.aside.get(traceId) ?? new Map<string, Uint8Array>()).set(hash, bytes));
  }

  async *deferred(traceId: string): AsyncIterable<{ hash: string; bytes: Uint8Array }> {
    for (const [hash, bytes] of this.aside.get(traceId) ?? []) yield { hash, bytes };
  }

  async touch(
    sessionId: string,
    arrival: { at: number; batch: string; dueAt: number },
  ): Promise<SessionState> {
    const { at, batch, dueAt } = arrival;
    const old = this.states.get(sessionId);
    const state: SessionState = {
      ...(old ?? {
        sessionId,
        firstSeen: at,
        hints: 0,
        idleSeconds: null,
        part: 1,
        closedAt: null,
        closedHash: null,
        closings: 0,
        claimedHash: null,
        diagnoses: 0,
        notBefore: null,
        ownedBy: null,
        skipped: null,
      }),
      dueAt: old?.dueAt ?? dueAt,
      partSince: old?.partSince ?? at,
      lastSeen: Math.max(old?.lastSeen ?? at, at),
      lastBatch: batch,
      open: true,
    };
    this.states.set(sessionId, state);
    return state;
  }

  async state(sessionId: string): Promise<SessionState | null> {
    return this.states.get(sessionId) ?? null;
  }

  /** Writes only if the session is there and as expected. */
  #change(
    sessionId: string,
    expected: Partial<SessionState>,
    to: (state: SessionState) => Partial<SessionState>,
  ): boolean {
    const state = this.states.get(sessionId);
    if (state === undefined) return false;
    for (const [name, value] of Object.entries(expected))
      if (state[name as keyof SessionState] !== value) return false;
    this.states.set(sessionId, { ...state, ...to(state) });
    return true;
  }

  async postpone(
    sessionId: string,
    seen: number,
    { dueAt, hints, idleSeconds }: { dueAt: number; hints: number; idleSeconds: number | null },
  ): Promise<boolean> {
    return this.#change(sessionId, { dueAt: seen }, (state) => ({
      dueAt,
      hints,
      idleSeconds: idleSeconds ?? state.idleSeconds,
    }));
  }

  async claim(sessionId: string, seen: number, hash: string): Promise<boolean> {
    return this.#change(sessionId, { closings: seen }, () => ({ closings: seen + 1, claimedHash: hash }));
  }

  async markClosed(
    sessionId: string,
    { lastSeen, lastBatch }: Pick<SessionState, 'lastSeen' | 'lastBatch'>,
    closing: ClosedAs,
  ): Promise<boolean> {
    const shut = { open: false, dueAt: null, hints: 0, idleSeconds: null };
    return this.#change(sessionId, { lastSeen, lastBatch }, () => ({ ...closing, ...shut }));
  }

  async endPart(
    {
      sessionId,
      part,
      lastSeen,
      lastBatch,
    }: Pick<SessionState, 'sessionId' | 'part' | 'lastSeen' | 'lastBatch'>,
    {
      closedAt,
      skipped,
      dueAt,
      more,
    }: { closedAt: number | null; skipped: string | null; dueAt: number; more: boolean },
  ): Promise<void> {
    const fresh = { closedHash: null, claimedHash: null, diagnoses: 0, notBefore: null, ownedBy: null };
    const ended = { ...fresh, closedAt, skipped, part: part + 1, hints: 0 };
    const shut = { open: false, dueAt: null, idleSeconds: null, partSince: null };
    if (!more && this.#change(sessionId, { part, lastSeen, lastBatch }, () => ({ ...ended, ...shut })))
      return;
    this.#change(sessionId, { part }, () => ({ ...ended, partSince: closedAt, dueAt }));
  }

  async *due(until: number): AsyncIterable<SessionState> {
    for (const state of [...this.states.values()])
      if (state.dueAt !== null && state.dueAt <= until) yield state;
  }
}

export class MemoryWorkflowStarter implements WorkflowStarter {
  readonly started = new Map<string, WorkflowInput>();

  async start(name: string, input: WorkflowInput): Promise<'started' | 'exists'> {
    const old = this.started.get(name);
    if (old === undefined) {
      this.started.set(name, structuredClone(input));
      return 'started';
    }
    if (canonicalJson(old) === canonicalJson(input)) return 'exists';
    throw new ResultConflictError(`execution ${name} exists with another input`);
  }

  /** The double runs nothing: what was started has ended. */
  async running(): Promise<number> {
    return 0;
  }
}

export class MemoryFailureLog implements Pick<FailureLog, 'record'> {
  readonly failures = new Map<string, ExecutionFailure>();

  async record(failure: ExecutionFailure): Promise<void> {
    this.failures.set(`${failure.sessionId} ${failure.executionName}`, failure);
  }
}
