import fc from 'fast-check';
import { expect, it } from 'vitest';
import { closeSession } from '../../../core/ingest/close-session.ts';
import { sessionObjectKey } from '../../../core/ports/object-keys.ts';
import { someTelemetry } from '../../helpers/arbitrary-telemetry.ts';
import { expectedSessions } from '../../helpers/expected-sessions.ts';
import { LocalIngest } from '../../helpers/local-ingest.ts';
import { logEvent } from '../../helpers/log-events.ts';

/**
 * Lambdas run side by side: deliveries of one trace at once, and late records while their session is being closed.
 * The scheduler decides at every port call who goes on.
 */
it('whatever the interleaving of deliveries and closings, nothing is lost and nothing diagnosed twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      someTelemetry.chain((generated) => {
        const events = generated.map(({ group, record }) => logEvent(record, { logGroup: group }));
        return fc.record({
          events: fc.constant(events),
          cut: fc.integer({ min: 0, max: events.length }),
          order: fc.shuffledSubarray(events, { minLength: events.length, maxLength: events.length }),
        });
      }),
      fc.scheduler(),
      async ({ events, cut, order }, scheduler) => {
        const world = new LocalIngest();
        world.pause = (port) => scheduler.schedule(Promise.resolve(), port).then(() => undefined);
        const together = async (work: readonly Promise<unknown>[]): Promise<void> => {
          await scheduler.waitFor(Promise.all(work));
        };
        const alone = (event: (typeof order)[number]) => world.deliver([event]);

        await together(order.slice(0, cut).map(alone));
        // All that are due fire at once, twice each, as SQS may deliver them.
        const due = await world.takeDue(world.clock.now() + 900_000);
        await together([
          ...[...due, ...due].map((sessionId) => closeSession(sessionId, world.deps)),
          ...order.slice(cut).map(alone),
        ]);
        world.pause = null;
        await world.settle();

        const expected = expectedSessions(events);
        for (const [id, { hash }] of expected)
          expect(await world.index.state(id)).toMatchObject({
            closedHash: hash,
            open: false,
            dueAt: null,
            ownedBy: null,
          });
        for (const state of world.index.states.values()) {
          expect(state).toMatchObject({ open: false, dueAt: null });
          if (!expected.has(state.sessionId)) expect(expected.has(String(state.ownedBy))).toBe(true);
        }
        // A look in between may have seen any part of the records: but the whole is diagnosed once.
        const started = [...world.workflow.started.values()].map(({ sessionKey }) => sessionKey);
        for (const [id, { hash, agent }] of expected)
          if (agent) expect(started).toContain(sessionObjectKey(id, hash));
      },
    ),
    { numRuns: 200 },
  );
}, 300_000);
