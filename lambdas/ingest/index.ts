import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoSessionIndex } from '../../adapters/aws/dynamo-session-index.ts';
import { DynamoTable } from '../../adapters/aws/dynamo-table.ts';
import { S3ObjectStore } from '../../adapters/aws/s3-object-store.ts';
import { SqsTimerQueue } from '../../adapters/aws/sqs-timer-queue.ts';
import { parseEnvironment } from '../../core/base/parse.ts';
import { startOnce } from '../../core/base/start-once.ts';
import { ingestEnv } from './env.ts';
import { countsLine, makeIngestHandler } from './handler.ts';

export const handler = startOnce(async () => {
  const env = parseEnvironment(ingestEnv, process.env);
  const clock = { now: () => Date.now() };
  const own = env.OWN_LOG_GROUPS.split(',');
  const store = makeIngestHandler({
    objects: new S3ObjectStore(new S3Client({}), env.BUCKET_NAME),
    index: new DynamoSessionIndex(new DynamoTable(new DynamoDBClient({}), env.TABLE_NAME, clock), clock, {
      retentionDays: env.RETENTION_DAYS,
    }),
    timers: new SqsTimerQueue(new SQSClient({}), env.TIMER_QUEUE_URL),
    clock,
    idleSeconds: env.IDLE_SECONDS,
    isOwnLogGroup: (logGroup) => own.some((prefix) => logGroup.startsWith(prefix)),
  });
  return async (event: unknown) => {
    const report = await store(event);
    process.stdout.write(`${countsLine(report)}\n`);
    return report;
  };
});
