import { SessionTooLargeError } from '../../errors/errors.ts';
import { redactCredentials, redactUnread } from '../../redaction/redact-credentials.ts';
import type { Session, Span, Trace, Unread } from '../../session/session.ts';
import { conventionFor } from '../conventions/index.ts';
import type { RawRecord, ReadResult } from '../decode/format.ts';
import { withoutPause } from '../decode/pauses.ts';
import { pairCalls } from './calls.ts';
import { flagContent } from './content.ts';
import { mergeDuplicates } from './duplicates.ts';
import { gatherFromContent, gatherStated } from './evidence.ts';
import { type StatedId, statedSessionId } from './ids.ts';
import { linkTraces } from './links.ts';
import { placeOfferedTools } from './offered-tools.ts';
import { type JoinedSpan, joinRecords } from './records.ts';
import { sessionsOfSpans } from './span-sessions.ts';
import { arrange } from './tree.ts';
import type { Work } from './work.ts';

export interface AssembleOptions {
  /** Format id to put into the sessions, usually that of the envelope. Default `telemetry`. */
  readonly format?: string;
  /** Sessions of traces, by trace id, of which the records that name them are not among those given. */
  readonly inherited?: ReadonlyMap<string, string>;
}

/** Hard cap of one session; beyond it the records are not one session's but a whole log group. */
const MAX_SPANS = 200_000;

/**
 * Puts raw records together to sessions. The result is a function of the set of records: their order, repetition
 * and division into deliveries change nothing, so a frozen session has one hash.
 *
 * Steps: records are joined to spans (see `joinRecords`), each span is read by its convention (order of precedence of
 * content: see `gather`), each trace is made a tree (`arrange`), duplicates of one call are merged
 * (`mergeDuplicates`), spans and traces become sessions (`sessionsOfSpans`, `linkTraces`), calls are paired over the session
 * (`pairCalls`) and evidence of failure is gathered. At last credentials are replaced (`redactCredentials`): the raw
 * records are the only place that has them.
 */
export function assembleSessions(records: readonly RawRecord[], options: AssembleOptions = {}): ReadResult {
  const { spans, loose, unread, count } = joinRecords(records);
  if (spans.length > MAX_SPANS) {
    throw new SessionTooLargeError(
      `found ${spans.length} spans; at most ${MAX_SPANS} can be read at once. Select one session (session id, time range) and export it again.`,
    );
  }
  const traces = new Map<string, JoinedSpan[]>();
  for (const joined of spans) {
    const list = traces.get(joined.span.traceId);
    if (list === undefined) traces.set(joined.span.traceId, [joined]);
    else list.push(joined);
  }
  const looseByTrace = Map.groupBy(loose, (log) => log.traceId);
  const read = [...traces].map(([traceId, list]) => {
    const works = arrange(list.map(readSpan));
    for (const work of works) gatherStated(work);
    mergeDuplicates(works);
    placeOfferedTools(works);
    inheritAgents(works);
    const found = sessionsOfSpans(works, looseByTrace.get(traceId) ?? []);
    flagSecondIds(found);
    const named = Map.groupBy(
      works,
      (work) => found.get(work)?.value ?? options.inherited?.get(traceId) ?? null,
    );
    return { traceId, named };
  });

  const nameless = read.flatMap(({ traceId, named }) => {
    const works = named.get(null);
    // Beside sessions that are named, what is left of a trace belongs to none of them, and to no other trace.
    return works === undefined || named.size > 1 ? [] : [{ traceId, works }];
  });
  const links = linkTraces(nameless);
  const sessions = new Map<string, { traceId: string; works: Work[] }[]>();
  for (const { traceId, named } of read) {
    for (const [name, works] of named) {
      const id = name ?? links.get(traceId) ?? traceId;
      if (named.size > 1) cutLoose(works);
      const list = sessions.get(id);
      if (list === undefined) sessions.set(id, [{ traceId, works }]);
      else list.push({ traceId, works });
    }
  }
  const built = [...sessions].map(([id, list]) => buildSession(id, list, options.format ?? 'telemetry'));
  return {
    sessions: built.sort(byFirstSpan).map(redactCredentials),
    unread: redactUnread([...unread, ...lonelyLines(spans.length, count)]),
  };
}

function readSpan({ span: recorded, logs, synthetic }: JoinedSpan): Work {
  const span = withoutPause(recorded);
  const { span: content, errors, flags, agent } = conventionFor(span, logs).read(span, logs);
  return {
    raw: span,
    logs,
    spanId: span.spanId,
    statedParent: span.parentSpanId,
    parentSpanId: span.parentSpanId,
    start: span.startTimeUnixNano,
    end: span.endTimeUnixNano,
    detached: synthetic,
    depth: 0,
    flags: new Set(flags),
    errors: [...errors],
    agent,
    content,
  };
}

/** A step belongs to the agent that it runs under, unless it names one itself. */
function inheritAgents(works: readonly Work[]): void {
  const byId = new Map(works.map((work) => [work.spanId, work]));
  // Parents come first in the order, so one pass is enough.
  for (const work of works) {
    if (work.agent === null && work.parentSpanId !== null)
      work.agent = byId.get(work.parentSpanId)?.agent ?? null;
  }
}

function flagSecondIds(found: ReadonlyMap<Work, StatedId | null>): void {
  for (const [work, session] of found) {
    const stated = [work.raw, ...work.logs].map(statedSessionId);
    if (stated.some((id) => id !== null && id.rank === session?.rank && id.value !== session.value))
      work.flags.add('second-session-id');
  }
}

/** A span whose parent belongs to another session has none in its own. */
function cutLoose(works: readonly Work[]): void {
  const known = new Set(works.map((work) => work.spanId));
  for (const work of works)
    if (work.parentSpanId !== null && !known.has(work.parentSpanId)) work.parentSpanId = null;
}

function buildSession(
  sessionId: string,
  list: readonly { traceId: string; works: Work[] }[],
  format: string,
): Session {
  const ordered = [...list].sort(
    (a, b) => compareWorks(a.works[0], b.works[0]) || (a.traceId < b.traceId ? -1 : 1),
  );
  makeIdsUnique(ordered);
  const works = ordered.flatMap((trace) => trace.works);
  pairCalls(works);
  gatherFromContent(works);
  const isAlone = !works.some(
    (work) => work.content.kind === 'inference' || work.content.kind === 'execute_tool',
  );
  for (const work of works) flagContent(work, isAlone);
  const traces: Trace[] = ordered.map((trace) => ({
    traceId: trace.traceId,
    sessionId,
    spans: trace.works.map(toSpan),
  }));
  const service = works
    .map((work) => work.raw.resource['service.name'])
    .find((name) => typeof name === 'string' && !name.startsWith('unknown_service'));
  const release = works
    .map((work) => work.raw.resource['service.version'])
    .find((version) => typeof version === 'string' && version !== '');
  const agent =
    works.find((work) => work.content.kind === 'invoke_agent' && work.agent !== null)?.agent ??
    works.find((work) => work.agent !== null)?.agent;
  return {
    sessionId,
    format,
    traces,
    goal: null,
    agent: agent ?? null,
    service: typeof service === 'string' ? service : null,
    ...(typeof release === 'string' ? { release } : {}),
    unread: nothingOfAnAgent(works),
  };
}

/** A session of servers, clients and queues alone must not read as an agent's clean run. */
function nothingOfAnAgent(works: readonly Work[]): Unread[] {
  if (works.some((work) => work.content.kind !== 'other')) return [];
  const scopes = [...new Set(works.map((work) => work.raw.scope.name || '(no scope)'))]
    .sort()
    .slice(0, 5)
    .join(', ');
  return [
    {
      where: 'spans',
      reason: `no span with agent content in a format that is read (scopes: ${scopes})`,
      count: works.length,
    },
  ];
}

/** Span ids are unique within a trace only; in a session the later trace's span gets its trace id in front. */
function makeIdsUnique(traces: readonly { traceId: string; works: Work[] }[]): void {
  const taken = new Set<string>();
  for (const { traceId, works } of traces) {
    const renamed = new Map<string, string>();
    for (const work of works) {
      if (taken.has(work.spanId)) renamed.set(work.spanId, `${traceId}:${work.spanId}`);
      taken.add(renamed.get(work.spanId) ?? work.spanId);
    }
    if (renamed.size === 0) continue;
    for (const [index, work] of works.entries()) {
      works[index] = {
        ...work,
        spanId: renamed.get(work.spanId) ?? work.spanId,
        parentSpanId:
          work.parentSpanId === null ? null : (renamed.get(work.parentSpanId) ?? work.parentSpanId),
      };
    }
  }
}

function toSpan(work: Work): Span {
  return {
    spanId: work.spanId,
    traceId: work.raw.traceId,
    parentSpanId: work.parentSpanId,
    name: work.raw.name || work.content.kind,
    agent: work.agent,
    startTimeUnixNano: work.start,
    endTimeUnixNano: work.end,
    status: work.raw.status.code,
    errors: work.errors,
    flags: [...work.flags].sort(),
    ...work.content,
  };
}

function compareWorks(a: Work | undefined, b: Work | undefined): number {
  const [ka, kb] = [timeKey(a), timeKey(b)];
  return ka < kb ? -1 : ka > kb ? 1 : 0;
}

function byFirstSpan(a: Session, b: Session): number {
  const key = (session: Session): string => pad(session.traces[0]?.spans[0]?.startTimeUnixNano ?? null);
  const [ka, kb] = [key(a), key(b)];
  if (ka !== kb) return ka < kb ? -1 : 1;
  return a.sessionId < b.sessionId ? -1 : 1;
}

function timeKey(work: Work | undefined): string {
  return pad(work?.start ?? null);
}

/** Nanoseconds since the epoch have at most 20 digits; absent times come last. */
function pad(time: string | null): string {
  return time === null ? '~' : time.padStart(20, '0');
}

/** Records, but nothing of an agent in them: said, so that it does not read as an empty, clean session. */
function lonelyLines(spans: number, records: number): Unread[] {
  if (spans > 0 || records === 0) return [];
  return [
    {
      where: 'log records',
      reason: 'application lines only, no span and no content of an agent',
      count: records,
    },
  ];
}
