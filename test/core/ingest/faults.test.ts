import { describe, expect, it } from 'vitest';
import { closeSession } from '../../../core/ingest/close-session.ts';
import type { LogEvent } from '../../../core/ingest/envelope.ts';
import { makeCloseSessionHandler } from '../../../lambdas/close-session/handler.ts';
import { LocalIngest } from '../../helpers/local-ingest.ts';
import { logEvent } from '../../helpers/log-events.ts';
import { span } from '../../helpers/telemetry-records.ts';

/**
 * A Lambda may die before or after any of its writes took effect; whoever called it calls again. The final state is
 * as if nothing had happened.
 */

/** Nameless first, so that the trace is a session of its own at first and hands over. */
const nameless: LogEvent[] = [logEvent(span({ spanId: 'c1' }))];
const early: LogEvent[] = [logEvent(span({ spanId: 'c2', session: 'S' })), logEvent('{"traceId": broken}')];
const late: LogEvent[] = [
  logEvent(span({ spanId: 'c3', text: 'late' })),
  logEvent(span({ traceId: 'b', session: 'S' })),
];

class Died extends Error {}

/** Dies at the nth port call, once; counts the calls. */
function diesAt(n: number): { trap: (port: string) => void; calls: () => number; port: () => string } {
  let calls = 0;
  let port = '';
  return {
    trap: (name) => {
      calls += 1;
      if (calls !== n) return;
      port = name;
      throw new Died(name);
    },
    calls: () => calls,
    port: () => port,
  };
}

async function again<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Died)) throw error;
    return work();
  }
}

/** Both deliveries, each closed, with retries as Lambda and SQS do them. */
async function run(world: LocalIngest): Promise<void> {
  for (const deliveries of [[nameless, early], [late]]) {
    // Time runs on between the deliveries, and stands still in them.
    for (const events of deliveries) await again(() => world.deliver(events));
    for (let timer = world.timers.next(); timer !== null; timer = world.timers.next()) {
      const due = timer;
      await again(() => closeSession(due, world.deps));
    }
  }
}

const undisturbed = new LocalIngest();
const all = diesAt(0);
undisturbed.trap = all.trap;
await run(undisturbed);

describe('dying at any port call', () => {
  it('the undisturbed run is worth comparing with: two versions, one handed-over trace, one in quarantine', () => {
    expect(undisturbed.workflow.started.size).toBe(2);
    expect(
      [...undisturbed.objects.objects.keys()].filter((key) => key.startsWith('quarantine/')),
    ).toHaveLength(1);
    expect(undisturbed.index.states.size).toBe(2);
    expect(all.calls()).toBeGreaterThan(60);
  });

  it('leaves the state as if nothing had happened', async () => {
    const ports = new Set<string>();
    for (let n = 1; n <= all.calls(); n += 1) {
      const world = new LocalIngest();
      const death = diesAt(n);
      world.trap = death.trap;
      await run(world);
      ports.add(death.port());
      expect({ n, port: death.port(), ...world.state() }).toEqual({
        n,
        port: death.port(),
        ...undisturbed.state(),
      });
      expect(world.timers.waiting).toEqual([]);
    }
    expect([...ports].sort()).toEqual([
      'index.link',
      'index.markArmed',
      'index.markClosed',
      'index.sessionsOfTrace',
      'index.state',
      'index.touch',
      'index.tracesOfSession',
      'objects.get',
      'objects.list',
      'objects.putIfAbsent',
      'timers.arm',
      'workflow.start',
    ]);
  });

  it('a timer whose session cannot be closed now is handed back to its queue; the others of its batch are done', async () => {
    const world = new LocalIngest();
    await world.deliver(early);
    const timer = world.timers.next();
    const reports: unknown[] = [];
    world.trap = (port) => {
      if (port === 'objects.get') throw new Died(port);
    };
    const handler = makeCloseSessionHandler(world.deps, (_body, error) => reports.push(error));
    const message = (messageId: string, body: unknown) => ({ messageId, body: JSON.stringify(body) });
    const Records = [
      message('1', timer),
      message('2', { sessionId: 'nobody', token: 't' }),
      message('3', 'rubbish'),
    ];
    expect(await handler({ Records })).toEqual({
      batchItemFailures: [{ itemIdentifier: '1' }, { itemIdentifier: '3' }],
    });
    expect(reports).toHaveLength(2);
  });
});
