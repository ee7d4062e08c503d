import type { JsonValue } from '../../base/json.ts';
import type { Unread } from '../../session/session.ts';
import type { Container, RawRecord } from '../decode/format.ts';
import { attributeBag } from './attribute-bag.ts';
import { flatRecords } from './flat-records.ts';
import { foreignExports } from './foreign-exports.ts';
import { otlpJson } from './otlp-json.ts';
import { spanList } from './span-list.ts';

/** Every way in which telemetry is packed, in the order the registry should try them on equal sureness. */
export const CONTAINERS: readonly Container[] = [
  otlpJson,
  flatRecords,
  spanList,
  attributeBag,
  foreignExports,
];

export interface Unpacked {
  readonly container: string;
  readonly records: readonly RawRecord[];
  readonly unread: readonly Unread[];
}

/** Raw records of a document by the container that is surest of it; `null` when none knows it. */
export function unpackTelemetry(document: JsonValue): Unpacked | null {
  let best: Container | null = null;
  let sure = 0;
  for (const container of CONTAINERS) {
    const seen = container.recognise(document);
    if (seen.match === 'yes' && seen.sure > sure) {
      best = container;
      sure = seen.sure;
    }
  }
  return best === null ? null : { container: best.id, ...best.unpack(document) };
}
