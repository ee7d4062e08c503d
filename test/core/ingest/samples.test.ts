import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LogEvent } from '../../../core/ingest/envelope.ts';
import { sessionObjectKey } from '../../../core/ports/object-keys.ts';
import { expectedSessions } from '../../helpers/expected-sessions.ts';
import { LocalIngest } from '../../helpers/local-ingest.ts';
import { sampleEvents } from '../../helpers/sample-events.ts';

/** Real sessions, in every way they may come. */

const samples = sampleEvents() ?? [];

type Expected = ReturnType<typeof expectedSessions>;

async function deliver(world: LocalIngest, ...batches: readonly (readonly LogEvent[])[]): Promise<void> {
  for (const batch of batches) await world.deliver(batch);
  await world.settle();
}

function names(...stages: readonly Expected[]): string[] {
  const all = stages.flatMap((stage) =>
    [...stage].filter(([, { agent }]) => agent).map(([id, { hash }]) => sessionObjectKey(id, hash)),
  );
  return [...new Set(all)].sort();
}

async function expectClosed(world: LocalIngest, stages: readonly Expected[]): Promise<void> {
  for (const [id, { hash }] of stages.at(-1) ?? [])
    expect(await world.index.state(id)).toMatchObject({ closedHash: hash, open: false, dueAt: null });
  expect([...world.workflow.started.values()].map(({ sessionKey }) => sessionKey).sort()).toEqual(
    names(...stages),
  );
}

// The reason is printed where the samples are looked for; a file without any test would fail.
it.skipIf(samples.length === 0)('there are samples', () => {
  expect(samples.map(({ name }) => name)).not.toContain('');
});

describe.each(samples)('$name', ({ name, events }) => {
  const expected = expectedSessions(events);
  const shuffled = fc.shuffledSubarray([...events], { minLength: events.length, maxLength: events.length });

  it('is there', () => {
    // Step Functions' own spans show nothing of an agent, and are kept aside.
    if (name.startsWith('X-Ray')) expect(expected.size).toBe(0);
    else expect(expected.size).toBeGreaterThan(0);
    expect(events.length).toBeGreaterThan(1);
  });

  it('comes out the same shuffled, delivered twice, and with each record in an invocation of its own', async () => {
    await fc.assert(
      fc.asyncProperty(shuffled, async (order) => {
        const world = new LocalIngest();
        await deliver(world, ...order.map((event) => [event]), order);
        await expectClosed(world, [expected]);
      }),
      { numRuns: 5 },
    );
  });

  it('comes out the same split in two at every record boundary', async () => {
    for (let at = 1; at < events.length; at += 1) {
      const world = new LocalIngest();
      await deliver(world, events.slice(at), events.slice(0, at));
      await expectClosed(world, [expected]);
    }
  }, 300_000);

  it('with half of the records after the first diagnosis, has exactly the versions that differ', async () => {
    await fc.assert(
      fc.asyncProperty(shuffled, async (order) => {
        const world = new LocalIngest();
        const half = order.slice(0, Math.ceil(order.length / 2));
        await deliver(world, half);
        await expectClosed(world, [expectedSessions(half)]);
        await deliver(world, order.slice(half.length));
        await expectClosed(world, [expectedSessions(half), expected]);
      }),
      { numRuns: 5 },
    );
  });
});
