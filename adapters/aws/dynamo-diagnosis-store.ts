import { gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod';
import type { Clock } from '../../core/base/clock.ts';
import { diagnosisContentHash } from '../../core/diagnosis/content.ts';
import { type Feedback, feedbackSchema, type Suppressed } from '../../core/diagnosis/feedback.ts';
import type { IssueChange } from '../../core/diagnosis/issue.ts';
import { migrateDiagnosis } from '../../core/diagnosis/migrate.ts';
import { type Diagnosis, diagnosisSchema, type Fault } from '../../core/diagnosis/schema.ts';
import type { DiagnosisSummary } from '../../core/diagnosis/summary.ts';
import { summarise } from '../../core/diagnosis/summary.ts';
import { ConfigurationInvalidError, ResultConflictError } from '../../core/errors/errors.ts';
import { diagnosisObjectKey, idHash } from '../../core/ports/object-keys.ts';
import type { DiagnosisStore, ObjectStore, Page } from '../../core/ports/ports.ts';
import {
  diagnosisKey,
  FEEDBACK_PREFIX,
  issueFeedbackKey,
  latestKey,
  pageSizeOfShards,
  sessionFeedbackKey,
  sessionIndexKey,
  sessionPk,
  shardFor,
  shardsOf,
  TABLE,
  timelinePk,
  timelineSk,
} from '../../core/ports/table.ts';
import { withoutRejected } from '../../core/report-build/suppress.ts';
import {
  bodySchema,
  HEAD,
  headSchema,
  newestOf,
  readable,
  summarySchema,
  versionOrder,
} from './diagnosis-items.ts';
import { decodeNext, encodeNext, matches, patternOf, patternsFor } from './diagnosis-timelines.ts';
import { IssueLedger } from './dynamo-issues.ts';
import { newestFirst } from './newest-first.ts';
import type { Item, Table } from './table.ts';

export interface DiagnosisStoreOptions {
  /** Days until an item expires; `null` keeps it for ever. */
  readonly retentionDays: number | null;
  /** Compressed bytes from which a body goes to the object store. DynamoDB's limit is 400 KB for the whole item. */
  readonly inlineBytes?: number;
}

const INLINE_BYTES = 300_000;
/** A diagnosis is megabytes at most; more is a damaged or hostile object. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;
/** Writers of one session at the same time; each round one of them wins. */
const PUT_ROUNDS = 20;
const DEFAULT_LIMIT = 20;

const issueFeedbackSchema = feedbackSchema
  .pick({ verdict: true, at: true })
  .extend({ sessionId: z.string() });
type IssueFeedback = z.infer<typeof issueFeedbackSchema>;
/**
 * Diagnoses in the single table (core/ports/table.ts), the same code over DynamoDB and over the local table.
 *
 * `put` writes one item at a time: first the version (create-only), then what derives from it (pointer, timelines,
 * fingerprints), each of which may be written again without harm. A crash in between is healed by the retry, which
 * finds the version and writes the rest.
 */
export class DynamoDiagnosisStore implements DiagnosisStore {
  readonly #table: Table;
  readonly #objects: ObjectStore;
  readonly #clock: Clock;
  readonly #options: DiagnosisStoreOptions;
  readonly #issues: IssueLedger;

  constructor(table: Table, objects: ObjectStore, clock: Clock, options: DiagnosisStoreOptions) {
    this.#table = table;
    this.#objects = objects;
    this.#clock = clock;
    this.#options = options;
    this.#issues = new IssueLedger(table, clock, options);
  }

  async put(diagnosis: Diagnosis, closing?: number): ReturnType<DiagnosisStore['put']> {
    const contentHash = diagnosisContentHash(diagnosis);
    const occurrences = await this.#occurrences(diagnosis);
    for (let round = 0; round < PUT_ROUNDS; round++) {
      const heads = await this.#heads(diagnosis.sessionId);
      const same = heads.find((head) => head.diagnosisId === diagnosis.diagnosisId);
      if (same !== undefined) {
        if (same.contentHash !== contentHash)
          throw new ResultConflictError(
            `session ${idHash(diagnosis.sessionId)} (hash of its id) already has version ${same.summary.version} with diagnosis id ` +
              `${diagnosis.diagnosisId} and other content: equal inputs gave different results. ` +
              'Keep the stored one, or diagnose with other options or another model to get a version of its own.',
          );
        // The same content may be closed again, after another: it is the newest then.
        if (closing !== undefined && closing > same.closing)
          await this.#table.update(diagnosisKey(diagnosis.sessionId, same.summary.version), {
            set: { closing },
            onlyIf: [{ closing: { is: '<', to: closing } }],
          });
        const issues = await this.#derive(
          same.summary,
          Math.max(same.closing, closing ?? 0),
          occurrences,
          diagnosis,
        );
        return { version: same.summary.version, created: false, issues };
      }
      const version = (heads.at(-1)?.summary.version ?? 0) + 1;
      const stored = { ...diagnosis, version };
      // Diagnosed by hand, it is of the newest content that is known.
      const order = closing ?? Math.max(0, ...heads.map((head) => head.closing));
      const summary = {
        ...summarise(stored),
        issues: [...occurrences].map(([issue, { category, place, cause }]) => ({
          issue,
          category,
          place,
          cause,
        })),
      };
      if (await this.#create(stored, summary, order, contentHash)) {
        const issues = await this.#derive(summary, order, occurrences, diagnosis);
        return { version, created: true, issues };
      }
    }
    throw new ResultConflictError(
      `session ${idHash(diagnosis.sessionId)}: ${PUT_ROUNDS} other versions were written while this one was being stored; try again`,
    );
  }

  async withoutRejected(diagnosis: Diagnosis): Promise<Diagnosis> {
    const rejected: Suppressed[] = [];
    const words = new Map<string, IssueFeedback | null>();
    for (const fault of diagnosis.faults) {
      const issue = await this.#issues.issueOf(fault);
      if (!words.has(issue)) {
        const item = await this.#table.get(issueFeedbackKey(issue));
        words.set(issue, item === null ? null : issueFeedbackSchema.parse(item));
      }
      const word = words.get(issue);
      if (word?.verdict === 'rejected')
        rejected.push({
          spanId: fault.spanId,
          category: fault.category,
          issue,
          rejectedIn: word.sessionId,
          at: word.at,
        });
    }
    return withoutRejected(diagnosis, rejected);
  }

  async giveFeedback(diagnosis: Diagnosis, feedback: Feedback): Promise<readonly string[]> {
    const { sessionId, faults } = diagnosis;
    const issues = new Set<string>(
      diagnosis.suppressed.flatMap(({ spanId, issue }) => (spanId === feedback.spanId ? [issue] : [])),
    );
    for (const fault of faults)
      if (fault.spanId === feedback.spanId) issues.add(await this.#issues.issueOf(fault));
    await this.#table.put({
      ...sessionFeedbackKey(sessionId, feedback.spanId),
      ...feedback,
      ...this.#expiry(),
    });
    // Kept without an end: a rejection is a rule, and holds until the last word is another.
    for (const issue of issues)
      await this.#table.put({
        ...issueFeedbackKey(issue),
        verdict: feedback.verdict,
        at: feedback.at,
        sessionId,
      });
    return [...issues];
  }

  async latest(sessionId: string): Promise<Diagnosis | null> {
    const newest = newestOf(await this.#heads(sessionId));
    return newest === null ? null : await this.version(sessionId, newest.summary.version);
  }

  async version(sessionId: string, version: number): Promise<Diagnosis | null> {
    const item = await this.#table.get(diagnosisKey(sessionId, version));
    return item === null ? null : await this.#load(item);
  }

  async versions(sessionId: string): Promise<readonly DiagnosisSummary[]> {
    const heads = await this.#heads(sessionId);
    const index = await this.#table.get(sessionIndexKey(sessionId));
    const handedOver = index !== null && isGivenAway(index);
    const newest = newestOf(heads);
    return heads.map((head) => ({ ...head.summary, superseded: handedOver || head !== newest }));
  }

  async recent(query: Parameters<DiagnosisStore['recent']>[0]): Promise<Page<DiagnosisSummary>> {
    const limit = query.limit ?? DEFAULT_LIMIT;
    const pk = timelinePk(patternOf(query));
    const found: { sk: string; summary: z.infer<typeof summarySchema> }[] = [];
    const after = query.next === undefined ? null : decodeNext(query.next);
    const shards = shardsOf(pk).map((shard) =>
      this.#table.query({
        pk: shard,
        newestFirst: true,
        pageSize: pageSizeOfShards(limit + 1),
        ...(query.since === undefined ? {} : { from: query.since }),
        ...(after === null ? {} : { after: { pk: shard, sk: after } }),
      }),
    );
    for await (const item of newestFirst(shards, ({ sk }) => sk)) {
      const summary = summarySchema.parse(item.summary);
      // The first filter chose the list; further ones narrow it.
      if (matches(summary, query)) found.push({ sk: item.sk, summary });
      if (found.length > limit) break;
    }
    const page = found.slice(0, limit);
    const { newest, handedOver } = await this.#standing(page.map(({ summary }) => summary.sessionId));
    const last = page.at(-1);
    return {
      items: page.map(({ summary }) => ({
        ...summary,
        superseded:
          handedOver.has(sessionPk(summary.sessionId)) ||
          summary.version !== (newest.get(sessionPk(summary.sessionId)) ?? summary.version),
      })),
      ...(found.length > limit && last !== undefined ? { next: encodeNext(last.sk) } : {}),
    };
  }

  get issues(): IssueLedger {
    return this.#issues;
  }

  async #heads(sessionId: string): Promise<z.infer<typeof headSchema>[]> {
    const heads: z.infer<typeof headSchema>[] = [];
    for await (const item of this.#table.query({
      pk: sessionPk(sessionId),
      prefix: 'DIAGNOSIS#',
      only: HEAD,
    })) {
      heads.push(headSchema.parse(item));
    }
    return heads;
  }

  async #create(
    diagnosis: Diagnosis,
    summary: Omit<DiagnosisSummary, 'superseded'>,
    closing: number,
    contentHash: string,
  ): Promise<boolean> {
    const bytes = gzipSync(JSON.stringify(diagnosis));
    const head = {
      ...diagnosisKey(diagnosis.sessionId, diagnosis.version),
      diagnosisId: diagnosis.diagnosisId,
      contentHash,
      closing,
      summary,
      ...readable(diagnosis, summary),
      ...this.#expiry(),
    };
    if (bytes.length <= (this.#options.inlineBytes ?? INLINE_BYTES))
      return await this.#table.putIf({ ...head, body: bytes }, 'absent');
    // The object first: an item never points at nothing.
    const bodyKey = diagnosisObjectKey(diagnosis.sessionId, diagnosis.diagnosisId, contentHash);
    await this.#objects.putIfAbsent(bodyKey, bytes);
    return await this.#table.putIf({ ...head, bodyKey }, 'absent');
  }

  async #derive(
    summary: Omit<DiagnosisSummary, 'superseded'>,
    closing: number,
    occurrences: ReadonlyMap<string, Fault>,
    diagnosis: Diagnosis,
  ): Promise<IssueChange[]> {
    const { sessionId, version, createdAt } = summary;
    const order = versionOrder(closing, version);
    await this.#table.putIf(
      { ...latestKey(sessionId), version, order, ...readable(diagnosis, summary), ...this.#expiry() },
      { absentOrLess: 'order', than: order },
    );
    const sk = timelineSk(createdAt, sessionId, version);
    for (const pattern of patternsFor(summary))
      await this.#table.put({ pk: shardFor(timelinePk(pattern), sessionId), sk, summary, ...this.#expiry() });
    const changes: IssueChange[] = [];
    const occurrence = { sessionId, release: summary.release, at: seenAt(summary) };
    for (const [issue, fault] of occurrences) {
      const change = await this.#issues.record(issue, fault, occurrence);
      if (change !== null) changes.push(change);
    }
    return changes;
  }

  /** The issues of a diagnosis, each with the first fault that belongs to it. */
  async #occurrences({ faults }: Diagnosis): Promise<ReadonlyMap<string, Fault>> {
    const found = new Map<string, Fault>();
    for (const fault of faults) {
      const issue = await this.#issues.issueOf(fault);
      if (!found.has(issue)) found.set(issue, fault);
    }
    return found;
  }

  async #load(item: Item): Promise<Diagnosis> {
    const { summary } = headSchema.parse(item);
    const body = bodySchema.parse(item);
    const bytes = 'body' in body ? body.body : await this.#objects.get(body.bodyKey);
    if (bytes === null)
      throw new ConfigurationInvalidError(
        `the body of the diagnosis of session ${idHash(summary.sessionId)}, version ${summary.version} is gone from the object store: ` +
          'its retention must not be shorter than that of the table',
      );
    const text = gunzipSync(bytes, { maxOutputLength: MAX_BODY_BYTES }).toString('utf8');
    const stored = migrateDiagnosis(JSON.parse(text));
    const feedback: Item[] = [];
    for await (const each of this.#table.query({ pk: item.pk, prefix: FEEDBACK_PREFIX })) feedback.push(each);
    return diagnosisSchema.parse({ ...stored, version: summary.version, feedback });
  }

  /** By partition key: the newest version, and the sessions whose traces turned out to belong to another one. */
  async #standing(
    sessionIds: readonly string[],
  ): Promise<{ newest: ReadonlyMap<string, number>; handedOver: ReadonlySet<string> }> {
    const items = await this.#table.getMany(sessionIds.flatMap((id) => [latestKey(id), sessionIndexKey(id)]));
    const pointers = items.filter((item) => item.version !== undefined);
    return {
      newest: new Map(pointers.map((item) => [item.pk, z.number().parse(item.version)])),
      handedOver: new Set(items.filter(isGivenAway).map((item) => item.pk)),
    };
  }

  #expiry(): Record<string, number> {
    const { retentionDays } = this.#options;
    if (retentionDays === null) return {};
    return { [TABLE.expiry]: Math.floor(this.#clock.now() / 1000) + retentionDays * 86_400 };
  }
}

/** When a session showed a fault: its end, unless its producer's clock is ahead of ours. */
const seenAt = ({ endedAt, createdAt }: Pick<DiagnosisSummary, 'endedAt' | 'createdAt'>): string =>
  endedAt !== null && endedAt < createdAt ? endedAt : createdAt;

/** Of the session index (ingest): `ownedBy` names the session that the traces belong to. */
const isGivenAway = (item: Item): boolean => typeof item.ownedBy === 'string';
