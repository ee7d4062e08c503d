import { LocalTimerQueue } from '../../adapters/local/local-timer-queue.ts';
import { VirtualClock } from '../../adapters/local/virtual-clock.ts';
import { type CloseDeps, type Closing, closeSession } from '../../core/ingest/close-session.ts';
import type { LogEvent } from '../../core/ingest/envelope.ts';
import type { IngestDeps, IngestReport } from '../../core/ingest/store-events.ts';
import { type AgentSettings, DEFAULT_SETTINGS } from '../../core/ports/agent-settings.ts';
import type { Timer } from '../../core/ports/ingest-ports.ts';
import { makeIngestHandler } from '../../lambdas/ingest/handler.ts';
import { envelopes } from './log-events.ts';
import {
  MemoryFailureLog,
  MemoryObjectStore,
  MemorySessionIndex,
  MemoryWorkflowStarter,
} from './memory-ports.ts';

export const START = 1_700_000_000_000;

/** Called before each port call; throwing stands for a Lambda that dies there. */
export type Trap = (port: string, when: 'before' | 'after') => void;

/** The way in over doubles of its ports and a clock that only jumps. */
export class LocalIngest {
  readonly clock = new VirtualClock(START);
  readonly objects = new MemoryObjectStore();
  readonly index = new MemorySessionIndex();
  readonly timers = new LocalTimerQueue(this.clock);
  readonly workflow = new MemoryWorkflowStarter();
  readonly failures = new MemoryFailureLog();
  readonly closings: { readonly timer: Timer; readonly closing: Closing }[] = [];
  settings: Partial<AgentSettings> = {};
  idleSeconds = DEFAULT_SETTINGS.idleSeconds;
  /** Delivers what follows through these ports. */
  trap: Trap | null = null;
  /** Awaited before each port call: whoever holds it decides who goes on. */
  pause: ((port: string) => Promise<void>) | null = null;

  get deps(): IngestDeps & CloseDeps {
    const { clock } = this;
    const ports = {
      objects: this.objects,
      index: this.index,
      timers: this.timers,
      workflow: this.workflow,
      failures: this.failures,
    };
    const { trap, pause } = this;
    return {
      ...(trap === null && pause === null ? ports : trapped(ports, trap, pause)),
      clock,
      idleSeconds: this.idleSeconds,
      shortestIdleSeconds: this.idleSeconds,
      isOwnLogGroup: (group) => group.startsWith('/rootspan/'),
      settingsFor: () => ({ ...DEFAULT_SETTINGS, idleSeconds: this.idleSeconds, ...this.settings }),
    };
  }

  /** One invocation an envelope. */
  async deliver(events: readonly LogEvent[]): Promise<IngestReport[]> {
    const reports: IngestReport[] = [];
    for (const envelope of envelopes(events)) reports.push(await makeIngestHandler(this.deps)(envelope));
    return reports;
  }

  /** Lets time run until no timer is left (or none is due by then). */
  async settle(until?: number): Promise<Closing[]> {
    const closings: Closing[] = [];
    for (let timer = this.timers.next(until); timer !== null; timer = this.timers.next(until)) {
      const closing = await closeSession(timer, this.deps);
      closings.push(closing);
      this.closings.push({ timer, closing });
      if (closings.length > 10_000) throw new Error('timers without end');
    }
    return closings;
  }

  /** All timers due by then, taken at once. */
  takeDue(until: number): Timer[] {
    const due: Timer[] = [];
    for (let timer = this.timers.next(until); timer !== null; timer = this.timers.next(until))
      due.push(timer);
    return due;
  }

  /** Everything that lasts, as plain values. */
  state(): object {
    return {
      objects: [...this.objects.objects.keys()].sort(),
      sessions: [...this.index.states.values()].sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1)),
      traces: [...this.index.ofTrace].map(([trace, sessions]) => [trace, [...sessions].sort()]).sort(),
      links: [...this.index.ofSession].map(([session, traces]) => [session, [...traces].sort()]).sort(),
      started: [...this.workflow.started].sort(([a], [b]) => (a < b ? -1 : 1)),
      failures: [...this.failures.failures.values()],
    };
  }
}

/** Every method of every port goes through the trap. */
function trapped<T extends Record<string, object>>(
  ports: T,
  trap: Trap | null,
  pause: LocalIngest['pause'],
): T {
  const wrapped = Object.entries(ports).map(([port, target]) => [
    port,
    new Proxy(target, {
      get: (object, name) => {
        const member: unknown = Reflect.get(object, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          const call = `${port}.${String(name)}`;
          trap?.(call, 'before');
          const act = (): unknown => Reflect.apply(member, object, args);
          // A listing is no promise: it is taken whole when it is asked for.
          if (String(name) === 'list') return act();
          const result = pause === null ? act() : pause(call).then(act);
          if (!(result instanceof Promise)) return result;
          return result.then((value: unknown) => {
            trap?.(call, 'after');
            return value;
          });
        };
      },
    }),
  ]);
  return Object.fromEntries(wrapped) as T;
}
