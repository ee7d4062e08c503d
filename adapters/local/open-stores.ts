import path from 'node:path';
import type { Clock, DiagnosisStore, ObjectStore } from '../../core/contracts/ports.ts';
import { DynamoDiagnosisStore } from '../aws/dynamo-diagnosis-store.ts';
import { startEmbeddedDynamo } from './embedded-dynamo.ts';
import { FileObjectStore } from './file-object-store.ts';

export interface LocalStores {
  readonly diagnoses: DiagnosisStore;
  readonly objects: ObjectStore;
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
    close: () => dynamo.close(),
  };
}
