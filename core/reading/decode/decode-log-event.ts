import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { redactText } from '../../redaction/redact-credentials.ts';
import type { Unread } from '../../session/session.ts';
import { breaksOff, parseJson } from './decode-json.ts';
import type { RawRecord } from './format.ts';
import { type Inherited, isApplicationLine, readApplicationLine, readRecord } from './raw-record.ts';

/**
 * The records in the message of one CloudWatch log event: a flat span or log record, OTLP/JSON, or an application
 * line. JSON behind a text, or inside the message of an application line, is text: an application prints what its users
 * say, and that makes no spans, names no session and changes no owner. What cannot be read comes back with a reason whose first word is a code:
 *
 * - `not-json:` plain text (an application's stdout)
 * - `cut-json:` begins like JSON and breaks off: perhaps half of an event over CloudWatch's 256 KB line limit
 * - `bad-json:` begins like JSON and is none
 * - `no-id:` a span that has no trace id at all
 * - `unknown-record:` JSON with a trace id of its own that is neither span nor log record: something of a session
 * - `not-telemetry:` JSON, but neither span nor log record; the keys found are named
 */
export function decodeLogEventMessage(message: string): RawRecord[] | Unread {
  const text = message.trim();
  if (text === '') return unread('not-json: empty message');
  const decoded = parseJson(text);
  if (decoded.ok) return readDecoded(decoded.value);
  if (!beginsLikeRecords(text)) {
    return unread('not-json: plain text');
  }
  if (breaksOff(text)) return unread('cut-json: the text breaks off');
  return unread(`bad-json: ${decoded.reason}`);
}

/** `[INFO] …`, `[2026-01-01] …` and `[main] …` are what loggers write: no list of records begins so. */
const beginsLikeRecords = (text: string): boolean => /^(?:\{|\[\s{0,64}(?:[{[\]"]|$))/.test(text);

function readDecoded(value: JsonValue): RawRecord[] | Unread {
  // What an application says of itself, whatever fields it adds: a line, never a span or an export.
  if (isJsonObject(value) && isApplicationLine(value)) return [readApplicationLine(value)];
  const found = recordsIn(value);
  if (found.length > 0) return found;
  if (isJsonObject(value) && 'spanId' in value && 'startTimeUnixNano' in value && !('traceId' in value))
    return unread('no-id: a span without a trace id or span id');
  if (isJsonObject(value) && hasTraceId(value))
    return unread('unknown-record: it bears a trace id, but is neither span nor log record');
  const keys = isJsonObject(value) ? Object.keys(value).slice(0, 8).join(', ') : typeof value;
  return unread(
    `not-telemetry: neither span nor log record (found ${redactText(keys).slice(0, 200) || 'nothing'})`,
  );
}

/** OpenTelemetry's 32 or X-Ray's form; applications name requests of their own by other ids. */
export function hasTraceId(value: JsonObject): boolean {
  const id = value.traceId ?? value.trace_id;
  return typeof id === 'string' && /^(?:[0-9a-f]{32}|1-[0-9a-f]{8}-[0-9a-f]{24})$/i.test(id);
}

/** A line of an application that is no part of any session: other text, or JSON without a trace id. */
export const isForeignLine = (reason: string): boolean => /^not-(?:json|telemetry):/.test(reason);

function unread(reason: string): Unread {
  return { where: 'log event', reason, count: 1 };
}

/** All records in a parsed value that is a record, a wrapper of one, an OTLP envelope, or a list of these. */
export function recordsIn(value: JsonValue): RawRecord[] {
  if (Array.isArray(value)) return value.flatMap(recordsIn);
  if (!isJsonObject(value)) return [];
  if (isJsonObject(value.raw_otel_json)) return recordsIn(value.raw_otel_json);
  if (isOtlp(value)) return otlpRecords(value);
  const record = readRecord(value);
  return record === null ? [] : [record];
}

const GROUPS = ['resourceSpans', 'resource_spans', 'resourceLogs', 'resource_logs', 'batches'] as const;
const SCOPES = [
  'scopeSpans',
  'scope_spans',
  'instrumentationLibrarySpans',
  'scopeLogs',
  'scope_logs',
] as const;

/** One group without the request around it: a line of Java's `OtlpJsonLoggingSpanExporter`. */
const isGroup = (value: JsonObject): boolean =>
  isJsonObject(value.resource) && SCOPES.some((key) => Array.isArray(value[key]));

export function isOtlp(value: JsonObject): boolean {
  return isGroup(value) || GROUPS.some((key) => Array.isArray(value[key]));
}

/** Spans and log records of an OTLP/JSON export request. What is no record inside is left out; see `countUnreadable`. */
export function otlpRecords(value: JsonObject): RawRecord[] {
  return otlpItems(value).flatMap(({ item, inherited }) => {
    const record = isJsonObject(item) ? readRecord(item, inherited) : null;
    return record === null ? [] : [record];
  });
}

export function otlpItems(value: JsonObject): { item: JsonValue; inherited: Inherited }[] {
  const out: { item: JsonValue; inherited: Inherited }[] = [];
  const groups = isGroup(value) ? [value] : GROUPS.flatMap((key) => objects(value[key]));
  for (const group of groups) {
    for (const scoped of SCOPES.flatMap((key) => objects(group[key]))) {
      const scope = scoped.scope ?? scoped.instrumentationLibrary;
      for (const key of ['spans', 'logRecords', 'log_records']) {
        const items = scoped[key];
        if (!Array.isArray(items)) continue;
        // A log record of OTLP may lack a body; it is one by its place.
        const isLog = key !== 'spans';
        for (const item of items) {
          const whole =
            isLog && isJsonObject(item) && !('body' in item)
              ? { ...item, body: null, scope: item.scope ?? null }
              : item;
          out.push({ item: whole, inherited: { resource: group.resource, scope } });
        }
      }
    }
  }
  return out;
}

function objects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
