import {
  GetObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, expect, it, vi } from 'vitest';
import { DynamoSessionIndex } from '../../adapters/aws/dynamo-session-index.ts';
import { DynamoTable } from '../../adapters/aws/dynamo-table.ts';
import { quarantine } from '../../core/ingest/quarantine.ts';
import { rootspan } from '../helpers/cli.ts';
import { startEmbeddedDynamo } from '../helpers/embedded-dynamo.ts';
import { logEvent } from '../helpers/log-events.ts';
import { MemoryObjectStore } from '../helpers/memory-ports.ts';
import { span } from '../helpers/telemetry-records.ts';

afterEach(() => vi.unstubAllEnvs());

it('retry in an account stores the record there, and its session is due', async () => {
  const dynamo = await startEmbeddedDynamo();
  const objects = new MemoryObjectStore();
  // As if an older reader had refused what this version can read.
  const now = { now: () => Date.now() };
  await quarantine(
    { reason: 'bad-json: of yesterday', event: logEvent(span({ session: 'S' })) },
    { objects, clock: now },
  );
  const s3 = mockClient(S3Client);
  s3.on(ListObjectsV2Command).callsFake(({ Prefix }) => ({
    Contents: [...objects.objects.keys()].filter((key) => key.startsWith(Prefix)).map((Key) => ({ Key })),
  }));
  s3.on(GetObjectCommand).callsFake(({ Key }) => {
    const bytes = objects.objects.get(Key);
    if (bytes === undefined) throw new NoSuchKey({ message: 'gone', $metadata: {} });
    return { Body: { transformToByteArray: async () => bytes } };
  });
  s3.on(PutObjectCommand).callsFake(({ Key, Body }) => {
    objects.objects.set(Key, Body);
    return {};
  });
  const endpoint = await dynamo.client.config.endpoint?.();
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', `http://${endpoint?.hostname}:${endpoint?.port}`);
  vi.stubEnv('AWS_REGION', 'local');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  try {
    const store = `table:${dynamo.tableName}@bucket`;
    const run = await rootspan(['quarantine', 'retry', '--store', store]);
    expect(run.err).toContain('1 of 1 could be read now');
    expect(run.exitCode).toBe(0);
    const index = new DynamoSessionIndex(new DynamoTable(dynamo.client, dynamo.tableName, now), now, {
      retentionDays: null,
    });
    expect(await index.state('S')).toMatchObject({ open: true, dueAt: expect.any(Number) });
    const left = await rootspan(['quarantine', 'list', '--store', store]);
    expect(left.out).toBe('');
  } finally {
    s3.restore();
    await dynamo.close();
  }
});
