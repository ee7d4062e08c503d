import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { readSpanId, readTraceId } from './decode-ids.ts';
import { sanitiseJson, toWellFormed } from './decode-json.ts';
import { type Attributes, readAttributes, readKind, readStatus } from './decode-values.ts';
import type { RawEvent, RawLog, RawRecord, RawSpan } from './format.ts';
import { readUnixNano, toUnixNano } from './times.ts';

/** Ids of a span that states none (all zeros): what reads several sessions at once must not join by these. */
export const UNKNOWN_TRACE = 'unknown-trace';
export const UNKNOWN_SPAN = 'unknown-span';

export interface Inherited {
  readonly resource?: JsonValue | undefined;
  readonly scope?: JsonValue | undefined;
}

/**
 * One span or log record given as an object, in camelCase (OTLP, `aws/spans`) or snake_case (SDK exports), with
 * plain or typed values. `null` when it is neither.
 */
export function readRecord(record: JsonObject, inherited: Inherited = {}): RawRecord | null {
  if (isSpanRecord(record)) return readSpan(record, inherited);
  if (isLogRecord(record)) return readLog(record, inherited);
  return isApplicationLine(record) ? readApplicationLine(record) : null;
}

export function isSpanRecord(record: JsonObject): boolean {
  const traceId = record.traceId ?? record.trace_id;
  const spanId = record.spanId ?? record.span_id;
  const start =
    record.startTimeUnixNano ?? record.start_time_unix_nano ?? record.start_time ?? record.startTime;
  return (
    isId(traceId) &&
    isId(spanId) &&
    typeof (record.name ?? '') === 'string' &&
    !('body' in record) &&
    (start !== undefined || 'name' in record)
  );
}

export function isLogRecord(record: JsonObject): boolean {
  // An event may carry everything in its attributes; what it is called then tells it from a span.
  const isEvent =
    typeof (record.eventName ?? record.event_name) === 'string' ||
    (isJsonObject(record.attributes) && typeof record.attributes['event.name'] === 'string');
  if (!('body' in record) && !isEvent) return false;
  return [
    'traceId',
    'trace_id',
    'timeUnixNano',
    'time_unix_nano',
    'observedTimeUnixNano',
    'severityText',
    'scope',
  ].some((key) => key in record);
}

/** AgentCore's runtime and other loggers: `{level, message, logger?, sessionId?, …}`. */
export function isApplicationLine(record: JsonObject): boolean {
  const level = record.level ?? record.levelname ?? record.severity;
  return typeof record.message === 'string' && (typeof level === 'string' || isId(record.sessionId));
}

function isId(value: JsonValue | undefined): boolean {
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}

function readSpan(record: JsonObject, inherited: Inherited): RawSpan {
  const attributes = readAttributes(record.attributes);
  addXray(attributes, record._aws);
  addDropped(attributes, record);
  // Which service answers is not ours to guess: some exports put resource attributes on each span.
  const end =
    readUnixNano(record.endTimeUnixNano ?? record.end_time_unix_nano) ??
    toUnixNano(record.end_time ?? record.endTime);
  const name = typeof record.name === 'string' ? record.name : '';
  const rawEvents = record.events ?? record.span_events ?? record.spanEvents;
  return {
    type: 'span',
    traceId: readTraceId(record.traceId ?? record.trace_id) ?? UNKNOWN_TRACE,
    spanId: readSpanId(record.spanId ?? record.span_id) ?? UNKNOWN_SPAN,
    parentSpanId: readSpanId(record.parentSpanId ?? record.parent_span_id ?? record.parent_id),
    name: toWellFormed(name !== '' ? name : String(attributes['aws.xray.name'] ?? '')),
    kind: readKind(record.kind ?? record.span_kind),
    startTimeUnixNano:
      readUnixNano(record.startTimeUnixNano ?? record.start_time_unix_nano) ??
      toUnixNano(record.start_time ?? record.startTime),
    endTimeUnixNano: end,
    scope: readScope(
      record.scope ?? record.instrumentationScope ?? record.instrumentation_scope ?? inherited.scope,
    ),
    resource: readResource(record.resource ?? inherited.resource),
    attributes,
    events: Array.isArray(rawEvents) ? rawEvents.filter(isJsonObject).map(readEvent) : [],
    status: readStatus(record.status ?? record.status_code),
    inProgress: attributes['aws.xray.inprogress'] === true || (end === null && 'endTimeUnixNano' in record),
  };
}

function readEvent(event: JsonObject): RawEvent {
  const attributes = readAttributes(event.attributes);
  const name = event.name ?? event.event_name ?? event.eventName ?? attributes['event.name'] ?? '';
  return {
    name: typeof name === 'string' ? toWellFormed(name) : '',
    timeUnixNano: readUnixNano(event.timeUnixNano ?? event.time_unix_nano) ?? toUnixNano(event.timestamp),
    attributes,
    ...(event.body !== undefined ? { body: sanitiseJson(event.body) } : {}),
  };
}

function readLog(record: JsonObject, inherited: Inherited): RawLog {
  const attributes = readAttributes(record.attributes);
  const name = record.eventName ?? record.event_name;
  if (typeof name === 'string' && name !== '') attributes['event.name'] ??= name;
  const severity = record.severityText ?? record.severity_text;
  if (typeof severity === 'string' && severity !== '') attributes.level ??= severity;
  else if (Number(record.severityNumber ?? 0) >= ERROR_SEVERITY) attributes.level ??= 'ERROR';
  return {
    type: 'log',
    traceId: readTraceId(record.traceId ?? record.trace_id),
    spanId: readSpanId(record.spanId ?? record.span_id),
    timeUnixNano:
      readUnixNano(record.timeUnixNano ?? record.time_unix_nano) ??
      readUnixNano(record.observedTimeUnixNano ?? record.observed_time_unix_nano) ??
      toUnixNano(record.timestamp),
    scope: readScope(record.scope ?? record.instrumentationScope ?? inherited.scope),
    resource: readResource(record.resource ?? inherited.resource),
    attributes,
    body: sanitiseJson(readBody(record.body)),
  };
}

/** OpenTelemetry log data model: severity numbers from 17 are ERROR and FATAL. */
const ERROR_SEVERITY = 17;

function readBody(body: JsonValue | undefined): JsonValue {
  return readAttributes({ body: body ?? null }).body ?? null;
}

export function readApplicationLine(record: JsonObject): RawLog {
  const { message, timestamp, ...rest } = record;
  const attributes = readAttributes(rest);
  const level = record.level ?? record.levelname ?? record.severity;
  if (typeof level === 'string') attributes.level = level;
  return {
    type: 'log',
    traceId: readTraceId(record.traceId ?? record.trace_id),
    spanId: readSpanId(record.spanId ?? record.span_id),
    timeUnixNano: toUnixNano(timestamp),
    scope: readScope(record.logger),
    resource: readAttributes({}),
    attributes,
    body: sanitiseJson(message ?? null),
  };
}

function readScope(scope: JsonValue | undefined): RawSpan['scope'] {
  if (typeof scope === 'string') return { name: toWellFormed(scope), version: '' };
  if (!isJsonObject(scope)) return { name: '', version: '' };
  return {
    name: typeof scope.name === 'string' ? toWellFormed(scope.name) : '',
    version: typeof scope.version === 'string' ? toWellFormed(scope.version) : '',
  };
}

function readResource(resource: JsonValue | undefined): Attributes {
  if (!isJsonObject(resource)) return readAttributes({});
  return readAttributes(resource.attributes ?? ('attributes' in resource ? {} : resource));
}

/** X-Ray keeps its own facts beside the attributes. */
function addXray(attributes: Attributes, aws: JsonValue | undefined): void {
  const xray = isJsonObject(aws) ? aws.xray : undefined;
  for (const [key, value] of Object.entries(readAttributes(xray))) attributes[`aws.xray.${key}`] ??= value;
}

/** An exporter that hit its limits says only how many attributes or events it dropped. */
function addDropped(attributes: Attributes, record: JsonObject): void {
  for (const what of ['Attributes', 'Events'] as const) {
    const count = Number(record[`dropped${what}Count`] ?? record[`dropped_${what.toLowerCase()}_count`] ?? 0);
    if (count > 0) attributes[`otel.dropped_${what.toLowerCase()}_count`] = count;
  }
}
