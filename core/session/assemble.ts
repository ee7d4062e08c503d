import type { RawRecord, ReadResult } from '../formats/format.ts';

export interface AssembleOptions {
  /** Format id to put into the sessions, usually that of the container. */
  readonly format?: string;
}

/** Joins raw records to sessions. */
export function assembleSessions(records: readonly RawRecord[], options: AssembleOptions = {}): ReadResult {
  const where = options.format ?? 'telemetry';
  return {
    sessions: [],
    unread:
      records.length === 0 ? [] : [{ where, reason: 'assembly is not built yet', count: records.length }],
  };
}
