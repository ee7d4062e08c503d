import { afterAll, beforeAll, expect, it } from 'vitest';
import { DynamoDiagnosisStore } from '../../adapters/aws/dynamo-diagnosis-store.ts';
import { DynamoTable } from '../../adapters/aws/dynamo-table.ts';
import { SqliteTable } from '../../adapters/local/sqlite-table.ts';
import { fillTable } from '../../bench/table/fill.ts';
import { MeteredTable } from '../../bench/table/metered-table.ts';
import { type EmbeddedDynamo, startEmbeddedDynamo } from '../helpers/embedded-dynamo.ts';
import { MemoryObjectStore } from '../helpers/memory-ports.ts';

const clock = { now: () => Date.parse('2026-06-01T00:00:00Z') };
const DIAGNOSES = 200;
let dynamo: EmbeddedDynamo;
let charged = 0;

beforeAll(async () => {
  dynamo = await startEmbeddedDynamo();
  dynamo.client.middlewareStack.add(
    (next) => async (args) => {
      Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
      const result = await next(args);
      const { ConsumedCapacity: used } = result.output as unknown as {
        ConsumedCapacity?: { CapacityUnits: number } | { CapacityUnits: number }[];
      };
      for (const each of used === undefined ? [] : [used].flat()) charged += each.CapacityUnits;
      return result;
    },
    { step: 'initialize' },
  );
});
afterAll(() => dynamo.close());

/** Only where something is found: the embedded server asks nothing for an empty page, AWS its least unit, and so does the meter. */
it('the meter of the benchmark counts what the wire says was consumed, request by request', async () => {
  const options = { retentionDays: null };
  const wire = new DynamoDiagnosisStore(
    new DynamoTable(dynamo.client, dynamo.tableName, clock),
    new MemoryObjectStore(),
    clock,
    options,
  );
  const meter = new MeteredTable(new SqliteTable(null, clock));
  const metered = new DynamoDiagnosisStore(meter, new MemoryObjectStore(), clock, options);
  await fillTable(wire, DIAGNOSES);
  await fillTable(metered, DIAGNOSES);
  for (const read of [
    (store: DynamoDiagnosisStore) => store.recent({ limit: 20 }),
    (store: DynamoDiagnosisStore) => store.recent({ limit: 100, outcome: 'FAILED' }),
    (store: DynamoDiagnosisStore) => store.issues.list('open', 20),
    (store: DynamoDiagnosisStore) => store.versions('session-7'),
  ]) {
    charged = 0;
    meter.reset();
    await read(wire);
    await read(metered);
    expect(charged, String(read)).toBeGreaterThan(0);
    expect(Math.abs(meter.units - charged) / charged, `${read}: ${meter.units} for ${charged}`).toBeLessThan(
      0.1,
    );
  }
});
