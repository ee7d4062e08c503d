import { setTimeout as delay } from 'node:timers/promises';
import { CreateTableCommand, DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { TABLE } from '../../core/ports/table.ts';

export interface EmbeddedDynamo {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  close(): Promise<void>;
}

export const EMBEDDED_TABLE = 'rootspan';

/** Making the table takes milliseconds, on a busy machine a second. */
const TABLE_WAIT_MS = 10_000;

/** DynamoDB's wire in this process (dynalite, in memory), on a loopback port that the system chooses, with our table. */
export async function startEmbeddedDynamo(): Promise<EmbeddedDynamo> {
  const server = dynalite({ createTableMs: 0 });
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
  await createTable(client, EMBEDDED_TABLE);
  await waitUntilActive(client, EMBEDDED_TABLE);
  return {
    client,
    tableName: EMBEDDED_TABLE,
    close: async () => {
      client.destroy();
      server.closeIdleConnections();
      await new Promise<void>((resolve, reject) => {
        server.close((error) => (error === undefined || error === null ? resolve() : reject(error)));
      });
    },
  };
}

/** A table is CREATING for a moment, in which it answers as if it did not exist. */
async function waitUntilActive(client: DynamoDBClient, name: string): Promise<void> {
  const deadline = Date.now() + TABLE_WAIT_MS;
  while ((await client.send(new DescribeTableCommand({ TableName: name }))).Table?.TableStatus !== 'ACTIVE') {
    if (Date.now() > deadline) throw new Error(`the table was not made within ${TABLE_WAIT_MS} ms`);
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
