import path from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import type { SessionIndex } from '../../core/ports/ingest-ports.ts';
import type { DiagnosisStore, FailureLog, ObjectStore } from '../../core/ports/ports.ts';
import { DynamoDiagnosisStore } from '../aws/dynamo-diagnosis-store.ts';
import { DynamoFailureLog } from '../aws/dynamo-failure-log.ts';
import { DynamoSessionIndex } from '../aws/dynamo-session-index.ts';
import { startEmbeddedDynamo } from './embedded-dynamo.ts';
import { FileObjectStore } from './file-object-store.ts';

export interface LocalStores {
  readonly diagnoses: DiagnosisStore;
  readonly objects: ObjectStore;
  readonly failures: FailureLog;
  readonly index: SessionIndex;
  close(): Promise<void>;
}

/**
 * The desk's stores in one folder: `objects/` for blobs and the embedded DynamoDB beside it. One process at a time;
 * a ConfigurationInvalidError names the process that is in the way. Nothing expires.
 */
export async function openLocalStores(folder: string, clock: Clock): Promise<LocalStores> {
  const objects = new FileObjectStore(path.join(folder, 'objects'));
  const dynamo = await startEmbeddedDynamo(folder);
  return {
    objects,
    diagnoses: new DynamoDiagnosisStore(dynamo.client, dynamo.tableName, objects, clock, {
      retentionDays: null,
    }),
    failures: new DynamoFailureLog(dynamo.client, dynamo.tableName, clock, null),
    index: new DynamoSessionIndex(dynamo.client, dynamo.tableName, clock, { retentionDays: null }),
    close: () => dynamo.close(),
  };
}
