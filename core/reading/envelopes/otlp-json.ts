import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { isOtlp, otlpItems } from '../decode/decode-log-event.ts';
import type { Envelope, RawRecord } from '../decode/format.ts';
import { readRecord } from '../decode/raw-record.ts';
import { UnreadTally } from './unread-tally.ts';

/** OTLP/JSON, one export request or a list of them (a JSON Lines file of the collector's file exporter). */
export const otlpJson: Envelope = {
  id: 'otlp-json',
  title: 'OTLP/JSON export',
  knownBy: 'resourceSpans[] or resourceLogs[]',
  from: 'the OpenTelemetry collector’s `file` exporter, or any OTLP/HTTP exporter with `http/json`',
  checkedOn: 'OTLP 1.x',
  recognise: (document) => (requests(document).length > 0 ? { match: 'yes', sure: 0.95 } : { match: 'no' }),
  mayCutAfter: () => true,
  unpack: (document) => {
    const records: RawRecord[] = [];
    const tally = new UnreadTally('otlp-json');
    for (const request of requests(document)) {
      for (const { item, inherited } of otlpItems(request)) {
        const record = isJsonObject(item) ? readRecord(item, inherited) : null;
        if (record === null) tally.add('neither a span nor a log record (no traceId and spanId)');
        else records.push(record);
      }
    }
    if (Array.isArray(document)) {
      const others = document.length - requests(document).length;
      if (others > 0) tally.add('not an OTLP export request', others);
    }
    return { records, unread: tally.list() };
  },
};

function requests(document: JsonValue): JsonObject[] {
  const items = Array.isArray(document) ? document : [document];
  return items.filter(isJsonObject).filter(isOtlp);
}
