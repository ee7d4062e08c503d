import * as z from 'zod';
import type { Clock } from '../../core/base/clock.ts';
import {
  type Issue,
  type IssueChange,
  type IssueState,
  issueSchema,
  type Occurrence,
  withOccurrence,
} from '../../core/diagnosis/issue.ts';
import type { Fault } from '../../core/diagnosis/schema.ts';
import { ResultConflictError } from '../../core/errors/errors.ts';
import type { IssueStore } from '../../core/ports/ports.ts';
import {
  causesKey,
  fingerprintIndexPk,
  fingerprintKey,
  fingerprintSeenKey,
  pageSizeOfShards,
  shardFor,
  shardsOf,
  TABLE,
} from '../../core/ports/table.ts';
import { sameCause } from '../../core/report-build/telling-words.ts';
import { newestFirst } from './newest-first.ts';
import type { Table } from './table.ts';

const stateSchema = issueSchema.extend({
  /** Raised with each write: what compare-and-set compares. */
  revision: z.string(),
  /** Sort key of the occurrence that was counted last. */
  countedLast: z.string(),
  /** Session that opened it, and the one that made it regress: said again when that session is recorded again. */
  openedBy: z.string(),
  regressedBy: z.string().nullable(),
});
type State = z.infer<typeof stateSchema>;
const seenSchema = z.object({ counted: z.enum(['no', 'yes']) });
const causesSchema = z.object({
  revision: z.string(),
  causes: z.array(z.object({ issue: z.string(), words: z.array(z.string()) })),
});

/** Writers of one issue at the same time; each round one of them wins. */
const ROUNDS = 200;
/** Different causes of one category at one place; what comes after them is counted together. */
const MOST_CAUSES = 50;

export interface IssueLedgerOptions {
  /** Days until an issue that is not seen again expires; `null` keeps it for ever. */
  readonly retentionDays: number | null;
}

/**
 * Faults across sessions: which are the same, and in how many sessions each occurred, exactly once each, with single-item
 * writes only.
 *
 * A site (agent, category, place) has one item with the causes known there, to which a cause is only ever appended. A fault
 * belongs to the first of them that is the same cause, so that it belongs to the same issue whenever it is asked again.
 *
 * An occurrence item is created first and counted later. The counter remembers the occurrence that it counted
 * last, and whoever moves it on first marks that one as counted. So an occurrence that is neither marked nor the
 * last one was not counted, whatever crashed in between.
 */
export class IssueLedger implements IssueStore {
  readonly #table: Table;
  readonly #clock: Clock;
  readonly #options: IssueLedgerOptions;

  constructor(table: Table, clock: Clock, options: IssueLedgerOptions) {
    this.#table = table;
    this.#clock = clock;
    this.#options = options;
  }

  async issueOf({
    site,
    fingerprint,
    words,
  }: Pick<Fault, 'site' | 'fingerprint' | 'words'>): Promise<string> {
    const key = causesKey(site);
    for (let round = 0; round < ROUNDS; round++) {
      const item = await this.#table.get(key);
      const { causes, revision } = item === null ? { causes: [], revision: null } : causesSchema.parse(item);
      const known = causes.find((cause) => sameCause(cause.words, words));
      if (known !== undefined) {
        if (item !== null) await this.#keepAlive(item.expiresAt, key);
        return known.issue;
      }
      // Site hashes and fingerprints are of one length and never equal.
      if (causes.length >= MOST_CAUSES) return site;
      const appended = await this.#table.putIf(
        {
          ...key,
          causes: [...causes, { issue: fingerprint, words }],
          revision: String(Number(revision ?? '0') + 1),
          ...this.#expiry(),
        },
        revision === null ? 'absent' : { attribute: 'revision', equals: revision },
      );
      if (appended) return fingerprint;
    }
    throw new ResultConflictError(`site ${site}: ${ROUNDS} other writers were faster; try again`);
  }

  /** Counts the session once; says what it did to the issue, each time again. */
  async record(issue: string, fault: Fault, occurrence: Occurrence): Promise<IssueChange | null> {
    const { sessionId, release, at } = occurrence;
    const seenKey = fingerprintSeenKey(issue, sessionId);
    const expiry = this.#expiry();
    const mark = (sk: string): Promise<void> =>
      this.#table.put({ pk: seenKey.pk, sk, counted: 'yes', ...expiry });
    for (let round = 0; round < ROUNDS; round++) {
      await this.#table.putIf({ ...seenKey, counted: 'no', ...expiry }, 'absent');
      const seen = await this.#table.get(seenKey);
      const item = await this.#table.get(fingerprintKey(issue));
      const old = item === null ? null : stateSchema.parse(item);
      // Expired between two calls: nothing left to count.
      if (seen === null) return null;
      if (seenSchema.parse(seen).counted === 'yes') return changeBy(sessionId, old);
      if (old === null) {
        const fresh: State = {
          issue,
          category: fault.category,
          agent: fault.agent,
          place: fault.place,
          cause: fault.cause,
          state: 'open',
          firstSeen: at,
          lastSeen: at,
          sessions: 1,
          days: { [at.slice(0, 10)]: 1 },
          releases: release === null ? [] : [{ release, sessions: 1 }],
          example: sessionId,
          resolvedAt: null,
          revision: '0',
          countedLast: seenKey.sk,
          openedBy: sessionId,
          regressedBy: null,
        };
        if (!(await this.#write(fresh, null))) continue;
        await mark(seenKey.sk);
        return changeBy(sessionId, fresh);
      }
      await mark(old.countedLast);
      if (old.countedLast === seenKey.sk) return changeBy(sessionId, old);
      const counted = withOccurrence(old, occurrence);
      const regressed = counted.state === 'regressed' && old.state !== 'regressed';
      const next: State = {
        ...old,
        ...counted,
        countedLast: seenKey.sk,
        regressedBy: regressed ? sessionId : old.regressedBy,
      };
      if (!(await this.#write(next, old.revision))) continue;
      await mark(seenKey.sk);
      return changeBy(sessionId, next);
    }
    // Other writers were faster each time. The diagnosis is stored and must not fail for a count: the occurrence stands, and
    // is counted when it is recorded again.
    return null;
  }

  async get(issue: string): Promise<Issue | null> {
    const item = await this.#table.get(fingerprintKey(issue));
    return item === null ? null : issueSchema.parse(item);
  }

  async list(state: IssueState, limit: number, agent?: string): Promise<Issue[]> {
    const found: Issue[] = [];
    const shards = shardsOf(fingerprintIndexPk(state)).map((pk) =>
      this.#table.query({ pk, index: true, newestFirst: true, pageSize: pageSizeOfShards(limit) }),
    );
    for await (const item of newestFirst(shards, (each) => String(each[TABLE.index.sortKey]))) {
      const issue = issueSchema.parse(item);
      if (agent === undefined || issue.agent === agent) found.push(issue);
      if (found.length === limit) break;
    }
    return found;
  }

  async setState(issue: string, state: 'open' | 'resolved' | 'muted'): Promise<Issue | null> {
    for (let round = 0; round < ROUNDS; round++) {
      const item = await this.#table.get(fingerprintKey(issue));
      if (item === null) return null;
      const old = stateSchema.parse(item);
      if (old.state === state) return issueSchema.parse(old);
      const resolvedAt = state === 'resolved' ? new Date(this.#clock.now()).toISOString() : null;
      const next: State = { ...old, state, resolvedAt, regressedBy: null };
      if (await this.#write(next, old.revision)) return issueSchema.parse(next);
    }
    throw new ResultConflictError(`issue ${issue}: ${ROUNDS} other writers were faster; try again`);
  }

  async #write(state: State, revision: string | null): Promise<boolean> {
    return await this.#table.putIf(
      {
        ...fingerprintKey(state.issue),
        ...state,
        revision: String(Number(revision ?? '0') + 1),
        ipk: shardFor(fingerprintIndexPk(state.state), state.issue),
        isk: state.lastSeen,
        ...this.#expiry(),
      },
      revision === null ? 'absent' : { attribute: 'revision', equals: revision },
    );
  }

  /** The causes of a site outlive every issue that they name; half of the retention between two writes is enough. */
  async #keepAlive(expiresAt: unknown, key: { readonly pk: string; readonly sk: string }): Promise<void> {
    const { retentionDays } = this.#options;
    if (retentionDays === null || typeof expiresAt !== 'number') return;
    const left = expiresAt - this.#clock.now() / 1000;
    if (left < retentionDays * 43_200) await this.#table.update(key, { set: this.#expiry() });
  }

  #expiry(): Record<string, number> {
    const { retentionDays } = this.#options;
    if (retentionDays === null) return {};
    return { [TABLE.expiry]: Math.floor(this.#clock.now() / 1000) + retentionDays * 86_400 };
  }
}

function changeBy(sessionId: string, state: State | null): IssueChange | null {
  if (state?.regressedBy === sessionId) return { issue: state.issue, change: 'regressed' };
  return state?.openedBy === sessionId ? { issue: state.issue, change: 'opened' } : null;
}
