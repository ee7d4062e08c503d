import { S3Client } from '@aws-sdk/client-s3';
import { S3ObjectStore } from '../../adapters/aws/s3-object-store.ts';
import { parseEnvironment } from '../../core/base/parse.ts';
import { startOnce } from '../../core/base/start-once.ts';
import { capabilitiesOfSpec, limitsOf } from '../../core/model/capabilities.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { preflightEnv } from './env.ts';
import { makePreflightHandler } from './handler.ts';

export const handler = startOnce(async () => {
  const env = parseEnvironment(preflightEnv, process.env);
  return makePreflightHandler({
    objects: new S3ObjectStore(new S3Client({}), env.BUCKET_NAME),
    counter: makeTokenCounter(),
    models: env.MODEL_SPECS,
    limitsOf: (spec) => limitsOf(capabilitiesOfSpec(spec)),
  });
});
