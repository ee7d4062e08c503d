import { LocalTimerQueue } from '../../adapters/local/local-timer-queue.ts';
import { runDue } from '../../adapters/local/run-due.ts';
import { VirtualClock } from '../../adapters/local/virtual-clock.ts';
import { type CloseDeps, type Closing, closeSession } from '../../core/ingest/close-session.ts';
import type { LogEvent } from '../../core/ingest/envelope.ts';
import type { IngestDeps, IngestReport } from '../../core/ingest/store-events.ts';
import {
  type AgentSettings,
  DEFAULT_MAX_AGE_SECONDS,
  DEFAULT_SETTINGS,
} from '../../core/ports/agent-settings.ts';
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
  maxAgeSeconds = DEFAULT_MAX_AGE_SECONDS;
  /** Delivers what follows through these ports. */
  trap: Trap | null = null;
  /** Awaited before each port call: whoever holds it decides who goes on. */
  pause: ((port: string) => Promise<void>) | null = null;

  get deps(): IngestDeps & CloseDeps {
    const { clock } = this;
    const ports = {
      objects: this.objects,
      index: this.index,
      workflow: this.workflow,
      failures: this.failures,
    };
    const { trap, pause } = this;
    return {
      ...(trap === null && pause === null ? ports : trapped(ports, trap, pause)),
      clock,
      idleSeconds: this.idleSeconds,
      shortestIdleSeconds: this.idleSeconds,
      maxAgeSeconds: this.maxAgeSeconds,
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

  /** Lets time run until nothing is due (or nothing by then). */
  async settle(until?: number): Promise<Closing[]> {
    const closings: Closing[] = [];
    const { clock, timers, maxAgeSeconds, idleSeconds } = this;
    const sweeping = {
      clock,
      timers,
      index: this.deps.index,
      maxAgeSeconds,
      shortestIdleSeconds: idleSeconds,
    };
    await runDue(
      sweeping,
      async (timer) => {
        const closing = await closeSession(timer.sessionId, this.deps);
        closings.push(closing);
        this.closings.push({ timer, closing });
        if (closings.length > 10_000) throw new Error('looks without end');
        return true;
      },
      until,
    );
    return closings;
  }

  /** All sessions that are due by then. */
  async takeDue(until: number): Promise<string[]> {
    const due: string[] = [];
    for await (const { sessionId } of this.index.due(until)) due.push(sessionId);
    this.clock.moveTo(until);
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
          if (['list', 'due', 'deferred'].includes(String(name))) return act();
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
