import { canonicalJson, sha256Hex } from '../../base/hash.ts';
import { isJsonObject } from '../../base/json.ts';
import type { Unread } from '../../session/session.ts';
import type { RawLog, RawRecord, RawSpan } from '../decode/format.ts';
import { compareTimes } from '../decode/times.ts';
import { SESSION_ID_KEYS, statedSessionId } from './ids.ts';

/** A span with its log records, or the stand-in for a span of which only log records arrived. */
export interface JoinedSpan {
  readonly span: RawSpan;
  readonly logs: readonly RawLog[];
  readonly synthetic: boolean;
}

export interface Joined {
  readonly spans: readonly JoinedSpan[];
  /** Records that belong to a trace but to no span of it; they may name its session. */
  readonly loose: readonly RawLog[];
  readonly unread: readonly Unread[];
  /** Different records, whatever the number of their deliveries. */
  readonly count: number;
}

/**
 * Joins records to spans. The result depends on the set of records alone: equal records count once, and every
 * order is by time and content, never by arrival, so that a shuffled or repeated delivery changes nothing.
 */
export function joinRecords(records: readonly RawRecord[]): Joined {
  const versions = new Map<string, RawSpan[]>();
  const logs = new Map<string, OwnedLogs>();
  const stray: RawLog[] = [];
  const said = new Set<string>();
  const loose = distinct(
    records.filter((record) => record.type === 'log'),
    (log) => `${keyOf(log.traceId ?? '', log.spanId ?? '')}\n${log.timeUnixNano}`,
  );
  const deliveries = distinct(
    records.filter((record) => record.type === 'span'),
    (span) => keyOf(span.traceId, span.spanId),
  );
  for (const span of deliveries) push(versions, keyOf(span.traceId, span.spanId), span);
  for (const log of loose) {
    // Without tracing a producer may still name the session: it then stands for the trace.
    const traceId = log.traceId ?? statedSessionId(log)?.value ?? null;
    if (traceId === null || log.spanId === null) {
      stray.push(log);
      continue;
    }
    const key = keyOf(traceId, log.spanId);
    const owned = logs.get(key) ?? { traceId, spanId: log.spanId, list: [] };
    owned.list.push(log);
    logs.set(key, owned);
    if (typeof log.body === 'string') said.add(log.body);
  }

  const spans: JoinedSpan[] = [];
  for (const [key, list] of versions) {
    spans.push({ span: newest(list), logs: inOrder(logs.get(key)?.list ?? []), synthetic: false });
  }
  for (const [key, { traceId, spanId, list }] of logs) {
    const ordered = inOrder(list);
    if (!versions.has(key) && ordered.some(isTelling)) {
      spans.push({ span: standIn(ordered, traceId, spanId), logs: ordered, synthetic: true });
    }
  }
  let lost = 0;
  for (const log of stray) {
    // AgentCore writes each application line twice, as text and as a log record of its span.
    if (!isTelling(log) || (typeof log.body === 'string' && said.has(log.body))) continue;
    const traceId = log.traceId ?? statedSessionId(log)?.value ?? null;
    if (traceId === null) lost += 1;
    else
      spans.push({
        span: standIn([log], traceId, sha256Hex(canonicalJson(log)).slice(0, 16)),
        logs: [log],
        synthetic: true,
      });
  }
  const unread: Unread[] =
    lost === 0
      ? []
      : [
          {
            where: 'log records',
            reason: 'an error or event that names neither trace nor session',
            count: lost,
          },
        ];
  return { spans, loose, unread, count: deliveries.length + loose.length };
}

/** Different records in the order of a key, then of content. Only records of one key are written out and compared. */
function distinct<T extends RawRecord>(records: readonly T[], key: (record: T) => string): T[] {
  const groups = [...Map.groupBy(records, key)].sort(([a], [b]) => (a < b ? -1 : 1));
  return groups.flatMap(([, group]) => {
    if (group.length === 1) return group;
    const unique = new Map(group.map((record) => [canonicalJson(record), record]));
    return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, record]) => record);
  });
}

/**
 * One span from all its deliveries: a completed record beats one in progress (X-Ray sends both), then the one that
 * ends later, then the one that says more, then the greater text. Parent, name and service that only another
 * delivery has are taken from it, and so is the session that only another one names.
 */
function newest(list: readonly RawSpan[]): RawSpan {
  const [only, ...more] = list;
  if (only !== undefined && more.length === 0) return only;
  const written = list.map((span): [string, RawSpan] => [canonicalJson(span), span]);
  const ranked = written.sort(([textA, a], [textB, b]) => {
    if (a.inProgress !== b.inProgress) return a.inProgress ? 1 : -1;
    if ((a.endTimeUnixNano === null) !== (b.endTimeUnixNano === null))
      return a.endTimeUnixNano === null ? 1 : -1;
    return (
      compareTimes(b.endTimeUnixNano, a.endTimeUnixNano) ||
      textB.length - textA.length ||
      (textA < textB ? 1 : -1)
    );
  });
  const [first, ...rest] = ranked.map(([, span]) => span);
  if (first === undefined) throw new Error('a span has at least one delivery');
  return {
    ...first,
    attributes: withSessionIds(first, rest),
    parentSpanId: first.parentSpanId ?? rest.find((span) => span.parentSpanId !== null)?.parentSpanId ?? null,
    name: first.name || (rest.find((span) => span.name !== '')?.name ?? ''),
    startTimeUnixNano:
      first.startTimeUnixNano ??
      rest.find((span) => span.startTimeUnixNano !== null)?.startTimeUnixNano ??
      null,
    resource:
      Object.keys(first.resource).length > 0
        ? first.resource
        : (rest.find((span) => Object.keys(span.resource).length > 0)?.resource ?? {}),
  };
}

/** A session that only another delivery names is the span's session all the same. */
function withSessionIds(first: RawSpan, rest: readonly RawSpan[]): RawSpan['attributes'] {
  const named = SESSION_ID_KEYS.flatMap((key) => {
    if (first.attributes[key] !== undefined) return [];
    const value = rest.find((span) => span.attributes[key] !== undefined)?.attributes[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  return named.length === 0 ? first.attributes : { ...first.attributes, ...Object.fromEntries(named) };
}

/** By time; those of one time stay by content: messages of one call are told apart by nanoseconds. */
const inOrder = (list: readonly RawLog[]): RawLog[] =>
  [...list].sort((a, b) => compareTimes(a.timeUnixNano, b.timeUnixNano));

/** Whether a record has something a diagnosis needs: content of the agent, or trouble. Other lines only name sessions. */
export function isTelling(log: RawLog): boolean {
  if (isErrorLine(log)) return true;
  const event = String(log.attributes['event.name'] ?? '');
  if (/^gen_ai\./.test(event) || isClaudeCode(log)) return true;
  return isJsonObject(log.body) && (isJsonObject(log.body.input) || isJsonObject(log.body.output));
}

export function isErrorLine(log: RawLog): boolean {
  return /^(error|critical|fatal)/i.test(String(log.attributes.level ?? ''));
}

function isClaudeCode(log: RawLog): boolean {
  if (log.scope.name.startsWith('com.anthropic.claude_code')) return true;
  // The line of an application has no resource: what it prints about its users is no event.
  const isLine = Object.keys(log.resource).length === 0;
  return !isLine && typeof log.body === 'string' && log.body.startsWith('claude_code.');
}

interface OwnedLogs {
  readonly traceId: string;
  readonly spanId: string;
  readonly list: RawLog[];
}

function standIn(logs: readonly RawLog[], traceId: string, spanId: string): RawSpan {
  const [first] = logs;
  if (first === undefined) throw new Error('a stand-in has at least one record');
  const telling = logs.find(isTelling) ?? first;
  const times = logs
    .flatMap((log) => (log.timeUnixNano === null ? [] : [log.timeUnixNano]))
    .sort(compareTimes);
  const event = String(telling.attributes['event.name'] ?? '');
  return {
    type: 'span',
    traceId,
    spanId,
    parentSpanId: null,
    name:
      isClaudeCode(telling) && typeof telling.body === 'string'
        ? telling.body
        : telling.scope.name || event || 'log record',
    kind: null,
    startTimeUnixNano: times[0] ?? null,
    endTimeUnixNano: times.at(-1) ?? null,
    scope: telling.scope,
    resource: telling.resource,
    attributes: { ...telling.attributes, ...errorText(telling), 'rootspan.synthetic': true },
    events: [],
    status: { code: 'unset', message: null },
    inProgress: false,
  };
}

function errorText(log: RawLog): { message?: string } {
  return typeof log.body === 'string' && isErrorLine(log) ? { message: log.body } : {};
}

function keyOf(traceId: string, spanId: string): string {
  return `${traceId}\n${spanId}`;
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
