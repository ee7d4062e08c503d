import { forEachConcurrently } from '../base/for-each-concurrently.ts';
import { gunzipText, gzipJson } from '../base/gzip.ts';
import { sha256Hex } from '../base/hash.ts';
import { rawKey, rawPrefix } from '../ports/object-keys.ts';
import type { ObjectStore } from '../ports/ports.ts';
import type { RawRecord } from '../reading/decode/format.ts';
import type { LogEvent } from './envelope.ts';

/** What lies under `raw/`: one log event's records of one trace. */
export interface RawEventObject {
  readonly event: Pick<LogEvent, 'id' | 'timestamp' | 'logGroup' | 'logStream'>;
  readonly records: readonly RawRecord[];
}

/** One stored event inflates to at most what one subscription payload can carry. */
const MAX_EVENT_BYTES = 64 * 1024 * 1024;
/** Object stores answer in tens of milliseconds whatever the size; a session has hundreds of events. */
export const OBJECTS_AT_ONCE = 32;

/** The same log event delivered again has the same id and text; two equal lines of an application have two ids. */
export function eventHash(event: Pick<LogEvent, 'id' | 'message'>): string {
  return sha256Hex(`${event.id}\n${event.message}`);
}

/** Returns false when the event lay there already. */
export async function storeRawEvent(
  traceId: string,
  event: LogEvent,
  records: readonly RawRecord[],
  objects: ObjectStore,
): Promise<boolean> {
  const { id, timestamp, logGroup, logStream } = event;
  const stored: RawEventObject = { event: { id, timestamp, logGroup, logStream }, records };
  return objects.putIfAbsent(rawKey(traceId, eventHash(event)), await gzipJson(stored));
}

/** Calls `take` for all events of a trace, in no order, with their size in characters. */
export async function readRawEvents(
  traceId: string,
  objects: ObjectStore,
  take: (event: RawEventObject, size: number) => void,
): Promise<void> {
  await forEachConcurrently(objects.list(rawPrefix(traceId)), OBJECTS_AT_ONCE, async (key) => {
    const bytes = await objects.get(key);
    // Expired between the listing and now.
    if (bytes === null) return;
    const text = await gunzipText(bytes, MAX_EVENT_BYTES);
    // Written by ourselves under a create-only key: trusted inside.
    take(JSON.parse(text) as RawEventObject, text.length);
  });
}
