import * as z from 'zod';
import { ResultConflictError } from '../../core/errors/errors.ts';
import {
  FINGERPRINT_STATES,
  type FingerprintState,
  fingerprintIndexPk,
  fingerprintKey,
  fingerprintSeenKey,
  shardFor,
  shardsOf,
  TABLE,
} from '../../core/ports/table.ts';
import { newestFirst } from './newest-first.ts';
import type { Table } from './table.ts';

export interface FingerprintRecord {
  readonly fingerprint: string;
  readonly firstSeen: string;
  readonly lastSeen: string;
  /** Sessions in which it was seen, each counted once. */
  readonly sessions: number;
  readonly state: FingerprintState;
}

const stateSchema = z.object({
  fingerprint: z.string(),
  firstSeen: z.string(),
  lastSeen: z.string(),
  sessions: z.number().int(),
  state: z.enum(FINGERPRINT_STATES),
  /** Raised with each write: what compare-and-set compares. */
  revision: z.string(),
  /** Sort key of the occurrence that was counted last. */
  countedLast: z.string(),
});
const seenSchema = z.object({ counted: z.enum(['no', 'yes']) });

/** Writers of one fingerprint at the same time; each round one of them wins. */
const ROUNDS = 200;

/**
 * Counts in how many sessions a fault occurred, exactly once each, with single-item writes only.
 *
 * An occurrence item is created first and counted later. The counter remembers the occurrence that it counted
 * last, and whoever moves it on first marks that one as counted. So an occurrence that is neither marked nor the
 * last one was not counted, whatever crashed in between.
 */
export class FingerprintLedger {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async record(
    fingerprint: string,
    sessionId: string,
    at: string,
    expiry: Record<string, number>,
  ): Promise<void> {
    const seenKey = fingerprintSeenKey(fingerprint, sessionId);
    const mark = (sk: string): Promise<void> =>
      this.#table.put({ pk: seenKey.pk, sk, counted: 'yes', ...expiry });
    for (let round = 0; round < ROUNDS; round++) {
      await this.#table.putIf({ ...seenKey, counted: 'no', ...expiry }, 'absent');
      const seen = await this.#table.get(seenKey);
      // Expired between the two calls: nothing left to count.
      if (seen === null || seenSchema.parse(seen).counted === 'yes') return;
      const item = await this.#table.get(fingerprintKey(fingerprint));
      if (item === null) {
        const fresh = { fingerprint, firstSeen: at, lastSeen: at, sessions: 1, state: 'open' } as const;
        if (!(await this.#write(fresh, seenKey.sk, null, expiry))) continue;
        return await mark(seenKey.sk);
      }
      const { countedLast, revision, ...old } = stateSchema.parse(item);
      await mark(countedLast);
      if (countedLast === seenKey.sk) return;
      const next: FingerprintRecord = {
        fingerprint,
        firstSeen: at < old.firstSeen ? at : old.firstSeen,
        lastSeen: at > old.lastSeen ? at : old.lastSeen,
        sessions: old.sessions + 1,
        state: old.state === 'resolved' ? 'regressed' : old.state,
      };
      if (await this.#write(next, seenKey.sk, revision, expiry)) return await mark(seenKey.sk);
    }
    // Other writers were faster each time. The diagnosis is stored and must not fail for a count: the occurrence stands, and
    // is counted when it is recorded again.
  }

  async get(fingerprint: string): Promise<FingerprintRecord | null> {
    const item = await this.#table.get(fingerprintKey(fingerprint));
    return item === null ? null : toRecord(item);
  }

  /** Last seen first. */
  async list(state: FingerprintState, limit: number): Promise<FingerprintRecord[]> {
    const found: FingerprintRecord[] = [];
    const shards = shardsOf(fingerprintIndexPk(state)).map((pk) =>
      this.#table.query({ pk, index: true, newestFirst: true, pageSize: limit }),
    );
    for await (const item of newestFirst(shards, (each) => String(each[TABLE.index.sortKey]))) {
      found.push(toRecord(item));
      if (found.length === limit) break;
    }
    return found;
  }

  /** Marks a fault as resolved; the next occurrence makes it `regressed`. False when there is no such fingerprint. */
  async resolve(fingerprint: string): Promise<boolean> {
    for (let round = 0; round < ROUNDS; round++) {
      const item = await this.#table.get(fingerprintKey(fingerprint));
      if (item === null) return false;
      const { countedLast, revision, ...old } = stateSchema.parse(item);
      const expiry = typeof item.expiresAt === 'number' ? { expiresAt: item.expiresAt } : {};
      if (await this.#write({ ...old, state: 'resolved' }, countedLast, revision, expiry)) return true;
    }
    throw new ResultConflictError(
      `fingerprint ${fingerprint}: ${ROUNDS} other writers were faster; try again`,
    );
  }

  async #write(
    record: FingerprintRecord,
    countedLast: string,
    revision: string | null,
    expiry: Record<string, number>,
  ): Promise<boolean> {
    return await this.#table.putIf(
      {
        ...fingerprintKey(record.fingerprint),
        ...record,
        countedLast,
        revision: String(Number(revision ?? '0') + 1),
        ipk: shardFor(fingerprintIndexPk(record.state), record.fingerprint),
        isk: record.lastSeen,
        ...expiry,
      },
      revision === null ? 'absent' : { attribute: 'revision', equals: revision },
    );
  }
}

function toRecord(item: Record<string, unknown>): FingerprintRecord {
  const { countedLast: _countedLast, revision: _revision, ...record } = stateSchema.parse(item);
  return record;
}
