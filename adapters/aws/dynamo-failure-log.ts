import * as z from 'zod';
import type { Clock } from '../../core/base/clock.ts';
import type { ExecutionFailure, FailureLog } from '../../core/ports/ports.ts';
import { FAILURES_INDEX_PK, failureKey, sessionPk, shardFor, TABLE } from '../../core/ports/table.ts';
import type { Table } from './table.ts';

const failureSchema = z.object({
  sessionId: z.string(),
  sessionKey: z.string().nullable(),
  executionName: z.string(),
  errorName: z.string(),
  message: z.string(),
  at: z.string(),
});

/** Failed executions in the single table: beside their session, and newest first in the index. */
export class DynamoFailureLog implements FailureLog {
  readonly #table: Table;
  readonly #clock: Clock;
  /** `null` keeps them for ever. */
  readonly #retentionDays: number | null;

  constructor(table: Table, clock: Clock, retentionDays: number | null) {
    this.#table = table;
    this.#clock = clock;
    this.#retentionDays = retentionDays;
  }

  async record(failure: ExecutionFailure): Promise<void> {
    await this.#table.put({
      ...failureKey(failure.sessionId, failure.executionName),
      ...failure,
      [TABLE.index.partitionKey]: shardFor(FAILURES_INDEX_PK, failure.sessionId),
      [TABLE.index.sortKey]: failure.at,
      ...(this.#retentionDays === null
        ? {}
        : { [TABLE.expiry]: Math.floor(this.#clock.now() / 1000) + this.#retentionDays * 86_400 }),
    });
  }

  async ofSession(sessionId: string): Promise<readonly ExecutionFailure[]> {
    const found: ExecutionFailure[] = [];
    for await (const item of this.#table.query({ pk: sessionPk(sessionId), prefix: 'FAILURE#' }))
      found.push(failureSchema.parse(item));
    return found;
  }
}
