import { gunzipText, gzipJson } from '../base/gzip.ts';
import { sha256Hex } from '../base/hash.ts';
import { rawKey } from '../ports/object-keys.ts';
import type { RawRecord } from '../reading/decode/format.ts';
import type { LogEvent } from './envelope.ts';

/** One log event's records of one trace. */
export interface RawEvent {
  readonly event: Pick<LogEvent, 'id' | 'timestamp' | 'logGroup' | 'logStream'>;
  readonly records: readonly RawRecord[];
}

/** What one delivery brought of one trace, as it lies below `raw/`, or beside the trace while nothing shows an agent. */
export interface RawDelivery {
  readonly hash: string;
  readonly bytes: Uint8Array;
}

/** One stored delivery inflates to at most what one subscription payload can carry. */
const MAX_DELIVERY_BYTES = 64 * 1024 * 1024;

/** The same log event delivered again has the same id and text; two equal lines of an application have two ids. */
export function eventHash(event: Pick<LogEvent, 'id' | 'message'>): string {
  return sha256Hex(`${event.id}\n${event.message}`);
}

/** The same events make the same hash, in whatever order they came. */
export async function packDelivery(
  group: readonly { readonly event: LogEvent; readonly records: readonly RawRecord[] }[],
): Promise<RawDelivery> {
  const hashes = group.map(({ event }) => eventHash(event)).sort();
  const events = group.map(
    ({ event: { id, timestamp, logGroup, logStream }, records }): RawEvent => ({
      event: { id, timestamp, logGroup, logStream },
      records,
    }),
  );
  return { hash: sha256Hex(hashes.join('\n')), bytes: await gzipJson(events) };
}

export async function unpackDelivery(
  bytes: Uint8Array,
): Promise<{ readonly events: readonly RawEvent[]; readonly characters: number }> {
  const text = await gunzipText(bytes, MAX_DELIVERY_BYTES);
  // Written by ourselves under a name made of its content: trusted inside.
  return { events: JSON.parse(text) as RawEvent[], characters: text.length };
}

export const rawKeyOf = (traceId: string, { hash }: Pick<RawDelivery, 'hash'>): string =>
  rawKey(traceId, hash);
