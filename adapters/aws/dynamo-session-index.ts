import * as z from 'zod';
import type { Clock } from '../../core/base/clock.ts';
import type { SessionIndex, SessionState } from '../../core/ports/ingest-ports.ts';
import {
  PENDING_INDEX_PK,
  pendingIndexSk,
  SESSION_TRACE_PREFIX,
  sessionIndexKey,
  sessionPk,
  sessionTraceKey,
  TABLE,
  TRACE_SESSION_PREFIX,
  tracePk,
  traceSessionKey,
} from '../../core/ports/table.ts';
import type { Item, Table } from './table.ts';

const stateSchema = z.object({
  sessionId: z.string(),
  firstSeen: z.number(),
  lastSeen: z.number(),
  lastBatch: z.string(),
  open: z.boolean().default(false),
  timer: z.string().nullable().default(null),
  closedAt: z.number().nullable().default(null),
  closedHash: z.string().nullable().default(null),
  closings: z.number().default(0),
  ownedBy: z.string().nullable().default(null),
  skipped: z.string().nullable().default(null),
});

export interface SessionIndexOptions {
  /** After which the index forgets a session that got no more records; `null` keeps it. */
  readonly retentionDays: number | null;
}

/** The session index in the single table: DynamoDB in the account, SQLite locally. */
export class DynamoSessionIndex implements SessionIndex {
  readonly #table: Table;
  readonly #clock: Clock;
  readonly #options: SessionIndexOptions;

  constructor(table: Table, clock: Clock, options: SessionIndexOptions) {
    this.#table = table;
    this.#clock = clock;
    this.#options = options;
  }

  async link(traceId: string, sessionId: string): Promise<void> {
    // Ingest asks the trace for its sessions: once that answers, the other direction must stand. A plain put would
    // move the expiry at each repetition, so both are conditional.
    await this.#table.putIf({ ...sessionTraceKey(sessionId, traceId), traceId, ...this.#expiry() }, 'absent');
    await this.#table.putIf(
      { ...traceSessionKey(traceId, sessionId), sessionId, ...this.#expiry() },
      'absent',
    );
  }

  async sessionsOfTrace(traceId: string): Promise<readonly string[]> {
    return this.#column({ pk: tracePk(traceId), prefix: TRACE_SESSION_PREFIX }, 'sessionId');
  }

  async tracesOfSession(sessionId: string): Promise<readonly string[]> {
    return this.#column({ pk: sessionPk(sessionId), prefix: SESSION_TRACE_PREFIX }, 'traceId');
  }

  async #column(range: { pk: string; prefix: string }, attribute: string): Promise<string[]> {
    const found: string[] = [];
    for await (const item of this.#table.query(range)) found.push(z.string().parse(item[attribute]));
    return found;
  }

  async touch(sessionId: string, { at, batch }: { at: number; batch: string }): Promise<SessionState> {
    const key = sessionIndexKey(sessionId);
    const arrived = { sessionId, lastBatch: batch, open: true, ...this.#expiry() };
    const moved = await this.#table.update(key, {
      set: { ...arrived, lastSeen: at, [TABLE.index.sortKey]: pendingIndexSk(at) },
      keep: { firstSeen: at },
      onlyIf: [{ lastSeen: 'absent' }, { lastSeen: { is: '<=', to: at } }],
    });
    // Another Lambda with a faster clock was here: time does not move back, but the arrival must still show.
    return parseState(moved ?? (await this.#table.update(key, { set: arrived })));
  }

  async markArmed(sessionId: string, token: string): Promise<void> {
    await this.#table.update(sessionIndexKey(sessionId), {
      set: { timer: token, [TABLE.index.partitionKey]: PENDING_INDEX_PK },
      onlyIf: [{ timer: 'absent' }],
    });
  }

  async state(sessionId: string): Promise<SessionState | null> {
    const item = await this.#table.get(sessionIndexKey(sessionId));
    return item === null ? null : parseState(item);
  }

  async markClosed(
    sessionId: string,
    seen: Pick<SessionState, 'lastSeen' | 'lastBatch'>,
    closing: Pick<SessionState, 'closedAt' | 'closedHash' | 'closings' | 'ownedBy' | 'skipped'>,
  ): Promise<boolean> {
    const item = await this.#table.update(sessionIndexKey(sessionId), {
      set: { ...closing, open: false },
      remove: ['timer', TABLE.index.partitionKey],
      onlyIf: [{ lastSeen: { is: '=', to: seen.lastSeen }, lastBatch: { is: '=', to: seen.lastBatch } }],
    });
    return item !== null;
  }

  async *pending(): AsyncGenerator<SessionState> {
    for await (const item of this.#table.query({ pk: PENDING_INDEX_PK, index: true })) yield parseState(item);
  }

  #expiry(): Record<string, number> {
    const { retentionDays } = this.#options;
    if (retentionDays === null) return {};
    return { [TABLE.expiry]: Math.floor(this.#clock.now() / 1000) + retentionDays * 86_400 };
  }
}

function parseState(item: Item | null): SessionState {
  return stateSchema.parse(item);
}
