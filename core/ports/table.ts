import { sha256Hex } from '../base/hash.ts';
import type { IssueState } from '../diagnosis/issue.ts';
import type { Outcome } from '../diagnosis/schema.ts';
import { keyPart } from './object-keys.ts';

/**
 * The one table. The construct, the tests' DynamoDB and the emulator all create it from this object, so that
 * they cannot drift apart.
 *
 * | item | pk | sk | index pk | index sk |
 * |---|---|---|---|---|
 * | diagnosis, one a version | `SESSION#<id>` | `DIAGNOSIS#<version>` | | |
 * | newest version | `SESSION#<id>` | `LATEST` | | |
 * | failure of an execution | `SESSION#<id>` | `FAILURE#<execution>` | `FAILURES#<shard>` | time |
 * | session index (ingest) | `SESSION#<id>` | `INDEX` | `DUE#<shard>` while open | due time |
 * | session has trace | `SESSION#<id>` | `TRACE#<trace>` | | |
 * | trace is of session | `TRACE#<trace>` | `SESSION#<id>` | | |
 * | delivery kept aside | `TRACE#<trace>` | `DEFERRED#<hash>` | | |
 * | timeline entry | `RECENT#<pattern>#<shard>` | `<time>#<session>#<version>` | | |
 * | issue | `FINGERPRINT#<issue>` | `STATE` | `FINGERPRINTS#<state>#<shard>` | last seen |
 * | issue in a session | `FINGERPRINT#<issue>` | `SEEN#<session>` | | |
 * | last word on an issue | `FINGERPRINT#<issue>` | `FEEDBACK` | | |
 * | feedback on a failure | `SESSION#<id>` | `FEEDBACK#<span>` | | |
 * | causes known at a site | `SITE#<site>` | `CAUSES` | | |
 * | budget counter | `BUDGET#<day>` | `SPENT` | | |
 *
 * Whatever has several list positions (a diagnosis has an agent, a service, an outcome and many categories) has
 * timeline entries of its own, written again without harm. Whatever moves through states stands in the sparse
 * index and moves with its item. No write touches two items at once.
 *
 * A partition takes 1,000 writes a second whatever the table does, so what all sessions share (what is due, failures,
 * timelines, open fingerprints) stands in shards by the hash of its own id, and is read from all of them.
 */
export const TABLE = {
  partitionKey: 'pk',
  sortKey: 'sk',
  /** Seconds since the epoch. DynamoDB deletes up to days late, so readers filter as well. */
  expiry: 'expiresAt',
  index: { name: 'by-state', partitionKey: 'ipk', sortKey: 'isk' },
} as const;

export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

export const sessionPk = (sessionId: string): string => `SESSION#${keyPart(sessionId)}`;

/** Six digits keep the order of text equal to the order of numbers. */
export const diagnosisKey = (sessionId: string, version: number): ItemKey => ({
  pk: sessionPk(sessionId),
  sk: `DIAGNOSIS#${String(version).padStart(6, '0')}`,
});

export const latestKey = (sessionId: string): ItemKey => ({ pk: sessionPk(sessionId), sk: 'LATEST' });

export const failureKey = (sessionId: string, executionName: string): ItemKey => ({
  pk: sessionPk(sessionId),
  sk: `FAILURE#${keyPart(executionName)}`,
});

/** 16 partitions take 16,000 writes a second. */
export const SHARDS = 16;
const ALL_SHARDS = Array.from({ length: SHARDS }, (_, n) => n.toString(16));
const shardOf = (id: string): string => sha256Hex(id).slice(0, 1);
/** The partitions of a sharded key, for who reads them all. */
export const shardsOf = (pk: string): string[] => ALL_SHARDS.map((shard) => `${pk}#${shard}`);
/** The one in which an id stands. */
export const shardFor = (pk: string, id: string): string => `${pk}#${shardOf(id)}`;

/** Items to ask each shard for at once, so that all together bring little more than `limit`; who needs more asks again. */
export const pageSizeOfShards = (limit: number): number => Math.ceil(limit / SHARDS) + 4;

export const FAILURES_INDEX_PK = 'FAILURES';

/** The lists a diagnosis stands in. `all` is the list without a filter. */
export type TimelinePattern =
  | { readonly by: 'all' }
  | { readonly by: 'agent' | 'service' | 'category' | 'issue'; readonly value: string }
  | { readonly by: 'outcome'; readonly value: Outcome };

export const timelinePk = (pattern: TimelinePattern): string =>
  pattern.by === 'all' ? 'RECENT#all' : `RECENT#${pattern.by}#${keyPart(pattern.value)}`;

export const timelineSk = (createdAt: string, sessionId: string, version: number): string =>
  `${createdAt}#${keyPart(sessionId)}#${String(version).padStart(6, '0')}`;

export const fingerprintKey = (fingerprint: string): ItemKey => ({
  pk: `FINGERPRINT#${keyPart(fingerprint)}`,
  sk: 'STATE',
});
export const fingerprintSeenKey = (fingerprint: string, sessionId: string): ItemKey => ({
  pk: `FINGERPRINT#${keyPart(fingerprint)}`,
  sk: `SEEN#${keyPart(sessionId)}`,
});
/** What people said of an issue; the last word. */
export const issueFeedbackKey = (issue: string): ItemKey => ({
  pk: `FINGERPRINT#${keyPart(issue)}`,
  sk: 'FEEDBACK',
});
export const FEEDBACK_PREFIX = 'FEEDBACK#';
export const sessionFeedbackKey = (sessionId: string, spanId: string): ItemKey => ({
  pk: sessionPk(sessionId),
  sk: `${FEEDBACK_PREFIX}${keyPart(spanId)}`,
});
/** Which causes are known of a category at one place. */
export const causesKey = (site: string): ItemKey => ({ pk: `SITE#${keyPart(site)}`, sk: 'CAUSES' });
export const fingerprintIndexPk = (state: IssueState): string => `FINGERPRINTS#${state}`;

/** What a day's model calls cost or are held to cost; the day is that of UTC. */
export const budgetKey = (day: string): ItemKey => ({ pk: `BUDGET#${day}`, sk: 'SPENT' });

export const sessionIndexKey = (sessionId: string): ItemKey => ({ pk: sessionPk(sessionId), sk: 'INDEX' });
export const DUE_INDEX_PK = 'DUE';
/** Milliseconds, padded so that text order is time order. */
export const dueIndexSk = (ms: number): string => String(ms).padStart(15, '0');
export const SESSION_TRACE_PREFIX = 'TRACE#';
export const sessionTraceKey = (sessionId: string, traceId: string): ItemKey => ({
  pk: sessionPk(sessionId),
  sk: `${SESSION_TRACE_PREFIX}${keyPart(traceId)}`,
});
export const tracePk = (traceId: string): string => `TRACE#${keyPart(traceId)}`;
export const TRACE_SESSION_PREFIX = 'SESSION#';
export const traceSessionKey = (traceId: string, sessionId: string): ItemKey => ({
  pk: tracePk(traceId),
  sk: `${TRACE_SESSION_PREFIX}${keyPart(sessionId)}`,
});

/** What came of a trace that shows nothing of an agent. */
export const DEFERRED_PREFIX = 'DEFERRED#';
export const deferredKey = (traceId: string, hash: string): ItemKey => ({
  pk: tracePk(traceId),
  sk: `${DEFERRED_PREFIX}${hash}`,
});
