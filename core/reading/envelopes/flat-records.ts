import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { joinCutLines, type LogLine } from '../decode/cut-lines.ts';
import { parseJson } from '../decode/decode-json.ts';
import { decodeLogEventMessage, hasTraceId } from '../decode/decode-log-event.ts';
import type { Envelope, RawRecord } from '../decode/format.ts';
import { isLogRecord, isSpanRecord, readRecord } from '../decode/raw-record.ts';
import { UnreadTally } from './unread-tally.ts';

/**
 * Records of the `aws/spans` and AgentCore log groups however they were fetched: bare (a list or JSON Lines),
 * wrapped as `{timestamp, raw_otel_json}`, or as text in the rows of `filter-log-events`, `get-log-events`,
 * Logs Insights and decoded subscription envelopes.
 */
export const flatRecords: Envelope = {
  id: 'aws-flat',
  title: 'CloudWatch span and log records',
  knownBy:
    'objects with traceId, spanId and scope; {raw_otel_json}; rows with @message; {events|logEvents: [{message}]}',
  from: 'CloudWatch log groups `aws/spans` and `/aws/bedrock-agentcore/runtimes/…`: `rootspan fetch`, `aws logs filter-log-events`, Logs Insights, subscription events',
  checkedOn: 'records of AgentCore and Transaction Search (2026-11)',
  recognise: (document) => {
    if (
      isJsonObject(document) &&
      isJsonObject(document.awslogs) &&
      typeof document.awslogs.data === 'string'
    ) {
      return {
        match: 'foreign',
        name: 'CloudWatch Logs subscription event (compressed)',
        advice:
          'Run `rootspan ingest` on it: the event holds records of many sessions and has to be unpacked first.',
      };
    }
    const items = itemsOf(document);
    if (items.length === 0) return { match: 'no' };
    const sample = items.slice(0, 50);
    const known = sample.filter(isOurs).length;
    if (known === 0) return { match: 'no' };
    return { match: 'yes', sure: known === sample.length ? 0.9 : 0.7 };
  },
  // A line that was cut into several rows stays in one piece.
  mayCutAfter: (entry) => {
    const message = messageOf(entry);
    return message === null || parseJson(message).ok;
  },
  unpack: (document) => {
    const records: RawRecord[] = [];
    const tally = new UnreadTally('aws-flat');
    const lines: LogLine[] = [];
    for (const item of itemsOf(document)) {
      const message = messageOf(item);
      if (message !== null) {
        lines.push({ ...placeOf(item), message });
        continue;
      }
      const bare = isJsonObject(item) && isJsonObject(item.raw_otel_json) ? item.raw_otel_json : item;
      const record = isJsonObject(bare) ? readRecord(bare) : null;
      if (record === null) tally.add(reasonOf(bare));
      else records.push(record);
    }
    for (const { message } of joinCutLines(lines)) {
      const decoded = decodeLogEventMessage(message);
      if (!Array.isArray(decoded)) tally.add(decoded.reason);
      else for (const record of decoded) records.push(record);
    }
    return { records, unread: tally.list() };
  },
};

/** Lists under any of the names that the CloudWatch APIs use; a Logs Insights row of fields becomes an object. */
function itemsOf(document: JsonValue): JsonValue[] {
  if (Array.isArray(document)) return document.flatMap((item) => rowsOf(item) ?? [asRow(item)]);
  return isJsonObject(document) ? (rowsOf(document) ?? [document]) : [];
}

/** A line of an application is no part of a session; what bears a trace id is, though it is not recognised. */
const reasonOf = (item: JsonValue): string =>
  !isJsonObject(item) || !hasTraceId(item)
    ? 'not-telemetry: neither a span nor a log record'
    : 'neither a span nor a log record';

/** The rows of one envelope or page; a decoded envelope's group and stream hold for each of them. */
function rowsOf(page: JsonValue): JsonValue[] | null {
  if (!isJsonObject(page) || isSpanRecord(page)) return null;
  for (const key of ['logEvents', 'events', 'results']) {
    const list = page[key];
    if (!Array.isArray(list)) continue;
    const { logGroup, logStream } = page;
    return list
      .map(asRow)
      .map((row) =>
        isJsonObject(row) && typeof logGroup === 'string'
          ? { logGroupName: logGroup, logStreamName: logStream ?? '', ...row }
          : row,
      );
  }
  return null;
}

function asRow(item: JsonValue): JsonValue {
  if (!Array.isArray(item)) return item;
  const fields = item
    .filter(isJsonObject)
    .filter((field) => typeof field.field === 'string' && field.value !== undefined);
  return Object.fromEntries(fields.map((field) => [String(field.field), field.value ?? null]));
}

/** Text of a row whose record is not yet parsed. A record's own `message` (application line) is not that. */
function messageOf(item: JsonValue): string | null {
  if (!isJsonObject(item)) return null;
  const insights = item['@message'];
  if (typeof insights === 'string') return insights;
  const isEvent =
    typeof item.message === 'string' && ('ingestionTime' in item || 'eventId' in item || isEventId(item.id));
  return isEvent ? String(item.message) : null;
}

/** Group and stream of a row, where it names them; a decoded envelope has one of each for all its events. */
function placeOf(item: JsonValue): Pick<LogLine, 'logGroup' | 'logStream'> {
  if (!isJsonObject(item)) return { logGroup: '', logStream: '' };
  return {
    logGroup: String(item['@log'] ?? item.logGroupName ?? ''),
    logStream: String(item['@logStream'] ?? item.logStreamName ?? ''),
  };
}

/** Log event ids are decimal text of 56 digits. */
function isEventId(id: JsonValue | undefined): boolean {
  return typeof id === 'string' && /^\d{40,60}$/.test(id);
}

function isOurs(item: JsonValue): boolean {
  if (messageOf(item) !== null) return true;
  if (!isJsonObject(item)) return false;
  if (isJsonObject(item.raw_otel_json)) return true;
  return isCamelSpan(item) || isLogRecord(item);
}

function isCamelSpan(item: JsonObject): boolean {
  return isSpanRecord(item) && item.traceId !== undefined && item.spanId !== undefined;
}
