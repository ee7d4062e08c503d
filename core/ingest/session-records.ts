import { forEachConcurrently } from '../base/for-each-concurrently.ts';
import { gzipJson } from '../base/gzip.ts';
import { getCarried } from '../ports/carried.ts';
import type { SessionIndex, SessionState } from '../ports/ingest-ports.ts';
import { idHash, rawPrefix, sessionPartKey } from '../ports/object-keys.ts';
import type { ObjectStore } from '../ports/ports.ts';
import type { RawRecord } from '../reading/decode/format.ts';
import { unpackDelivery } from './raw-records.ts';

/**
 * Raw text of one part of a session. Reading, assembling and hashing takes 10 bytes of memory a character (measured; 20
 * where text is beyond Latin-1), and the function has 3,008 MB: 128 Mi × 20 = 2.6 GB. What is beyond goes to the next
 * part.
 */
const MAX_PART_CHARACTERS = 128 * 1024 * 1024;
/** Deliveries in memory beside what was read already: each inflates to some megabytes. */
const READS_AT_ONCE = 8;

export interface SessionRecords {
  readonly traces: readonly string[];
  readonly records: readonly RawRecord[];
  /** The deliveries that were read; with them a part can be ended. */
  readonly deliveries: readonly string[];
  /** More has come than one part takes. */
  readonly hasMore: boolean;
}

interface Ports {
  readonly objects: ObjectStore;
  readonly index: Pick<SessionIndex, 'tracesOfSession' | 'deferred'>;
}

/**
 * The raw records of the part that a session is in: all deliveries of its traces, without those of ended parts. A part
 * whose end was begun has the deliveries that were written down then, so that a retry comes to the same session.
 */
export async function readSessionRecords(
  { sessionId, part }: Pick<SessionState, 'sessionId' | 'part'>,
  { objects, index }: Ports,
  maxCharacters: number = MAX_PART_CHARACTERS,
): Promise<SessionRecords> {
  const traces = await index.tracesOfSession(sessionId);
  const begun = await getCarried<string[]>(objects, sessionPartKey(sessionId, part));
  const only = begun === null ? null : new Set(begun);
  const ended = new Set<string>();
  for (let n = 1; n < part; n += 1)
    for (const name of (await getCarried<string[]>(objects, sessionPartKey(sessionId, n))) ?? [])
      ended.add(name);

  const records: RawRecord[] = [];
  const deliveries: string[] = [];
  let characters = 0;
  let hasMore = begun !== null;
  const isOurs = (name: string): boolean => !ended.has(name) && only?.has(name) !== false;
  const take = async (name: string, bytes: Uint8Array | null): Promise<void> => {
    // Expired between the listing and now.
    if (bytes === null) return;
    const delivery = await unpackDelivery(bytes);
    characters += delivery.characters;
    deliveries.push(name);
    for (const event of delivery.events) for (const record of event.records) records.push(record);
  };
  for (const traceId of traces) {
    await forEachConcurrently(objects.list(rawPrefix(traceId)), READS_AT_ONCE, async (key) => {
      if (!isOurs(key)) return;
      if (characters >= maxCharacters) hasMore = true;
      else await take(key, await objects.get(key));
    });
    for await (const { hash, bytes } of index.deferred(traceId)) {
      const name = `deferred ${idHash(traceId)} ${hash}`;
      if (isOurs(name)) await take(name, bytes);
    }
  }
  return { traces, records, deliveries, hasMore };
}

/** Writes down what the part has. False when it was written down before. */
export async function beginPartEnd(
  { sessionId, part }: Pick<SessionState, 'sessionId' | 'part'>,
  deliveries: readonly string[],
  objects: ObjectStore,
): Promise<void> {
  await objects.putIfAbsent(sessionPartKey(sessionId, part), await gzipJson(deliveries));
}
