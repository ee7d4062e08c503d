import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { openLocalStores } from '../adapters/local/open-stores.ts';
import { createModel } from '../adapters/models/create-model.ts';
import type { Clock, DiagnosisStore, ObjectStore } from '../core/contracts/ports.ts';
import type { Model } from '../core/model/port.ts';
import type { TokenCounter } from '../core/tokens/counter.ts';
import { makeTokenCounter } from '../core/tokens/make-token-counter.ts';
import { UsageError } from './errors.ts';
import type { CliIo } from './io.ts';

export const systemClock: Clock = { now: () => Date.now() };

export interface OpenStore {
  readonly diagnoses: DiagnosisStore;
  readonly objects: ObjectStore;
  close(): Promise<void>;
}

/** `none`, a folder (embedded DynamoDB), or `table:<name>@<bucket>` in the account of the AWS credentials. */
export async function openStore(where: string): Promise<OpenStore | null> {
  if (where === 'none') return null;
  if (!where.startsWith('table:')) return openLocalStores(where, systemClock);
  const [table, bucket] = where.slice('table:'.length).split('@');
  if (!table || !bucket) {
    throw new UsageError(
      `--store: expected table:<name>@<bucket>, got "${where}"; both names are outputs of the deployed stack`,
    );
  }
  const [{ S3Client }, { S3ObjectStore }, { DynamoDiagnosisStore }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('../adapters/aws/s3-object-store.ts'),
    import('../adapters/aws/dynamo-diagnosis-store.ts'),
  ]);
  const dynamo = new DynamoDBClient({});
  const s3 = new S3Client({});
  const objects = new S3ObjectStore(s3, bucket);
  return {
    objects,
    diagnoses: new DynamoDiagnosisStore(dynamo, table, objects, systemClock, { retentionDays: null }),
    close: async () => {
      dynamo.destroy();
      s3.destroy();
    },
  };
}

export function requireStore(store: OpenStore | null): OpenStore {
  if (store === null) throw new UsageError('--store none: there is nothing to read from');
  return store;
}

export interface PipelineDeps {
  readonly model: Model;
  readonly counter: TokenCounter;
  readonly clock: Clock;
}

/** Answers are cached in the store's object folder, so that a rerun is not paid for again. */
export async function pipelineDeps(spec: string, store: OpenStore | null, io: CliIo): Promise<PipelineDeps> {
  const openaiApiKey = io.env.OPENAI_API_KEY;
  const model = await createModel(spec, {
    retry: {},
    ...(store === null ? {} : { cache: store.objects }),
    ...(openaiApiKey === undefined ? {} : { openaiApiKey }),
  });
  return { model, counter: makeTokenCounter(), clock: systemClock };
}
