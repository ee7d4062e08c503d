import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { type AttributeValue, QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DailyBudget } from '../../../adapters/aws/daily-budget.ts';
import { DynamoDiagnosisStore } from '../../../adapters/aws/dynamo-diagnosis-store.ts';
import { DynamoFailureLog } from '../../../adapters/aws/dynamo-failure-log.ts';
import { DynamoSessionIndex } from '../../../adapters/aws/dynamo-session-index.ts';
import { DynamoTable } from '../../../adapters/aws/dynamo-table.ts';
import { aDiagnosis, aFault } from '../../helpers/a-diagnosis.ts';
import { type EmbeddedDynamo, startEmbeddedDynamo } from '../../helpers/embedded-dynamo.ts';
import { MemoryObjectStore } from '../../helpers/memory-ports.ts';

/**
 * The lines of docs/querying.md, word for word, against DynamoDB's wire over what the product writes: sent through the SDK from
 * the flags of each line, and through the AWS CLI itself where one is installed.
 */
const PAGE = readFileSync(path.resolve(import.meta.dirname, '../../../docs/querying.md'), 'utf8');
const LINES = [...PAGE.matchAll(/^```sh\n([\s\S]*?)^```/gmu)]
  .flatMap(([, block]) => (block ?? '').split('\n'))
  .filter((line) => line.includes('aws dynamodb query'));
const SHARDS = [...'0123456789abcdef'];
const NOW = Date.parse('2026-03-01T12:00:00Z');
const clock = { now: () => NOW };

let dynamo: EmbeddedDynamo;
beforeAll(async () => {
  dynamo = await startEmbeddedDynamo();
  const table = new DynamoTable(dynamo.client, dynamo.tableName, clock);
  const store = new DynamoDiagnosisStore(table, new MemoryObjectStore(), clock, { retentionDays: null });
  const fault = { ...aFault('fedcba9876543210'), agent: 'shop', fingerprint: '0123456789abcdef' };
  for (const sessionId of ['order-4711', 'order-4712', 'order-4713'])
    await store.put(
      aDiagnosis({
        sessionId,
        diagnosisId: `d-${sessionId}`,
        agent: 'shop',
        service: 'orders',
        faults: [fault],
      }),
    );
  const told = await store.latest('order-4711');
  if (told === null) throw new Error('order-4711 was not stored');
  await store.giveFeedback(told, { spanId: 'span-2', verdict: 'confirmed', at: told.createdAt, note: null });
  await new DynamoFailureLog(table, clock, null).record({
    sessionId: 'order-4711',
    sessionKey: null,
    executionName: 'run-1',
    errorName: 'ModelUnavailableError',
    message: 'm',
    at: '2026-03-01T11:00:00.000Z',
  });
  const index = new DynamoSessionIndex(table, clock, { retentionDays: null });
  await index.touch('order-4711', { at: NOW, batch: 'b', dueAt: NOW + 60_000 });
  await index.link('7d1f', 'order-4711');
  await new DailyBudget(table, clock, 10).reserve(2_000_000);
});
afterAll(() => dynamo.close());

/** Words of a line as a POSIX shell splits it: quotes, and the two variables that the page uses. */
function words(line: string, shard: string): string[] {
  const found: string[] = [];
  for (const [word] of line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/gu))
    found.push(
      word.replace(/'([^']*)'|"([^"]*)"|(\$S)/gu, (_all, single?: string, double?: string) =>
        single !== undefined
          ? single
          : double !== undefined
            ? double.replace('$TABLE', dynamo.tableName)
            : shard,
      ),
    );
  return found;
}

/** The request that the line makes. An unknown flag is an error: the page would say what is not tested. */
function requestOf(line: string, shard: string): QueryCommandInput {
  const flags = words(line.replace(/^.*aws dynamodb query /u, '').replace(/; done$/u, ''), shard);
  const request: QueryCommandInput = { TableName: undefined };
  while (flags.length > 0) {
    const flag = flags.shift();
    if (flag === '--no-scan-index-forward') request.ScanIndexForward = false;
    else if (flag === '--no-paginate') continue;
    else {
      const value = flags.shift() ?? '';
      if (flag === '--table-name') request.TableName = value;
      else if (flag === '--index-name') request.IndexName = value;
      else if (flag === '--key-condition-expression') request.KeyConditionExpression = value;
      else if (flag === '--projection-expression') request.ProjectionExpression = value;
      else if (flag === '--limit') request.Limit = Number(value);
      else if (flag === '--expression-attribute-values')
        request.ExpressionAttributeValues = JSON.parse(value) as Record<string, AttributeValue>;
      else if (flag !== '--query' && flag !== '--output') throw new Error(`unknown flag ${flag}: ${line}`);
    }
  }
  return request;
}

async function run(line: string): Promise<Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = [];
  for (const shard of line.startsWith('for S in') ? SHARDS : [''])
    for (const item of (await dynamo.client.send(new QueryCommand(requestOf(line, shard)))).Items ?? [])
      items.push(unmarshall(item));
  return items;
}

/** How many items each line gives of what was seeded. */
const expected = (line: string): number => (/RECENT#|"SEEN#"/u.test(line) ? 3 : 1);

describe('docs/querying.md', () => {
  it('has a line for every list and item of a reader', () => {
    expect(LINES.length).toBeGreaterThanOrEqual(18);
    for (const key of [
      'LATEST',
      'DIAGNOSIS#',
      'FAILURE#',
      'TRACE#',
      'RECENT#all',
      'RECENT#issue',
      'FINGERPRINTS#',
      'DUE#',
      'BUDGET#',
    ])
      expect(PAGE).toContain(key);
  });

  it.each(LINES)('finds what it says: %s', async (line) => {
    expect(await run(line)).toHaveLength(expected(line));
  });

  it('LATEST and the item it leads to have outcome, critical step, categories and causes in plain attributes', async () => {
    const [latestLine, versionsLine, bodyLine] = LINES as [string, string, string];
    const plain = {
      outcome: 'FAILED',
      coverage: 'COMPLETE',
      categories: ['execution-error-category-timeout'],
      criticalStep: {
        spanId: 'span-2',
        position: 1,
        category: 'system-failure',
        reason: 'nothing after it could succeed',
      },
      causes: [{ spanId: 'span-2', explanation: 'the upstream was slow', fix: 'retry once' }],
    };
    expect((await run(latestLine))[0]).toMatchObject({ ...plain, version: 1, issues: ['0123456789abcdef'] });
    const [version] = await run(versionsLine);
    expect(version).toMatchObject(plain);
    expect(version).not.toHaveProperty('body');
    const [{ body }] = (await run(bodyLine)) as [{ body: Uint8Array }];
    expect(JSON.parse(gunzipSync(body).toString('utf8'))).toMatchObject({ sessionId: 'order-4711' });
  });

  // A start of the CLI takes most of a second, and a list is sixteen: asked for by name.
  const withCli = process.env.ROOTSPAN_TEST_AWS_CLI === '1' && spawnSync('aws', ['--version']).status === 0;
  it.skipIf(!withCli)(
    `runs in a shell with the AWS CLI${withCli ? '' : ' (skipped: ROOTSPAN_TEST_AWS_CLI=1 and an installed CLI run it)'}`,
    { timeout: 600_000 },
    async () => {
      const { hostname, port, protocol } = await dynamo.client.config.endpoint!();
      const env = {
        PATH: process.env.PATH,
        TABLE: dynamo.tableName,
        AWS_ENDPOINT_URL_DYNAMODB: `${protocol}//${hostname}:${port}`,
        AWS_REGION: 'local',
        AWS_DEFAULT_REGION: 'local',
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        AWS_PAGER: '',
      };
      for (const line of LINES) {
        const { stdout } = await promisify(execFile)('sh', ['-c', line], { env });
        if (line.includes('--output text')) expect(stdout.length).toBeGreaterThan(100);
        else
          expect(
            [...stdout.matchAll(/"Count": (\d+)/gu)].reduce((sum, [, n]) => sum + Number(n), 0),
            line,
          ).toBe(expected(line));
      }
    },
  );
});
