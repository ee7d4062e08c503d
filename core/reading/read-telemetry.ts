import type { JsonValue } from '../base/json.ts';
import type { Unread } from '../session/session.ts';
import { decodeLogEventMessage } from './decode/decode-log-event.ts';
import type { RawRecord } from './decode/format.ts';
import { parseText } from './decode/parse-text.ts';
import { unpackTelemetry } from './envelopes/index.ts';

export interface Telemetry {
  readonly records: readonly RawRecord[];
  readonly unread: readonly Unread[];
}

/**
 * The raw records of a file before they become sessions, in whatever envelope, or with several in a list or lines;
 * `null` when it holds no telemetry. SessionInvalidError when it is neither JSON nor lines of it.
 */
export function readTelemetry(text: string, source: string): Telemetry | null {
  const { document, textLines, unread } = parseText(text, source);
  const parts = unpacked(document);
  const lines = textLines.map((line) => decodeLogEventMessage(line));
  const records = [...parts.records, ...lines.flatMap((line) => (Array.isArray(line) ? line : []))];
  if (records.length === 0 && parts.unread.length === 0) return null;
  const lost = lines.flatMap((line) => (Array.isArray(line) ? [] : [{ ...line, where: source }]));
  return { records, unread: [...unread, ...parts.unread, ...lost] };
}

function unpacked(document: JsonValue): Telemetry {
  const whole = unpackTelemetry(document);
  if (whole !== null) return whole;
  const parts = (Array.isArray(document) ? document : []).map(unpackTelemetry);
  return {
    records: parts.flatMap((part) => part?.records ?? []),
    unread: parts.flatMap((part) => part?.unread ?? []),
  };
}
