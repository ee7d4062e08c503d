import { canonicalJson } from '../base/hash.ts';
import { ConfigurationInvalidError } from '../errors/errors.ts';
import { statedSessionId } from '../reading/assembly/ids.ts';
import { decodeLogEventMessage } from '../reading/decode/decode-log-event.ts';
import type { RawRecord } from '../reading/decode/format.ts';

/** A log event as FilterLogEvents gives it. */
export interface LogRow {
  readonly logGroup: string;
  readonly logStreamName: string;
  readonly timestamp: number;
  readonly ingestionTime: number;
  readonly eventId: string;
  readonly message: string;
}

export interface LogPage {
  readonly rows: readonly LogRow[];
  /** `null` on the last page. A page may be empty and still have a next one. */
  readonly next: string | null;
}

/** Log groups, read a page at a time. */
export interface LogReader {
  /** `expired` when the token is too old to go on from. */
  page(query: {
    readonly logGroup: string;
    /** Milliseconds since the epoch, both ends included. */
    readonly start: number;
    readonly end: number;
    /** CloudWatch filter pattern; all events when absent. */
    readonly pattern?: string;
    readonly token?: string;
  }): Promise<LogPage | 'expired'>;
}

export interface FetchQuery {
  readonly logGroups: readonly string[];
  readonly sessionId: string;
  readonly start: number;
  readonly end: number;
}

/** Where a fetch stands; kept after each page, so that a broken one goes on from there. */
export interface FetchState {
  readonly query: FetchQuery;
  /** First the records that hold the session id, then those of the traces found in them. */
  readonly step: 'find' | 'follow' | 'done';
  /** Place in the step's list of reads. */
  readonly read: number;
  readonly token: string | null;
  readonly traceIds: readonly string[];
}

export const beginFetch = (query: FetchQuery): FetchState => ({
  query,
  step: 'find',
  read: 0,
  token: null,
  traceIds: [],
});

/** A read by pattern scans its whole range before it ends: parts keep what a broken read loses small. */
const PART_MS = 3_600_000;
const MAX_PARTS = 48;
/** A filter pattern has at most 1,024 characters; `?"<32 hex digits>" ` is 36. */
const TRACES_A_PATTERN = 25;

/**
 * Everything that log groups hold of one session: the records that name it, and all records of their traces, which
 * mostly do not. Yields after each page what came and where the fetch stands; the same record may come twice.
 *
 * ConfigurationInvalidError when `state` belongs to another query.
 */
export async function* fetchSession(
  query: FetchQuery,
  state: FetchState,
  reader: LogReader,
): AsyncGenerator<{ readonly rows: readonly LogRow[]; readonly state: FetchState }> {
  if (canonicalJson(state.query) !== canonicalJson(query))
    throw new ConfigurationInvalidError(
      `the unfinished fetch is of session ${state.query.sessionId} in ${state.query.logGroups.join(', ')} from ` +
        `${new Date(state.query.start).toISOString()} to ${new Date(state.query.end).toISOString()}: ` +
        'finish it with the same arguments, or write to another file',
    );
  let at = state;
  while (at.step !== 'done') {
    const reads = readsOf(at);
    const read = reads[at.read];
    if (read === undefined) {
      at = { ...at, step: at.step === 'find' ? 'follow' : 'done', read: 0, token: null };
      yield { rows: [], state: at };
      continue;
    }
    const page = await reader.page({ ...read, ...(at.token === null ? {} : { token: at.token }) });
    if (page === 'expired') {
      at = { ...at, token: null };
      continue;
    }
    // The text of the id may stand anywhere: only records that name the session by it tell of its traces.
    const rows = at.step === 'find' ? page.rows.filter((row) => isOf(row, query.sessionId)) : page.rows;
    const traceIds =
      at.step === 'find' ? [...new Set([...at.traceIds, ...rows.flatMap(tracesOf)])].sort() : at.traceIds;
    at =
      page.next === null
        ? { ...at, traceIds, read: at.read + 1, token: null }
        : { ...at, traceIds, token: page.next };
    yield { rows, state: at };
  }
}

function readsOf({ query, step, traceIds }: FetchState) {
  const { logGroups, start, end } = query;
  const patterns =
    step === 'find'
      ? [term(query.sessionId)]
      : Array.from({ length: Math.ceil(traceIds.length / TRACES_A_PATTERN) }, (_, index) =>
          traceIds
            .slice(index * TRACES_A_PATTERN, (index + 1) * TRACES_A_PATTERN)
            .map((traceId) => `?${term(traceId)}`)
            .join(' '),
        );
  return logGroups.flatMap((logGroup) =>
    patterns.flatMap((pattern) => partsOf(start, end).map((part) => ({ logGroup, pattern, ...part }))),
  );
}

function partsOf(start: number, end: number): { start: number; end: number }[] {
  const count = Math.min(MAX_PARTS, Math.max(1, Math.ceil((end - start) / PART_MS)));
  const length = Math.ceil((end - start + 1) / count);
  return Array.from({ length: count }, (_, index) => ({
    start: start + index * length,
    end: Math.min(end, start + (index + 1) * length - 1),
  })).filter((part) => part.start <= part.end);
}

/** A quoted term matches the exact text anywhere in the message. */
function term(text: string): string {
  if (/["\\\p{Cc}]/u.test(text) || text.length > 500)
    throw new ConfigurationInvalidError(
      `${JSON.stringify(text.slice(0, 100))} cannot be searched for in CloudWatch Logs: expected an id without ` +
        'quotes, backslashes and control characters of at most 500 characters',
    );
  return `"${text}"`;
}

const isOf = (row: LogRow, sessionId: string): boolean =>
  recordsOf(row).some(
    (record) => record.traceId === sessionId || statedSessionId(record)?.value === sessionId,
  );

const tracesOf = (row: LogRow): string[] => recordsOf(row).flatMap((record) => record.traceId ?? []);

function recordsOf(row: LogRow): RawRecord[] {
  const decoded = decodeLogEventMessage(row.message);
  return Array.isArray(decoded) ? decoded : [];
}
