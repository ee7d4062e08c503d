import type { JsonValue } from '../../base/json.ts';
import type { Unread } from '../../session/session.ts';
import type { Envelope, RawRecord } from '../decode/format.ts';
import { attributeBag } from './attribute-bag.ts';
import { flatRecords } from './flat-records.ts';
import { foreignExports } from './foreign-exports.ts';
import { logfire } from './logfire.ts';
import { otelSdk } from './otel-sdk.ts';
import { otlpJson } from './otlp-json.ts';
import { phoenix } from './phoenix.ts';
import { spanList } from './span-list.ts';

/** Every way in which telemetry is packed, in the order the registry should try them on equal sureness. */
export const ENVELOPES: readonly Envelope[] = [
  otlpJson,
  flatRecords,
  otelSdk,
  phoenix,
  logfire,
  spanList,
  attributeBag,
  foreignExports,
];

export interface Unpacked {
  readonly envelope: string;
  readonly records: readonly RawRecord[];
  readonly unread: readonly Unread[];
}

/** Raw records of a document by the envelope that is surest of it; `null` when none knows it. */
export function unpackTelemetry(document: JsonValue): Unpacked | null {
  let best: Envelope | null = null;
  let sure = 0;
  for (const envelope of ENVELOPES) {
    const seen = envelope.recognise(document);
    if (seen.match === 'yes' && seen.sure > sure) {
      best = envelope;
      sure = seen.sure;
    }
  }
  return best === null ? null : { envelope: best.id, ...best.unpack(document) };
}
