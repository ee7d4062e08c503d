import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { unwrapJson } from '../decode/decode-json.ts';
import type { Envelope, RawRecord } from '../decode/format.ts';
import { readRecord } from '../decode/raw-record.ts';
import { UnreadTally } from './unread-tally.ts';

/**
 * Rows of Logfire's `records` table: answers of its query API by rows or by columns, and bare lists or lines of rows
 * (pydantic/logfire commit e484a6b5). The rows become spans with their own scope, so that the conventions of their
 * producers read them. Values of JSON columns are JSON here or, from CSV, text.
 */
export const logfire: Envelope = {
  id: 'logfire',
  title: 'Logfire query exports',
  knownBy:
    '{columns, rows: [{trace_id, span_id, span_name, attributes, otel_scope_name}]}, by columns, or a list of rows',
  from: '`SELECT * FROM records WHERE trace_id = …` by the query API, as rows or columns',
  checkedOn: 'pydantic/logfire commit e484a6b5',
  recognise: (document) => {
    const sample = rowsOf(document).slice(0, 50);
    const known = sample.filter(isRow).length;
    return known > 0 ? { match: 'yes', sure: known === sample.length ? 0.96 : 0.75 } : { match: 'no' };
  },
  unpack: (document) => {
    const records: RawRecord[] = [];
    const tally = new UnreadTally('logfire');
    const rows = rowsOf(document);
    const ended = new Set(
      rows.flatMap((row) => (isRow(row) && row.kind === 'span' ? [row.span_id ?? null] : [])),
    );
    for (const row of rows) {
      if (!isRow(row)) tally.add('not a row with trace_id, span_id and attributes: select * from records');
      // An event stands in its span too; a span that is still open is written again when it ends.
      else if (row.kind !== 'span_event' && !(row.kind === 'pending_span' && ended.has(pendingId(row)))) {
        const record = readRecord(asSpan(row));
        if (record === null) tally.add('neither a span nor a log record');
        else records.push(record);
      }
    }
    // The API answers with so many rows and no more.
    if (rows.length >= ROW_LIMIT)
      tally.add(`the query API gives ${ROW_LIMIT} rows at most: what came after is not here`);
    return { records, unread: tally.list() };
  },
};

const ROW_LIMIT = 10_000;

function isRow(value: JsonValue | undefined): value is JsonObject {
  return (
    isJsonObject(value) &&
    typeof value.trace_id === 'string' &&
    typeof value.span_id === 'string' &&
    typeof value.span_name === 'string' &&
    value.attributes !== undefined
  );
}

function rowsOf(document: JsonValue): JsonValue[] {
  if (Array.isArray(document)) return document;
  if (!isJsonObject(document)) return [];
  if (Array.isArray(document.rows)) return document.rows;
  const columns = (Array.isArray(document.columns) ? document.columns : []).filter(isJsonObject);
  const values = columns.map((column) => ({ name: String(column.name), values: column.values }));
  if (values.length === 0 || !values.every((column) => Array.isArray(column.values))) return [];
  const length = Math.max(
    ...values.map((column) => (Array.isArray(column.values) ? column.values.length : 0)),
  );
  return Array.from({ length }, (_, at) =>
    Object.fromEntries(
      values.map((column) => [
        column.name,
        Array.isArray(column.values) ? (column.values[at] ?? null) : null,
      ]),
    ),
  );
}

/** A pending row has an id of its own and is a child of the span that it announces. */
const pendingId = (row: JsonObject): JsonValue => row.parent_span_id ?? null;

function asSpan(row: JsonObject): JsonObject {
  const json = (value: JsonValue | undefined): JsonValue => unwrapJson(value ?? null, 1).value;
  const attributes = json(row.attributes);
  const resource = json(row.otel_resource_attributes);
  const exception = typeof row.exception_message === 'string' ? row.exception_message : null;
  const pending = row.kind === 'pending_span' && isJsonObject(attributes);
  const code =
    typeof row.otel_status_code === 'string'
      ? row.otel_status_code
      : row.is_exception === true
        ? 'ERROR'
        : 'UNSET';
  return {
    trace_id: row.trace_id ?? null,
    span_id: pending ? pendingId(row) : (row.span_id ?? null),
    parent_span_id: pending
      ? (attributes['logfire.pending_parent_id'] ?? null)
      : (row.parent_span_id ?? null),
    name: row.span_name ?? '',
    start_time: row.start_timestamp ?? null,
    end_time: pending ? null : (row.end_timestamp ?? null),
    scope: { name: row.otel_scope_name ?? '', version: row.otel_scope_version ?? '' },
    resource: {
      ...(isJsonObject(resource) ? resource : {}),
      ...(typeof row.service_name === 'string' ? { 'service.name': row.service_name } : {}),
    },
    attributes: isJsonObject(attributes) ? attributes : {},
    events: json(row.otel_events),
    status: {
      code,
      ...(code === 'ERROR' ? { message: row.otel_status_message ?? exception ?? row.message ?? '' } : {}),
    },
  };
}
