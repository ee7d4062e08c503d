import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Envelope, RawRecord } from '../decode/format.ts';
import { readRecord } from '../decode/raw-record.ts';
import { UnreadTally } from './unread-tally.ts';

const KINDS: ReadonlySet<string> = new Set([
  'LLM',
  'CHAIN',
  'TOOL',
  'RETRIEVER',
  'EMBEDDING',
  'AGENT',
  'RERANKER',
  'GUARDRAIL',
  'EVALUATOR',
  'PROMPT',
  'DECISION',
  'UNKNOWN',
]);

/**
 * Spans of Arize Phoenix (arize-phoenix-client 3.5.0; server `api/routers/v1/spans.py`): pages of `GET …/spans` and
 * `…/spans/otlpv1`, the list of `client.spans.get_spans`, or one a line. The kind has been taken out of the attributes.
 * Annotations and evaluations are not read.
 */
export const phoenix: Envelope = {
  id: 'phoenix',
  title: 'Arize Phoenix spans',
  knownBy:
    '[{context: {trace_id, span_id}, span_kind, status_code, attributes}], or pages {data, next_cursor}',
  from: '`client.spans.get_spans()`, `GET /v1/projects/<project>/spans` and `…/spans/otlpv1`',
  checkedOn: 'arize-phoenix-client 3.5.0',
  recognise: (document) => {
    const sample = spansOf(document).slice(0, 50);
    const known = sample.filter((item) => asRecord(item) !== null).length;
    return known > 0 && known === sample.length ? { match: 'yes', sure: 0.94 } : { match: 'no' };
  },
  mayCutAfter: () => true,
  unpack: (document) => {
    const records: RawRecord[] = [];
    const tally = new UnreadTally('phoenix');
    for (const item of spansOf(document)) {
      const plain = asRecord(item);
      const record = plain === null ? null : readRecord(plain);
      if (record === null) tally.add('no span of Phoenix');
      else records.push(record);
    }
    return { records, unread: tally.list() };
  },
};

/** A list, a page, or pages one a line. */
function spansOf(document: JsonValue): JsonValue[] {
  const list = Array.isArray(document) ? document : [document];
  return list.flatMap((item) => (isPage(item) ? item.data : [item]));
}

const isPage = (item: JsonValue): item is { data: JsonValue[] } =>
  isJsonObject(item) && Array.isArray(item.data) && 'next_cursor' in item;

function asRecord(item: JsonValue): JsonObject | null {
  if (!isJsonObject(item)) return null;
  const { context, span_kind: kind } = item;
  if (
    isJsonObject(context) &&
    typeof kind === 'string' &&
    KINDS.has(kind.toUpperCase()) &&
    'status_code' in item
  ) {
    const { span_kind: _, ...rest } = item;
    const attributes = isJsonObject(item.attributes) ? item.attributes : {};
    return {
      ...rest,
      trace_id: context.trace_id ?? null,
      span_id: context.span_id ?? null,
      status: { code: item.status_code ?? null, message: item.status_message ?? null },
      attributes: { 'openinference.span.kind': kind.toUpperCase(), ...withJsonText(attributes) },
    };
  }
  // OTLP in snake_case, flat in a page.
  return typeof item.trace_id === 'string' && Array.isArray(item.attributes) && 'start_time_unix_nano' in item
    ? item
    : null;
}

/** Phoenix parses some values that instrumentations write as JSON text; the conventions know them as values and as text. */
const withJsonText = (attributes: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [
      key,
      /\.value$/.test(key) && typeof value === 'object' && value !== null ? JSON.stringify(value) : value,
    ]),
  );
