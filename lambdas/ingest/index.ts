import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoSessionIndex } from '../../adapters/aws/dynamo-session-index.ts';
import { DynamoTable } from '../../adapters/aws/dynamo-table.ts';
import { S3ObjectStore } from '../../adapters/aws/s3-object-store.ts';
import { comeAgainFrom } from '../../adapters/aws/sqs-visibility.ts';
import { parseEnvironment } from '../../core/base/parse.ts';
import { startOnce } from '../../core/base/start-once.ts';
import { faultLine } from '../../core/ingest/report-fault.ts';
import { ingestEnv } from './env.ts';
import { countsLine, makeIngestQueueHandler } from './handler.ts';

export const handler = startOnce(async () => {
  const env = parseEnvironment(ingestEnv, process.env);
  const clock = { now: () => Date.now() };
  const ownLogGroups = env.OWN_LOG_GROUPS.split(',');
  // One call in five may fail for an hour: eight tries, with the waits of the client between them, leave one in 390,000.
  const patient = { maxAttempts: 8 };
  const table = new DynamoTable(new DynamoDBClient(patient), env.TABLE_NAME, clock);
  return makeIngestQueueHandler(
    {
      objects: new S3ObjectStore(new S3Client(patient), env.BUCKET_NAME),
      index: new DynamoSessionIndex(table, clock, { retentionDays: env.RETENTION_DAYS }),
      clock,
      idleSeconds: env.IDLE_SECONDS,
      isOwnLogGroup: (logGroup) => ownLogGroups.some((prefix) => logGroup.startsWith(prefix)),
    },
    {
      comeAgain: comeAgainFrom(new SQSClient({}), env.DELIVERY_QUEUE_URL),
      report: (body, error) => process.stderr.write(`${faultLine(body, error)}\n`),
    },
    (report) => process.stdout.write(`${countsLine(report)}\n`),
  );
});
