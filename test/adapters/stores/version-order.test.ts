import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DynamoDiagnosisStore } from '../../../adapters/aws/dynamo-diagnosis-store.ts';
import { SqliteTable } from '../../../adapters/local/sqlite-table.ts';
import { aDiagnosis } from '../../helpers/a-diagnosis.ts';
import { MemoryObjectStore } from '../../helpers/memory-ports.ts';

/**
 * Executions of one session end in any order, more than once, and long after: the latest diagnosis is that of the newest
 * content, which is the one that was closed last.
 */
const clock = { now: () => 1_700_000_000_000 };

/** Which closings are diagnosed, in the order in which their executions end; a number again is a redrive. */
const endings = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 });

it('in whatever order executions end, the latest is of the newest closing, and the others are superseded', async () => {
  await fc.assert(
    fc.asyncProperty(endings, fc.scheduler(), async (order, scheduler) => {
      const store = new DynamoDiagnosisStore(new SqliteTable(null, clock), new MemoryObjectStore(), clock, {
        retentionDays: null,
      });
      const end = (closing: number) =>
        store.put(
          aDiagnosis({ sessionId: 'S', diagnosisId: `content-${closing}`, fingerprints: [] }),
          closing,
        );
      // Some side by side, the rest one after the other.
      const half = Math.ceil(order.length / 2);
      for (const closing of order.slice(0, half)) scheduler.schedule(Promise.resolve(closing)).then(end);
      await scheduler.waitAll();
      for (const closing of order) await end(closing);

      const newest = `content-${Math.max(...order)}`;
      expect((await store.latest('S'))?.diagnosisId).toBe(newest);
      const versions = await store.versions('S');
      expect(versions).toHaveLength(new Set(order).size);
      const standing = versions.filter(({ superseded }) => !superseded);
      expect(standing).toHaveLength(1);
      expect((await store.version('S', standing[0]?.version ?? 0))?.diagnosisId).toBe(newest);
      const { items } = await store.recent({});
      expect(items.filter(({ superseded }) => !superseded).map(({ version }) => version)).toEqual(
        standing.map(({ version }) => version),
      );
    }),
    { numRuns: 200 },
  );
});

it('a content that is closed again after another is the newest again', async () => {
  const store = new DynamoDiagnosisStore(new SqliteTable(null, clock), new MemoryObjectStore(), clock, {
    retentionDays: null,
  });
  const put = (diagnosisId: string, closing?: number) =>
    store.put(aDiagnosis({ sessionId: 'S', diagnosisId, fingerprints: [] }), closing);
  await put('a', 1);
  await put('b', 2);
  await put('a', 3);
  expect((await store.latest('S'))?.diagnosisId).toBe('a');
  // By hand, of what is newest.
  await put('c');
  expect((await store.latest('S'))?.diagnosisId).toBe('c');
  await put('d', 4);
  expect((await store.latest('S'))?.diagnosisId).toBe('d');
});
