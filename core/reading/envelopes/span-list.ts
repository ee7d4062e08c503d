import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Envelope, RawRecord } from '../decode/format.ts';
import { isSpanRecord, readRecord } from '../decode/raw-record.ts';
import { UnreadTally } from './unread-tally.ts';

/** Spans as SDK exporters and test fixtures write them: snake_case, alone or as `{session_id, spans: […]}`. */
export const spanList: Envelope = {
  id: 'span-list',
  title: 'Span list (snake_case)',
  knownBy: '[{trace_id, span_id, parent_span_id, attributes, scope}], or {session_id, spans: […]}',
  from: 'spans in snake case, as in-memory exporters and test fixtures write them',
  checkedOn: 'Strands Evals test fixtures',
  recognise: (document) => {
    const spans = spansOf(document);
    const sample = spans.slice(0, 50);
    const known = sample.filter(
      (item) => isJsonObject(item) && item.trace_id !== undefined && isSpanRecord(item),
    ).length;
    if (known === 0) return { match: 'no' };
    return { match: 'yes', sure: known === sample.length ? 0.9 : 0.7 };
  },
  mayCutAfter: () => true,
  unpack: (document) => {
    const records: RawRecord[] = [];
    const tally = new UnreadTally('span-list');
    const sessionId = isJsonObject(document) ? document.session_id : undefined;
    for (const item of spansOf(document)) {
      const record = isJsonObject(item) ? readRecord(withSession(item, sessionId)) : null;
      if (record === null) tally.add('neither a span nor a log record');
      else records.push(record);
    }
    return { records, unread: tally.list() };
  },
};

function spansOf(document: JsonValue): JsonValue[] {
  if (Array.isArray(document)) return document;
  if (!isJsonObject(document)) return [];
  return Array.isArray(document.spans) ? document.spans : [document];
}

/** The wrapper names the session for all its spans, but a span's own statement is not overruled. */
function withSession(span: JsonObject, sessionId: JsonValue | undefined): JsonObject {
  if (typeof sessionId !== 'string' || sessionId === '' || !isJsonObject(span.attributes)) return span;
  return { ...span, attributes: { 'session.id': sessionId, ...span.attributes } };
}
