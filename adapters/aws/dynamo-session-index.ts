import * as z from 'zod';
import type { Clock } from '../../core/base/clock.ts';
import type { ClosedAs, SessionIndex, SessionState } from '../../core/ports/ingest-ports.ts';
import {
  DEFERRED_PREFIX,
  DUE_INDEX_PK,
  deferredKey,
  dueIndexSk,
  SESSION_TRACE_PREFIX,
  sessionIndexKey,
  sessionPk,
  sessionTraceKey,
  shardFor,
  shardsOf,
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
  dueAt: z.number().nullable().default(null),
  hints: z.number().default(0),
  idleSeconds: z.number().nullable().default(null),
  part: z.number().default(1),
  partSince: z.number().nullable().default(null),
  closedAt: z.number().nullable().default(null),
  closedHash: z.string().nullable().default(null),
  closings: z.number().default(0),
  claimedHash: z.string().nullable().default(null),
  diagnoses: z.number().default(0),
  notBefore: z.number().nullable().default(null),
  ownedBy: z.string().nullable().default(null),
  skipped: z.string().nullable().default(null),
});

const deferredSchema = z.object({ hash: z.string(), bytes: z.instanceof(Uint8Array) });

/** A trace whose agent shows itself later than this is read without what came before. */
const DEFERRED_SECONDS = 3 * 86_400;

const { partitionKey: IPK, sortKey: ISK } = TABLE.index;
/** What an open session has and a closed one has not. */
const OPEN_ONLY = ['dueAt', 'hints', 'idleSeconds', IPK, ISK];

/** Due sessions asked for at once: the first that is not due ends the reading. */
const DUE_PAGE = 100;

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

  async defer(traceId: string, { hash, bytes }: { hash: string; bytes: Uint8Array }): Promise<void> {
    const expiry = Math.floor(this.#clock.now() / 1000) + DEFERRED_SECONDS;
    await this.#table.put({ ...deferredKey(traceId, hash), hash, bytes, [TABLE.expiry]: expiry });
  }

  async *deferred(traceId: string): AsyncGenerator<{ hash: string; bytes: Uint8Array }> {
    for await (const item of this.#table.query({ pk: tracePk(traceId), prefix: DEFERRED_PREFIX }))
      yield deferredSchema.parse(item);
  }

  async touch(
    sessionId: string,
    arrival: { at: number; batch: string; dueAt: number },
  ): Promise<SessionState> {
    const { at, batch, dueAt } = arrival;
    const key = sessionIndexKey(sessionId);
    const arrived = { sessionId, lastBatch: batch, open: true, ...this.#expiry() };
    const due = { dueAt, [IPK]: shardFor(DUE_INDEX_PK, sessionId), [ISK]: dueIndexSk(dueAt) };
    const keep = { firstSeen: at, partSince: at, ...due };
    const moved = await this.#table.update(key, {
      set: { ...arrived, lastSeen: at },
      keep,
      onlyIf: [{ lastSeen: 'absent' }, { lastSeen: { is: '<=', to: at } }],
    });
    // Another Lambda with a faster clock was here: time does not move back, but the arrival must still show.
    return parseState(moved ?? (await this.#table.update(key, { set: arrived, keep })));
  }

  async state(sessionId: string): Promise<SessionState | null> {
    const item = await this.#table.get(sessionIndexKey(sessionId));
    return item === null ? null : parseState(item);
  }

  async postpone(
    sessionId: string,
    seen: number,
    { dueAt, hints, idleSeconds }: { dueAt: number; hints: number; idleSeconds: number | null },
  ): Promise<boolean> {
    const item = await this.#table.update(sessionIndexKey(sessionId), {
      set: { dueAt, [ISK]: dueIndexSk(dueAt), hints, ...(idleSeconds === null ? {} : { idleSeconds }) },
      onlyIf: [{ dueAt: { is: '=', to: seen } }],
    });
    return item !== null;
  }

  async claim(sessionId: string, seen: number, hash: string): Promise<boolean> {
    const item = await this.#table.update(sessionIndexKey(sessionId), {
      set: { closings: seen + 1, claimedHash: hash },
      onlyIf: [{ closings: { is: '=', to: seen } }, ...(seen === 0 ? [{ closings: 'absent' as const }] : [])],
    });
    return item !== null;
  }

  async markClosed(
    sessionId: string,
    seen: Pick<SessionState, 'lastSeen' | 'lastBatch'>,
    closing: ClosedAs,
  ): Promise<boolean> {
    const item = await this.#table.update(sessionIndexKey(sessionId), {
      set: { ...closing, open: false },
      remove: OPEN_ONLY,
      onlyIf: [{ lastSeen: { is: '=', to: seen.lastSeen }, lastBatch: { is: '=', to: seen.lastBatch } }],
    });
    return item !== null;
  }

  async endPart(
    seen: Pick<SessionState, 'sessionId' | 'part' | 'lastSeen' | 'lastBatch'>,
    {
      closedAt,
      skipped,
      dueAt,
      more,
    }: { closedAt: number | null; skipped: string | null; dueAt: number; more: boolean },
  ): Promise<void> {
    const key = sessionIndexKey(seen.sessionId);
    const fresh = { closedHash: null, claimedHash: null, diagnoses: 0, notBefore: null, ownedBy: null };
    const ended = { ...fresh, closedAt, skipped, part: seen.part + 1 };
    const isSeen = [{ part: { is: '=', to: seen.part } as const }, { part: 'absent' as const }].slice(
      0,
      seen.part === 1 ? 2 : 1,
    );
    const nothingCame = {
      lastSeen: { is: '=', to: seen.lastSeen } as const,
      lastBatch: { is: '=', to: seen.lastBatch } as const,
    };
    const closed =
      !more &&
      (await this.#table.update(key, {
        set: { ...ended, open: false },
        remove: [...OPEN_ONLY, 'partSince'],
        onlyIf: isSeen.map((part) => ({ ...part, ...nothingCame })),
      }));
    if (closed === false || closed === null)
      await this.#table.update(key, {
        set: { ...ended, partSince: closedAt, dueAt, [ISK]: dueIndexSk(dueAt), hints: 0 },
        onlyIf: isSeen,
      });
  }

  async *due(until: number): AsyncGenerator<SessionState> {
    const to = dueIndexSk(until);
    for (const pk of shardsOf(DUE_INDEX_PK))
      for await (const item of this.#table.query({ pk, index: true, pageSize: DUE_PAGE })) {
        if (String(item[ISK]) > to) break;
        yield parseState(item);
      }
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
