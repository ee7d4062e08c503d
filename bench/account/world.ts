import { DynamoSessionIndex } from '../../adapters/aws/dynamo-session-index.ts';
import { SqliteTable } from '../../adapters/local/sqlite-table.ts';
import { VirtualClock } from '../../adapters/local/virtual-clock.ts';
import { canonicalJson } from '../../core/base/hash.ts';
import { ResultConflictError } from '../../core/errors/errors.ts';
import { type CloseDeps, closeSession } from '../../core/ingest/close-session.ts';
import type { LogEvent } from '../../core/ingest/envelope.ts';
import { backoffSeconds } from '../../core/ingest/serve-queue.ts';
import { type IngestDeps, storeEvents } from '../../core/ingest/store-events.ts';
import { sweep } from '../../core/ingest/sweep.ts';
import { DEFAULT_MAX_AGE_SECONDS, DEFAULT_SETTINGS } from '../../core/ports/agent-settings.ts';
import type { TimerQueue } from '../../core/ports/ingest-ports.ts';
import type { ObjectStore } from '../../core/ports/ports.ts';
import type { WorkflowInput } from '../../core/ports/workflow.ts';
import { randomInt } from './seeded.ts';
import { type QueueRules, SimulatedQueue } from './simulated-queue.ts';

const MINUTE = 60_000;
export const START = 1_700_000_000_000;

/** Objects in memory. */
export class MemoryObjects implements ObjectStore {
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

export interface WorldRules {
  readonly idleSeconds: number;
  readonly queue: QueueRules;
  /** Clocks of the functions differ by up to so many milliseconds. */
  readonly skewMs: number;
}

export const AWS_RULES: QueueRules = {
  retentionDays: 14,
  visibilitySeconds: 3600,
  maxReceiveCount: 20,
  twicePercent: 5,
  throttledPercent: 10,
};

/** Called before each call of a port; throwing is a fault of it. */
export type Fault = (call: string) => void;

/** Ingest, sweeper and close-session over simulated queues, on a clock that is moved a minute or to the next event. */
export class World {
  readonly clock = new VirtualClock(START);
  readonly objects = new MemoryObjects();
  readonly table = new SqliteTable(null, { now: () => this.clock.now() });
  readonly started = new Map<string, WorkflowInput>();
  readonly deliveries: SimulatedQueue;
  readonly timers: SimulatedQueue;
  readonly calls = new Map<string, number>();
  /** Whether the next hint is lost on its way. */
  dropHint: () => boolean = () => false;
  fault: Fault = () => {};
  /** A function that failed or died is started anew. */
  revive: () => void = () => {};
  readonly #rules: WorldRules;
  readonly #bodies = new Map<string, readonly LogEvent[]>();
  #nextSweep = START;
  #served = 0;

  constructor(rules: WorldRules) {
    this.#rules = rules;
    this.timers = new SimulatedQueue(rules.queue);
    this.deliveries = new SimulatedQueue({ ...rules.queue, maxReceiveCount: 100, visibilitySeconds: 720 });
  }

  deliver(events: readonly LogEvent[]): void {
    const id = String(this.#bodies.size);
    this.#bodies.set(id, events);
    this.deliveries.send(id, this.clock.now(), 0, 1);
  }

  get deps(): IngestDeps & CloseDeps {
    const skew = this.#rules.skewMs === 0 ? 0 : randomInt(2 * this.#rules.skewMs) - this.#rules.skewMs;
    const clock = { now: () => this.clock.now() + skew };
    const { idleSeconds } = this.#rules;
    return {
      objects: this.#watched('objects', this.objects),
      index: this.#watched('index', new DynamoSessionIndex(this.table, clock, { retentionDays: null })),
      workflow: this.#watched('workflow', {
        start: (name: string, input: WorkflowInput) => this.#start(name, input),
      }),
      failures: this.#watched('failures', { record: async () => {} }),
      clock,
      idleSeconds,
      shortestIdleSeconds: idleSeconds,
      maxAgeSeconds: DEFAULT_MAX_AGE_SECONDS,
      isOwnLogGroup: () => false,
      settingsFor: () => ({ ...DEFAULT_SETTINGS, idleSeconds }),
    };
  }

  async #start(name: string, input: WorkflowInput): Promise<'started' | 'exists'> {
    const old = this.started.get(name);
    if (old !== undefined && canonicalJson(old) !== canonicalJson(input)) throw new ResultConflictError(name);
    this.started.set(name, input);
    return old === undefined ? 'started' : 'exists';
  }

  #watched<T extends object>(port: string, target: T): T {
    return new Proxy(target, {
      get: (object, name) => {
        const member: unknown = Reflect.get(object, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          const call = `${port}.${String(name)}`;
          this.calls.set(call, (this.calls.get(call) ?? 0) + 1);
          const act = (): unknown => Reflect.apply(member, object, args);
          if (['list', 'due', 'deferred'].includes(String(name))) {
            this.fault(call);
            return act();
          }
          return Promise.resolve().then(() => {
            this.fault(call);
            return act();
          });
        };
      },
    });
  }

  /** Lets the account work until then. */
  async runUntil(until: number): Promise<void> {
    while (this.clock.now() < until) {
      const next = Math.min(until, this.#nextSweep, this.timers.nextAt, this.deliveries.nextAt);
      this.clock.moveTo(Math.max(next, this.clock.now()));
      await this.step();
      if (next >= until) break;
    }
  }

  async step(): Promise<void> {
    const now = this.clock.now();
    await this.deliveries.serve(now, (body, received) =>
      this.#attempt(body, received, async () => {
        await storeEvents(this.#bodies.get(body) ?? [], [], this.deps);
      }),
    );
    if (now >= this.#nextSweep) {
      this.#nextSweep = now + MINUTE;
      // A sweep that fails is made up for by the next.
      await this.#attempt('sweep', 1, () => this.#sweep());
    }
    await this.timers.serve(now, (body, received) =>
      this.#attempt(body, received, async () => {
        await closeSession(body, this.deps);
      }),
    );
  }

  async #sweep(): Promise<void> {
    const hints: Pick<TimerQueue, 'arm' | 'backlog'> = {
      // Sent by the schedule: each hint begins a chain of its own.
      arm: async ({ sessionId }, delay) => {
        if (!this.dropHint()) this.timers.send(sessionId, this.clock.now(), delay, 1);
      },
      backlog: async () => this.timers.size,
    };
    await sweep({ ...this.deps, timers: hints, workflow: { running: async () => 0 }, maxRunning: 1_000_000 });
  }

  async #attempt(body: string, received: number, work: () => Promise<void>): Promise<number | null> {
    this.#served += 1;
    try {
      await work();
      return null;
    } catch {
      // Whatever it was, the queue has it again.
      this.revive();
      return backoffSeconds(`${body} ${this.#served}`, received);
    }
  }
}
