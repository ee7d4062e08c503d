import { gzipJson } from '../../core/base/gzip.ts';
import { parseAtDoor } from '../../core/base/parse.ts';
import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { getJson } from '../../core/ports/carried.ts';
import { sessionObjectKey } from '../../core/ports/object-keys.ts';
import type { ObjectStore } from '../../core/ports/ports.ts';
import { type Session, sessionSchema } from '../../core/session/session.ts';

/** Keeps the session as it was diagnosed, under the key that the deployed pipeline uses, so that reports can show it. */
export async function freezeSession(
  session: Session,
  { provenance }: Diagnosis,
  objects: ObjectStore,
): Promise<void> {
  await objects.putIfAbsent(
    sessionObjectKey(session.sessionId, provenance.sessionHash),
    await gzipJson(session),
  );
}

export async function readFrozenSession(key: string, objects: ObjectStore): Promise<Session> {
  return parseAtDoor(sessionSchema, await getJson(objects, key), `the session at ${key}`);
}

/** The session of a diagnosis; `null` when it is not kept: expired, or diagnosed by an older version. */
export async function frozenSessionOf(
  { sessionId, provenance }: Diagnosis,
  objects: ObjectStore,
): Promise<Session | null> {
  const key = sessionObjectKey(sessionId, provenance.sessionHash);
  return (await objects.get(key)) === null ? null : readFrozenSession(key, objects);
}
