import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DynamoTable } from '../../../adapters/aws/dynamo-table.ts';
import type { Condition, Item, QueryRange, Table } from '../../../adapters/aws/table.ts';
import { SqliteTable } from '../../../adapters/local/sqlite-table.ts';
import { type EmbeddedDynamo, startEmbeddedDynamo } from '../../helpers/embedded-dynamo.ts';

/** Whatever is done to it, the local table answers as DynamoDB does: the stores above cannot tell them apart. */

const NOW_SECONDS = 1_000;
const clock = { now: () => NOW_SECONDS * 1000 };
let dynamo: EmbeddedDynamo;
beforeAll(async () => {
  dynamo = await startEmbeddedDynamo();
});
afterAll(async () => {
  await dynamo.close();
});

const sortKey = fc.constantFrom('A#1', 'A#2', 'B#1', 'B%2', 'B_3', 'é#1', '\u{1F600}', '\uFF5E');
const key = fc.record({ pk: fc.constantFrom('P', 'Q'), sk: sortKey });
const attributes = fc.record(
  {
    n: fc.integer({ min: -3, max: 3 }),
    s: fc.constantFrom('a', 'b', 'ä'),
    body: fc.uint8Array({ minLength: 1, maxLength: 4 }),
    nested: fc.record({ list: fc.array(fc.constantFrom('x', 'y')), flag: fc.boolean() }),
    expiresAt: fc.constantFrom(NOW_SECONDS - 1, NOW_SECONDS, NOW_SECONDS + 1),
    index: fc.record({ ipk: fc.constantFrom('I', 'J'), isk: fc.constantFrom('1', '2', '3') }),
  },
  { requiredKeys: [] },
);
const item = fc
  .tuple(key, attributes)
  .map(([place, { index, ...rest }]): Item => ({ ...place, ...rest, ...index }));
const comparison = fc.constantFrom<'=' | '<' | '<='>('=', '<', '<=');
const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.constant('absent' as const),
  fc.record({ absentOrLess: fc.constant('s'), than: fc.constantFrom('a', 'b', 'c') }),
  fc.record({ attribute: fc.constant('s'), equals: fc.constantFrom('a', 'b') }),
);
const change = fc.record(
  {
    set: fc.record({ n: fc.integer({ min: -3, max: 3 }) }),
    keep: fc.record({ s: fc.constantFrom('a', 'b') }),
    remove: fc.constantFrom(['body'], ['ipk', 'isk']),
    onlyIf: fc.array(
      fc.oneof(
        fc.constant({ n: 'absent' as const }),
        fc.record({ n: fc.record({ is: comparison, to: fc.integer({ min: -3, max: 3 }) }) }),
        fc.record({ s: fc.record({ is: comparison, to: fc.constantFrom('a', 'b') }) }),
      ),
      { minLength: 1, maxLength: 2 },
    ),
  },
  { requiredKeys: ['set'] },
);
const range: fc.Arbitrary<QueryRange> = fc.oneof(
  fc.record(
    {
      pk: fc.constantFrom('P', 'Q'),
      prefix: fc.constantFrom('A#', 'B', 'é'),
      newestFirst: fc.boolean(),
      pageSize: fc.integer({ min: 1, max: 3 }),
      only: fc.constant(['n', 'pk', 'sk']),
    },
    { requiredKeys: ['pk'] },
  ),
  fc.record(
    { pk: fc.constantFrom('P', 'Q'), from: sortKey, newestFirst: fc.boolean() },
    { requiredKeys: ['pk'] },
  ),
  fc.record(
    { pk: fc.constantFrom('P', 'Q'), newestFirst: fc.boolean(), after: key },
    { requiredKeys: ['pk'] },
  ),
  fc.record(
    { pk: fc.constantFrom('I', 'J'), index: fc.constant(true), from: fc.constantFrom('1', '2') },
    { requiredKeys: ['pk', 'index'] },
  ),
);
const operation = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), item }),
  fc.record({ kind: fc.constant('putIf' as const), item, condition }),
  fc.record({ kind: fc.constant('update' as const), key, change }),
  fc.record({
    kind: fc.constant('add' as const),
    key,
    amount: fc.integer({ min: -3, max: 3 }),
    rules: fc.record({ atMost: fc.integer({ min: -2, max: 5 }), expiresAt: fc.constant(NOW_SECONDS + 1) }),
  }),
  fc.record({ kind: fc.constant('get' as const), key }),
  fc.record({ kind: fc.constant('getMany' as const), keys: fc.array(key, { minLength: 1, maxLength: 3 }) }),
  fc.record({ kind: fc.constant('query' as const), range }),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

const byKey = (a: Item, b: Item): number => (`${a.pk}\n${a.sk}` < `${b.pk}\n${b.sk}` ? -1 : 1);

async function run(table: Table, step: Operation, prefix: string): Promise<unknown> {
  const placed = <T extends { readonly pk: string }>(value: T): T => ({ ...value, pk: prefix + value.pk });
  const indexed = (value: Item): Item =>
    typeof value.ipk === 'string' ? { ...placed(value), ipk: prefix + value.ipk } : placed(value);
  switch (step.kind) {
    case 'put':
      return await table.put(indexed(step.item));
    case 'putIf':
      return await table.putIf(indexed(step.item), step.condition);
    case 'update':
      return await table.update(placed(step.key), step.change);
    case 'add':
      return await table.add(placed(step.key), 'n', step.amount, step.rules);
    case 'get':
      return await table.get(placed(step.key));
    case 'getMany':
      return (await table.getMany(step.keys.map(placed))).sort(byKey);
    case 'query': {
      const { after } = step.range;
      const found: Item[] = [];
      const asked = {
        ...placed(step.range),
        ...(after === undefined ? {} : { after: { ...after, pk: prefix + step.range.pk } }),
      };
      for await (const each of table.query(asked)) found.push(each);
      // Items of one sort key come out of DynamoDB's index in no promised order.
      return step.range.index === true ? found.sort(byKey) : found;
    }
  }
}

describe('the local table and DynamoDB', () => {
  it('answer alike to any sequence of operations', async () => {
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 25 }), async (steps) => {
        const prefix = `${++round}-`;
        const tables: Table[] = [
          new DynamoTable(dynamo.client, dynamo.tableName, clock),
          new SqliteTable(null, clock),
        ];
        for (const step of steps) {
          const [wire, local] = await Promise.all(tables.map((table) => run(table, step, prefix)));
          expect(local).toEqual(wire);
        }
      }),
      { numRuns: 120 },
    );
  });
});
