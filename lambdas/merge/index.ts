import { S3Client } from '@aws-sdk/client-s3';
import { S3ObjectStore } from '../../adapters/aws/s3-object-store.ts';
import { parseEnvironment } from '../../core/base/parse.ts';
import { startOnce } from '../../core/base/start-once.ts';
import { mergeEnv } from './env.ts';
import { makeMergeHandler } from './handler.ts';

export const handler = startOnce(async () => {
  const env = parseEnvironment(mergeEnv, process.env);
  return makeMergeHandler({ objects: new S3ObjectStore(new S3Client({}), env.BUCKET_NAME) });
});
