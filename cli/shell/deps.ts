import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createModel } from '../../adapters/models/create-model.ts';
import type { Clock } from '../../core/base/clock.ts';
import { ConfigurationInvalidError } from '../../core/errors/errors.ts';
import type { IngestDeps } from '../../core/ingest/store-events.ts';
import { parseModelSpec } from '../../core/model/parse-spec.ts';
import type { Model } from '../../core/model/port.ts';
import type { TokenCounter } from '../../core/planning/tokens/counter.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { MIN_IDLE_SECONDS } from '../../core/ports/agent-settings.ts';
import type { DiagnosisStore, IssueStore, ObjectStore } from '../../core/ports/ports.ts';
import { UsageError } from './errors.ts';
import type { CliIo } from './io.ts';

export const systemClock: Clock = { now: () => Date.now() };

export interface OpenStore {
  readonly diagnoses: DiagnosisStore;
  readonly issues: IssueStore;
  readonly objects: ObjectStore;
  close(): Promise<void>;
}

/** `none`, a folder (SQLite and files), or `table:<name>@<bucket>` in the account of the AWS credentials. */
export async function openStore(where: string): Promise<OpenStore | null> {
  if (where === 'none') return null;
  if (!where.startsWith('table:')) {
    const { openLocalStores } = await import('../../adapters/local/open-stores.ts');
    return openLocalStores(where, systemClock);
  }
  const { table, bucket } = accountNames(where);
  const [{ DynamoDBClient }, { S3Client }, { S3ObjectStore }, { DynamoTable }, { DynamoDiagnosisStore }] =
    await Promise.all([
      import('@aws-sdk/client-dynamodb'),
      import('@aws-sdk/client-s3'),
      import('../../adapters/aws/s3-object-store.ts'),
      import('../../adapters/aws/dynamo-table.ts'),
      import('../../adapters/aws/dynamo-diagnosis-store.ts'),
    ]);
  const dynamo = new DynamoDBClient({});
  const s3 = new S3Client({});
  const objects = new S3ObjectStore(s3, bucket);
  const diagnoses = new DynamoDiagnosisStore(
    new DynamoTable(dynamo, table, systemClock),
    objects,
    systemClock,
    { retentionDays: null },
  );
  return {
    objects,
    diagnoses,
    issues: diagnoses.issues,
    close: async () => {
      dynamo.destroy();
      s3.destroy();
    },
  };
}

/** For commands that only read: a folder that is not there is said, not made. */
export async function openStoreToRead(where: string): Promise<OpenStore> {
  if (where !== 'none' && !where.startsWith('table:') && !existsSync(where))
    throw new UsageError(
      `no store at ${where}: \`rootspan diagnose <file>\` makes one, --store names another`,
    );
  return requireStore(await openStore(where));
}

function accountNames(where: string): { table: string; bucket: string } {
  const [table, bucket] = where.slice('table:'.length).split('@');
  if (table && bucket) return { table, bucket };
  throw new UsageError(
    `--store: expected table:<name>@<bucket>, got "${where}"; both names are outputs of the deployed stack`,
  );
}

/** What ingest needs, in an account. Rows keep the expiry that the deployed functions gave them. */
export async function openAccountIngest(
  where: string,
): Promise<{ ingest: IngestDeps; close(): Promise<void> }> {
  const { table, bucket } = accountNames(where);
  const [{ DynamoDBClient }, { S3Client }, { S3ObjectStore }, { DynamoTable }, { DynamoSessionIndex }] =
    await Promise.all([
      import('@aws-sdk/client-dynamodb'),
      import('@aws-sdk/client-s3'),
      import('../../adapters/aws/s3-object-store.ts'),
      import('../../adapters/aws/dynamo-table.ts'),
      import('../../adapters/aws/dynamo-session-index.ts'),
    ]);
  const clients = { dynamo: new DynamoDBClient({}), s3: new S3Client({}) };
  return {
    ingest: {
      objects: new S3ObjectStore(clients.s3, bucket),
      index: new DynamoSessionIndex(new DynamoTable(clients.dynamo, table, systemClock), systemClock, {
        retentionDays: null,
      }),
      clock: systemClock,
      // A first look that comes early only waits on; close-session knows each agent's own idle time.
      idleSeconds: MIN_IDLE_SECONDS,
      // What stands in quarantine has passed this test.
      isOwnLogGroup: () => false,
    },
    close: async () => {
      for (const client of Object.values(clients)) client.destroy();
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
export async function pipelineDeps(
  spec: string,
  store: OpenStore | null,
  io: CliIo,
  { record, concurrency }: { readonly record?: string; readonly concurrency?: number },
): Promise<PipelineDeps> {
  const openaiApiKey = io.env.OPENAI_API_KEY;
  await requireServer(spec);
  const model = await createModel(spec, {
    retry: { sleep: sayWaits(io) },
    ...(store === null ? {} : { cache: store.objects }),
    ...(openaiApiKey === undefined ? {} : { openaiApiKey }),
    ...(concurrency === undefined ? {} : { callsAtOnce: concurrency }),
  });
  return {
    model: record === undefined ? model : await recorded(model, record),
    counter: makeTokenCounter(),
    clock: systemClock,
  };
}

async function recorded(model: Model, dir: string): Promise<Model> {
  const { recordModel } = await import('../../adapters/models/replay.ts');
  return recordModel(model, dir);
}

/** A pause that a model asks for is said, once in ten seconds: many sessions may wait at the same time. */
function sayWaits(io: CliIo): (ms: number) => Promise<void> {
  let saidAt = Number.NEGATIVE_INFINITY;
  return async (ms) => {
    if (performance.now() - saidAt > 10_000) {
      saidAt = performance.now();
      io.err(`rootspan: the model is busy or not there; asking again in ${Math.ceil(ms / 1000)} s\n`);
    }
    await delay(ms);
  };
}

const CONNECT_TIMEOUT_MS = 3000;

/**
 * Whether the server of an `openai:` model takes connections at all: a wrong port is the fault of the command, not of its
 * sessions, and each of them would find it out by retries of its own.
 */
async function requireServer(spec: string): Promise<void> {
  const parsed = parseModelSpec(spec);
  if (parsed.kind !== 'openai') return;
  const { protocol, hostname, port } = new URL(parsed.baseUrl);
  const { connect } = await import('node:net');
  const trouble = await new Promise<string | null>((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/gu, ''),
      port: Number(port || (protocol === 'https:' ? 443 : 80)),
      timeout: CONNECT_TIMEOUT_MS,
    });
    const end = (result: string | null): void => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => end(null));
    socket.once('timeout', () => end(`no answer in ${CONNECT_TIMEOUT_MS / 1000} s`));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
  if (trouble !== null)
    throw new ConfigurationInvalidError(`no server at ${parsed.baseUrl} (${trouble}): nothing was sent`);
}
