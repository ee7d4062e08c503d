import { describe, expect, it } from 'vitest';
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

/** Dies at the nth port call, and does nothing more until it is called again; counts the calls. */
function diesAt(n: number): {
  trap: (port: string) => void;
  revive: () => void;
  calls: () => number;
  port: () => string;
} {
  let calls = 0;
  let port = '';
  let isDead = false;
  return {
    trap: (name) => {
      calls += 1;
      if (calls === n) {
        port = name;
        isDead = true;
      }
      if (isDead) throw new Died(name);
    },
    revive: () => {
      isDead = false;
    },
    calls: () => calls,
    port: () => port,
  };
}

async function again<T>(death: ReturnType<typeof diesAt>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Died)) throw error;
    death.revive();
    return work();
  }
}

/** Both deliveries, each closed, with retries as Lambda and SQS do them. */
async function run(world: LocalIngest, death: ReturnType<typeof diesAt>): Promise<void> {
  world.trap = death.trap;
  for (const deliveries of [[nameless, early], [late]]) {
    // Time runs on between the deliveries, and stands still in them.
    for (const events of deliveries) await again(death, () => world.deliver(events));
    await again(death, () => world.settle());
  }
}

/** A hint that was lost is sent again a quarter of an hour later: all else is the same. */
function withoutTimes(world: LocalIngest): object {
  const text = JSON.stringify(world.state(), (name, value: unknown) =>
    ['closedAt', 'lastSeen', 'notBefore', 'partSince'].includes(name) && value !== null ? 'some time' : value,
  );
  return JSON.parse(text);
}

const undisturbed = new LocalIngest();
const all = diesAt(0);
await run(undisturbed, all);

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
      await run(world, death);
      ports.add(death.port());
      expect({ n, port: death.port(), ...withoutTimes(world) }).toEqual({
        n,
        port: death.port(),
        ...withoutTimes(undisturbed),
      });
      expect(world.timers.waiting).toEqual([]);
    }
    expect([...ports].sort()).toEqual([
      'index.claim',
      'index.deferred',
      'index.due',
      'index.link',
      'index.markClosed',
      'index.postpone',
      'index.sessionsOfTrace',
      'index.state',
      'index.touch',
      'index.tracesOfSession',
      'objects.get',
      'objects.list',
      'objects.putIfAbsent',
      'workflow.start',
    ]);
  });

  it('a timer whose session cannot be closed now is handed back to its queue; the others of its batch are done', async () => {
    const world = new LocalIngest();
    await world.deliver(early);
    const timer = { sessionId: 'S' };
    world.clock.moveTo(world.clock.now() + 900_000);
    const reports: unknown[] = [];
    const again: [string, number][] = [];
    world.trap = (port) => {
      if (port === 'objects.get') throw new Died(port);
    };
    const handler = makeCloseSessionHandler(world.deps, {
      comeAgain: async (receiptHandle, seconds) => {
        again.push([receiptHandle, seconds]);
      },
      report: (_body, error) => reports.push(error),
    });
    const message = (messageId: string, body: unknown) => ({
      messageId,
      receiptHandle: `r${messageId}`,
      body: JSON.stringify(body),
      attributes: { ApproximateReceiveCount: '3' },
    });
    const Records = [message('1', timer), message('2', { sessionId: 'nobody' }), message('3', 'rubbish')];
    expect(await handler({ Records })).toEqual({
      batchItemFailures: [{ itemIdentifier: '1' }, { itemIdentifier: '3' }],
    });
    expect(reports).toHaveLength(2);
    // Twenty seconds after the third try, drawn from the upper half: not the hour of the queue.
    expect(again.map(([handle]) => handle)).toEqual(['r1', 'r3']);
    for (const [, seconds] of again) {
      expect(seconds).toBeGreaterThanOrEqual(10);
      expect(seconds).toBeLessThanOrEqual(20);
    }
  });
});
