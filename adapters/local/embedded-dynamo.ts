import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ListTablesCommand,
} from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { ConfigurationInvalidError } from '../../core/errors/errors.ts';
import { TABLE } from '../../core/ports/table.ts';
import { lockDirectory } from './directory-lock.ts';

export interface EmbeddedDynamo {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  close(): Promise<void>;
}

export const EMBEDDED_TABLE = 'rootspan';

/** How long a second process waits: longer than storing a diagnosis takes, shorter than patience. */
const LOCK_WAIT_MS = 10_000;
/** Making the table takes milliseconds, on a busy machine a second. */
const TABLE_WAIT_MS = 10_000;

/**
 * DynamoDB in this process (dynalite over LevelDB), on a loopback port that the system chooses, with the same table
 * as in the account. With a folder it keeps its data there, one process at a time; without one it lives in memory.
 */
export async function startEmbeddedDynamo(folder: string | null): Promise<EmbeddedDynamo> {
  const unlock = folder === null ? async () => {} : await lockDirectory(folder, LOCK_WAIT_MS);
  try {
    const server = dynalite({
      createTableMs: 0,
      ...(folder === null ? {} : { path: path.join(folder, 'dynamodb') }),
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('dynalite listens on no port');
    const client = new DynamoDBClient({
      endpoint: `http://127.0.0.1:${address.port}`,
      region: 'local',
      // Fixed, so that no real credentials are looked for, and none are sent.
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    await ensureTable(client, EMBEDDED_TABLE, folder);
    return {
      client,
      tableName: EMBEDDED_TABLE,
      close: async () => {
        client.destroy();
        server.closeIdleConnections();
        await new Promise<void>((resolve, reject) => {
          server.close((error) => (error === undefined || error === null ? resolve() : reject(error)));
        });
        await unlock();
      },
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}

/** A table is CREATING for a moment, in which it answers as if it did not exist. */
async function ensureTable(client: DynamoDBClient, name: string, folder: string | null): Promise<void> {
  const { TableNames } = await client.send(new ListTablesCommand({}));
  if (TableNames?.includes(name) !== true) await createTable(client, name);
  const deadline = Date.now() + TABLE_WAIT_MS;
  for (;;) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
    if (Table?.TableStatus === 'ACTIVE') return;
    if (Date.now() > deadline)
      throw new ConfigurationInvalidError(
        `the store in ${folder ?? 'memory'} was left half-made by a process that ended while making it: delete its folder "dynamodb"`,
      );
    await delay(5);
  }
}

async function createTable(client: DynamoDBClient, name: string): Promise<void> {
  const keys = [TABLE.partitionKey, TABLE.sortKey, TABLE.index.partitionKey, TABLE.index.sortKey];
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: keys.map((key) => ({ AttributeName: key, AttributeType: 'S' })),
      KeySchema: [
        { AttributeName: TABLE.partitionKey, KeyType: 'HASH' },
        { AttributeName: TABLE.sortKey, KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: TABLE.index.name,
          KeySchema: [
            { AttributeName: TABLE.index.partitionKey, KeyType: 'HASH' },
            { AttributeName: TABLE.index.sortKey, KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
    }),
  );
}
