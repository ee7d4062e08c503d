import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { dailyBudgetOf } from '../../adapters/aws/daily-budget.ts';
import { DynamoDiagnosisStore } from '../../adapters/aws/dynamo-diagnosis-store.ts';
import { DynamoTable } from '../../adapters/aws/dynamo-table.ts';
import { S3ObjectStore } from '../../adapters/aws/s3-object-store.ts';
import { keepModels } from '../../adapters/models/create-model.ts';
import { parseEnvironment } from '../../core/base/parse.ts';
import { startOnce } from '../../core/base/start-once.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { rootCauseEnv } from './env.ts';
import { makeRootCauseHandler } from './handler.ts';

export const handler = startOnce(async () => {
  const env = parseEnvironment(rootCauseEnv, process.env);
  const clock = { now: () => Date.now() };
  const objects = new S3ObjectStore(new S3Client({}), env.BUCKET_NAME);
  const counter = makeTokenCounter();
  return makeRootCauseHandler({
    objects,
    diagnoses: new DynamoDiagnosisStore(
      new DynamoTable(new DynamoDBClient({}), env.TABLE_NAME, clock),
      objects,
      clock,
      {
        retentionDays: env.RETENTION_DAYS,
      },
    ),
    counter,
    clock,
    modelFor: keepModels({ cache: objects, ...(await dailyBudgetOf(env, clock, counter)) }),
  });
});
