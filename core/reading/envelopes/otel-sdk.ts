import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Envelope, RawRecord } from '../decode/format.ts';
import { readRecord } from '../decode/raw-record.ts';
import { UnreadTally } from './unread-tally.ts';

/**
 * Spans as the SDKs of OpenTelemetry print them, one or a list or one after another:
 *
 * - Python `ConsoleSpanExporter`, `span.to_json()` and `LogRecord.to_json()` (opentelemetry-sdk 1.45.2);
 * - JavaScript's console exporter's object as JSON (@opentelemetry/sdk-trace-base 2.12.1 and 1.x); what `console.dir`
 *   prints of it is no JSON;
 * - Go `stdouttrace`.
 *
 * None writes the name of the instrumentation except Go and JavaScript: the content is then known by its attributes.
 */
export const otelSdk: Envelope = {
  id: 'otel-sdk',
  title: 'OpenTelemetry SDK console and file exporters',
  knownBy:
    '{name, context: {trace_id: "0x…"}, kind: "SpanKind.…"}, {traceId, id, timestamp, duration, status: {code}}, or {Name, SpanContext}',
  from: '`ConsoleSpanExporter` and `span.to_json()` of Python, the JavaScript exporter’s object as JSON, Go `stdouttrace`',
  checkedOn: 'opentelemetry-sdk 1.45.2, @opentelemetry/sdk-trace-base 2.12.1 and 1.x',
  recognise: (document) => {
    const sample = itemsOf(document).slice(0, 50);
    const known = sample.filter((item) => asRecord(item) !== null).length;
    if (known === 0) return { match: 'no' };
    return { match: 'yes', sure: known === sample.length ? 0.94 : 0.75 };
  },
  mayCutAfter: () => true,
  unpack: (document) => {
    const records: RawRecord[] = [];
    const tally = new UnreadTally('otel-sdk');
    for (const item of itemsOf(document)) {
      const plain = asRecord(item);
      const record = plain === null ? null : readRecord(plain);
      if (record === null) tally.add('neither a span nor a log record of an OpenTelemetry SDK');
      else records.push(record);
    }
    return { records, unread: tally.list() };
  },
};

const itemsOf = (document: JsonValue): JsonValue[] => (Array.isArray(document) ? document : [document]);

/** The record in the words of `readRecord`; `null` when no SDK wrote it. */
function asRecord(item: JsonValue): JsonObject | null {
  if (!isJsonObject(item)) return null;
  if (isPythonSpan(item)) return { ...item, ...(isJsonObject(item.context) ? item.context : {}) };
  if (isPythonLog(item)) return item;
  if (isGoSpan(item)) return fromGo(item);
  return isJsSpan(item) ? fromJs(item) : null;
}

function isPythonSpan(item: JsonObject): boolean {
  const { context } = item;
  return (
    isJsonObject(context) &&
    isHexId(context.trace_id) &&
    isHexId(context.span_id) &&
    typeof item.kind === 'string' &&
    item.kind.startsWith('SpanKind.')
  );
}

const isPythonLog = (item: JsonObject): boolean =>
  'body' in item && 'severity_number' in item && 'observed_timestamp' in item && isHexId(item.trace_id);

const isHexId = (id: JsonValue | undefined): boolean => typeof id === 'string' && id.startsWith('0x');

function isJsSpan(item: JsonObject): boolean {
  return (
    typeof item.traceId === 'string' &&
    typeof item.id === 'string' &&
    typeof item.timestamp === 'number' &&
    typeof item.duration === 'number' &&
    isJsonObject(item.attributes) &&
    isJsonObject(item.status) &&
    typeof item.status.code === 'number'
  );
}

/** Times in microseconds; kinds count from INTERNAL = 0, one less than OTLP. */
function fromJs(item: JsonObject): JsonObject {
  const start = Number(item.timestamp);
  const parent = isJsonObject(item.parentSpanContext) ? item.parentSpanContext.spanId : item.parentId;
  const events = Array.isArray(item.events) ? item.events.filter(isJsonObject) : [];
  return {
    traceId: item.traceId ?? null,
    spanId: item.id ?? null,
    parentSpanId: parent ?? null,
    name: item.name ?? '',
    kind: typeof item.kind === 'number' ? item.kind + 1 : null,
    startTimeUnixNano: nanoseconds(start),
    endTimeUnixNano: nanoseconds(start + Number(item.duration)),
    attributes: item.attributes ?? {},
    events: events.map((event) => ({ ...event, timeUnixNano: hrTime(event.time) })),
    status: item.status ?? {},
    resource: item.resource ?? {},
    scope: item.instrumentationScope ?? item.instrumentationLibrary ?? {},
  };
}

const nanoseconds = (micros: number): string | null =>
  Number.isFinite(micros) ? (BigInt(Math.round(micros)) * 1000n).toString() : null;

/** `[seconds, nanoseconds]`. */
function hrTime(time: JsonValue | undefined): string | null {
  const [seconds, nanos] = Array.isArray(time) ? time : [];
  return Number.isFinite(seconds) && Number.isFinite(nanos) && Number(seconds) >= 0 && Number(nanos) >= 0
    ? (BigInt(Math.trunc(Number(seconds))) * 1_000_000_000n + BigInt(Math.trunc(Number(nanos)))).toString()
    : null;
}

const isGoSpan = (item: JsonObject): boolean =>
  isJsonObject(item.SpanContext) &&
  typeof item.SpanContext.TraceID === 'string' &&
  typeof item.Name === 'string';

function fromGo(item: JsonObject): JsonObject {
  const context = isJsonObject(item.SpanContext) ? item.SpanContext : {};
  const parent = isJsonObject(item.Parent) ? item.Parent : {};
  const status = isJsonObject(item.Status) ? item.Status : {};
  const scope = [item.InstrumentationScope, item.InstrumentationLibrary].find(isJsonObject) ?? {};
  const events = Array.isArray(item.Events) ? item.Events.filter(isJsonObject) : [];
  return {
    traceId: context.TraceID ?? null,
    spanId: context.SpanID ?? null,
    parentSpanId: parent.SpanID ?? null,
    name: item.Name ?? '',
    kind: item.SpanKind ?? null,
    start_time: item.StartTime ?? null,
    end_time: item.EndTime ?? null,
    attributes: goAttributes(item.Attributes),
    events: events.map((event) => ({
      name: event.Name ?? '',
      timestamp: event.Time ?? null,
      attributes: goAttributes(event.Attributes),
    })),
    status: { code: status.Code ?? null, message: status.Description ?? null },
    resource: { attributes: goAttributes(item.Resource) },
    scope: { name: scope.Name ?? '', version: scope.Version ?? '' },
  };
}

/** `[{Key, Value: {Type: 'STRING', Value}}]`. */
function goAttributes(list: JsonValue | undefined): JsonObject {
  const out: JsonObject = {};
  for (const pair of Array.isArray(list) ? list : [])
    if (isJsonObject(pair) && typeof pair.Key === 'string' && isJsonObject(pair.Value))
      out[pair.Key] = pair.Value.Value ?? null;
  return out;
}
