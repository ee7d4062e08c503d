import { canonicalJson, sha256Hex } from '../../core/base/hash.ts';
import type { LogEvent } from '../../core/ingest/envelope.ts';
import { assembleSessions } from '../../core/reading/assembly/assemble.ts';
import { statedSessionId } from '../../core/reading/assembly/ids.ts';
import { showsAgent } from '../../core/reading/assembly/shows-agent.ts';
import { decodeLogEventMessage } from '../../core/reading/decode/decode-log-event.ts';
import type { RawRecord } from '../../core/reading/decode/format.ts';
import { type Session, sessionSpans } from '../../core/session/session.ts';

/**
 * What the way in must come to, said without it: for a set of events, the sessions and their content hashes. A
 * session has the records of every trace in which a record names it; a trace that names none is one by its own id.
 */
export function expectedSessions(events: readonly LogEvent[]): Map<string, { hash: string; agent: boolean }> {
  const traces = new Map<string, RawRecord[]>();
  for (const event of events) {
    const decoded = decodeLogEventMessage(event.message);
    for (const record of Array.isArray(decoded) ? decoded : []) {
      const place = record.traceId ?? statedSessionId(record)?.value;
      if (place !== undefined) traces.set(place, [...(traces.get(place) ?? []), record]);
    }
  }
  const linked = new Map<string, RawRecord[]>();
  for (const [traceId, records] of traces) {
    const named = new Set(records.flatMap((record) => statedSessionId(record)?.value ?? []));
    // Nothing of an agent: kept aside.
    if (named.size === 0 && !records.some(showsAgent)) continue;
    // What of a trace with several sessions belongs to none of them is a session by the trace's id.
    for (const id of named.size === 1 ? named : [...named, traceId])
      linked.set(id, [...(linked.get(id) ?? []), ...records]);
  }
  const found = new Map<string, { hash: string; agent: boolean }>();
  for (const [id, records] of linked) {
    const own = assembleSessions(records).sessions.find((session) => session.sessionId === id);
    if (own !== undefined) found.set(id, { hash: sha256Hex(canonicalJson(own)), agent: isOfAgent(own) });
  }
  return found;
}

const isOfAgent = (session: Session): boolean => sessionSpans(session).some((span) => span.kind !== 'other');
