import { S3Client } from '@aws-sdk/client-s3';
import { dailyBudgetOf } from '../../adapters/aws/daily-budget.ts';
import { S3ObjectStore } from '../../adapters/aws/s3-object-store.ts';
import { keepModels } from '../../adapters/models/create-model.ts';
import { parseEnvironment } from '../../core/base/parse.ts';
import { startOnce } from '../../core/base/start-once.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { constraintsEnv } from './env.ts';
import { makeConstraintsHandler } from './handler.ts';

export const handler = startOnce(async () => {
  const env = parseEnvironment(constraintsEnv, process.env);
  const clock = { now: () => Date.now() };
  const objects = new S3ObjectStore(new S3Client({}), env.BUCKET_NAME);
  const counter = makeTokenCounter();
  return makeConstraintsHandler({
    objects,
    counter,
    // No retries in here: the state machine waits, and nobody pays for a Lambda that sleeps.
    modelFor: keepModels({ cache: objects, ...(await dailyBudgetOf(env, clock, counter)) }),
  });
});
