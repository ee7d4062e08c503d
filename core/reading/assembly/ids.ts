import type { RawLog, RawRecord, RawSpan } from '../decode/format.ts';
import { compareTimes } from '../decode/times.ts';

/**
 * Where producers name the session, first present wins. A trace without any of these is a session by its trace id.
 * `sessionId` stands on plain application lines.
 */
export const SESSION_ID_KEYS = [
  'session.id',
  'gen_ai.conversation.id',
  'langfuse.session.id',
  'gcp.vertex.agent.session_id',
  'ai.telemetry.metadata.sessionId',
  'traceloop.association.properties.session_id',
  'traceloop.association.properties.thread_id',
  'langsmith.metadata.session_id',
  'langsmith.metadata.thread_id',
  'langsmith.trace.session_id',
  'sessionId',
] as const;

export interface StatedId {
  /** Place in the precedence list; resource attributes come after all of it. */
  readonly rank: number;
  readonly value: string;
}

/** The session that a record itself names. */
export function statedSessionId(record: RawRecord): StatedId | null {
  for (const [source, offset] of [
    [record.attributes, 0],
    [record.resource, SESSION_ID_KEYS.length],
  ] as const) {
    for (const [index, key] of SESSION_ID_KEYS.entries()) {
      const value = source[key];
      if ((typeof value === 'string' && value.trim() !== '') || typeof value === 'number') {
        return { rank: index + offset, value: String(value) };
      }
    }
  }
  return null;
}

export interface TraceSession {
  readonly sessionId: string;
  /** False: nothing in the trace names a session, the id is the trace id. */
  readonly stated: boolean;
  readonly rank: number;
}

/**
 * The session of a trace, from all its spans and log records whatever order they came in: the best-ranked key
 * present anywhere; among its values the one nearest to the root, then the earliest, then the smaller text.
 */
export function sessionOfTrace(
  traceId: string,
  spans: readonly { readonly span: RawSpan; readonly logs: readonly RawLog[]; readonly depth: number }[],
  loose: readonly RawLog[],
): TraceSession {
  let best: { id: StatedId; depth: number; time: string | null } | null = null;
  const offer = (record: RawRecord, depth: number, time: string | null): void => {
    const id = statedSessionId(record);
    if (id === null) return;
    const order =
      best === null
        ? -1
        : id.rank - best.id.rank ||
          depth - best.depth ||
          compareTimes(time, best.time) ||
          (id.value < best.id.value ? -1 : id.value > best.id.value ? 1 : 0);
    if (order < 0) best = { id, depth, time };
  };
  for (const { span, logs, depth } of spans) {
    offer(span, depth, span.startTimeUnixNano);
    for (const log of logs) offer(log, depth, log.timeUnixNano);
  }
  for (const log of loose) offer(log, Number.MAX_SAFE_INTEGER, log.timeUnixNano);
  const found = best as { id: StatedId } | null;
  if (found === null) return { sessionId: traceId, stated: false, rank: Number.MAX_SAFE_INTEGER };
  return { sessionId: found.id.value, stated: true, rank: found.id.rank };
}
