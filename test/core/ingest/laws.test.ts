import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LogEvent } from '../../../core/ingest/envelope.ts';
import { sessionObjectKey } from '../../../core/ports/object-keys.ts';
import { someTelemetry } from '../../helpers/arbitrary-telemetry.ts';
import { expectedSessions } from '../../helpers/expected-sessions.ts';
import { LocalIngest } from '../../helpers/local-ingest.ts';
import { logEvent } from '../../helpers/log-events.ts';

/** Whatever way the records come, the closed sessions are those of the tidy input, each diagnosed once a content. */

const RUNS = 500;
/** Far above what it takes; a hang still ends. */
const TIMEOUT = 300_000;

/** Deliveries: the events shuffled, some again, cut into invocations anywhere. */
const deliveries = (events: readonly LogEvent[]): fc.Arbitrary<LogEvent[][]> =>
  fc
    .record({
      order: fc.shuffledSubarray([...events], { minLength: events.length, maxLength: events.length }),
      again: fc.subarray([...events]),
      cuts: fc.array(fc.boolean(), { minLength: events.length * 2, maxLength: events.length * 2 }),
    })
    .map(({ order, again, cuts }) => {
      const all = [...order, ...again];
      const batches: LogEvent[][] = [[]];
      for (const [index, event] of all.entries()) {
        batches.at(-1)?.push(event);
        if (cuts[index] === true) batches.push([]);
      }
      return batches.filter((batch) => batch.length > 0);
    });

const scenario = someTelemetry
  .map((generated) => generated.map(({ group, record }) => logEvent(record, { logGroup: group })))
  .chain((events) =>
    fc.record({
      events: fc.constant(events),
      early: fc.shuffledSubarray(events).chain((part) => fc.tuple(fc.constant(part), deliveries(part))),
      all: deliveries(events),
    }),
  );

function executionsOf(...stages: Map<string, { hash: string; agent: boolean }>[]): string[] {
  const names = stages.flatMap((stage) =>
    [...stage].filter(([, { agent }]) => agent).map(([id, { hash }]) => sessionObjectKey(id, hash)),
  );
  return [...new Set(names)].sort();
}

async function expectClosed(world: LocalIngest, sessions: Map<string, { hash: string }>): Promise<void> {
  for (const [id, { hash }] of sessions)
    expect(await world.index.state(id)).toMatchObject({
      closedHash: hash,
      open: false,
      dueAt: null,
      ownedBy: null,
    });
}

async function deliverAndSettle(world: LocalIngest, batches: readonly LogEvent[][]): Promise<void> {
  for (const batch of batches) await world.deliver(batch);
  await world.settle();
}

describe('shuffled, delivered again, split at any record boundary', () => {
  it(
    'the closed sessions are those of the tidy input; what comes after the first diagnosis makes exactly one more version of the sessions that it adds to',
    async () => {
      await fc.assert(
        fc.asyncProperty(scenario, async ({ events, early: [part, first], all }) => {
          const world = new LocalIngest();
          await deliverAndSettle(world, first);
          const before = expectedSessions(part);
          await expectClosed(world, before);
          expect([...world.workflow.started.values()].map(({ sessionKey }) => sessionKey).sort()).toEqual(
            executionsOf(before),
          );
          // Everything now, the part of before among it.
          await deliverAndSettle(world, all);
          const after = expectedSessions(events);
          await expectClosed(world, after);
          expect([...world.workflow.started.values()].map(({ sessionKey }) => sessionKey).sort()).toEqual(
            executionsOf(before, after),
          );
          // What was taken for a session of its own and is none says whose it is.
          for (const id of before.keys()) {
            if (after.has(id)) continue;
            const state = await world.index.state(id);
            expect(after.has(String(state?.ownedBy))).toBe(true);
          }
        }),
        { numRuns: RUNS },
      );
    },
    TIMEOUT,
  );

  it(
    'everything once more changes nothing',
    async () => {
      await fc.assert(
        fc.asyncProperty(scenario, async ({ all }) => {
          const world = new LocalIngest();
          await deliverAndSettle(world, all);
          // What was kept aside at first may be stored again in full: it says nothing new.
          const lasting = () => ({
            started: [...world.workflow.started],
            frozen: [...world.objects.objects.keys()].filter((key) => key.startsWith('sessions/')).sort(),
          });
          const before = lasting();
          await deliverAndSettle(world, all.toReversed());
          expect(lasting()).toEqual(before);
        }),
        { numRuns: 100 },
      );
    },
    TIMEOUT,
  );
});

describe('due times', () => {
  it(
    'a session has one exactly as long as it is open, however many batches come',
    async () => {
      await fc.assert(
        fc.asyncProperty(scenario, fc.integer({ min: 180, max: 4000 }), async ({ all }, idleSeconds) => {
          const world = new LocalIngest();
          world.idleSeconds = idleSeconds;
          for (const batch of all) {
            await world.deliver(batch);
            await world.settle(world.clock.now() + 60_000);
            for (const state of world.index.states.values()) expect(state.dueAt !== null).toBe(state.open);
          }
          await world.settle();
          expect([...world.index.states.values()].filter((state) => state.open)).toEqual([]);
        }),
        { numRuns: 100 },
      );
    },
    TIMEOUT,
  );
});
