import { canonicalJson } from '../../core/base/hash.ts';
import { ResultConflictError } from '../../core/errors/errors.ts';
import type { SessionIndex, SessionState, WorkflowStarter } from '../../core/ports/ingest-ports.ts';
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

  async touch(sessionId: string, { at, batch }: { at: number; batch: string }): Promise<SessionState> {
    const old = this.states.get(sessionId);
    const state: SessionState = {
      ...(old ?? {
        sessionId,
        firstSeen: at,
        timer: null,
        closedAt: null,
        closedHash: null,
        closings: 0,
        ownedBy: null,
        skipped: null,
      }),
      lastSeen: Math.max(old?.lastSeen ?? at, at),
      lastBatch: batch,
      open: true,
    };
    this.states.set(sessionId, state);
    return state;
  }

  async markArmed(sessionId: string, token: string): Promise<void> {
    const state = this.states.get(sessionId);
    if (state !== undefined && state.timer === null) this.states.set(sessionId, { ...state, timer: token });
  }

  async state(sessionId: string): Promise<SessionState | null> {
    return this.states.get(sessionId) ?? null;
  }

  async markClosed(
    sessionId: string,
    seen: Pick<SessionState, 'lastSeen' | 'lastBatch'>,
    closing: Pick<SessionState, 'closedAt' | 'closedHash' | 'closings' | 'ownedBy' | 'skipped'>,
  ): Promise<boolean> {
    const state = this.states.get(sessionId);
    if (state === undefined || state.lastSeen !== seen.lastSeen || state.lastBatch !== seen.lastBatch)
      return false;
    this.states.set(sessionId, { ...state, ...closing, open: false, timer: null });
    return true;
  }

  async *pending(): AsyncIterable<SessionState> {
    const armed = [...this.states.values()].filter((state) => state.timer !== null);
    yield* armed.sort((a, b) => a.lastSeen - b.lastSeen);
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
}

export class MemoryFailureLog implements Pick<FailureLog, 'record'> {
  readonly failures = new Map<string, ExecutionFailure>();

  async record(failure: ExecutionFailure): Promise<void> {
    this.failures.set(`${failure.sessionId} ${failure.executionName}`, failure);
  }
}
