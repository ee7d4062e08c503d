import path from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import type { SessionIndex } from '../../core/ports/ingest-ports.ts';
import type { DiagnosisStore, FailureLog, IssueStore, ObjectStore } from '../../core/ports/ports.ts';
import { DynamoDiagnosisStore } from '../aws/dynamo-diagnosis-store.ts';
import { DynamoFailureLog } from '../aws/dynamo-failure-log.ts';
import { DynamoSessionIndex } from '../aws/dynamo-session-index.ts';
import { FileObjectStore } from './file-object-store.ts';
import { SqliteTable } from './sqlite-table.ts';

export interface LocalStores {
  readonly diagnoses: DiagnosisStore;
  readonly issues: IssueStore;
  readonly objects: ObjectStore;
  readonly failures: FailureLog;
  readonly index: SessionIndex;
  close(): Promise<void>;
}

/**
 * The stores of this machine in one folder: `objects/` for blobs and one SQLite file for the table. Several processes may
 * use it at the same time. Nothing expires.
 */
export async function openLocalStores(folder: string, clock: Clock): Promise<LocalStores> {
  const objects = new FileObjectStore(path.join(folder, 'objects'));
  const table = new SqliteTable(path.join(folder, 'table.sqlite'), clock);
  const diagnoses = new DynamoDiagnosisStore(table, objects, clock, { retentionDays: null });
  return {
    objects,
    diagnoses,
    issues: diagnoses.issues,
    failures: new DynamoFailureLog(table, clock, null),
    index: new DynamoSessionIndex(table, clock, { retentionDays: null }),
    close: async () => table.close(),
  };
}
