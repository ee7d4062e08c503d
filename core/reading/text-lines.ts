import type { Unread } from '../session/session.ts';
import { decodeLogEventMessage } from './decode/decode-log-event.ts';
import type { RawRecord } from './decode/format.ts';
import { sumUnread } from './unread.ts';

export interface TextLines {
  readonly records: readonly RawRecord[];
  readonly unread: readonly Unread[];
}

/** Lines that are no JSON by themselves: telemetry behind a text prefix, else counted by the reason. */
export function readTextLines(lines: readonly string[], source: string): TextLines {
  const records: RawRecord[] = [];
  const unread: Unread[] = [];
  for (const line of lines) {
    const decoded = decodeLogEventMessage(line);
    if (Array.isArray(decoded)) for (const record of decoded) records.push(record);
    else unread.push({ where: source, reason: decoded.reason, count: 1 });
  }
  return { records, unread: sumUnread(unread) };
}
