import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { DynamoFailureLog } from '../../adapters/aws/dynamo-failure-log.ts';
import { DynamoTable } from '../../adapters/aws/dynamo-table.ts';
import { S3ObjectStore } from '../../adapters/aws/s3-object-store.ts';
import { parseEnvironment } from '../../core/base/parse.ts';
import { startOnce } from '../../core/base/start-once.ts';
import { recordFailureEnv } from './env.ts';
import { makeRecordFailureHandler } from './handler.ts';

export const handler = startOnce(async () => {
  const env = parseEnvironment(recordFailureEnv, process.env);
  const clock = { now: () => Date.now() };
  return makeRecordFailureHandler({
    objects: new S3ObjectStore(new S3Client({}), env.BUCKET_NAME),
    failures: new DynamoFailureLog(
      new DynamoTable(new DynamoDBClient({}), env.TABLE_NAME, clock),
      clock,
      env.RETENTION_DAYS,
    ),
    clock,
  });
});
