import path from 'node:path';
import { canonicalJson, sha256Hex } from '../../core/base/hash.ts';
import { keyPart } from '../../core/ports/object-keys.ts';
import type { ObjectStore } from '../../core/ports/ports.ts';
import { withSessionId } from '../../core/reading/session-reader.ts';
import { sourceStem } from '../../core/reading/transcripts/fields.ts';
import type { Session } from '../../core/session/session.ts';
import { safeLine } from '../../report/escape.ts';
import type { CliIo } from './io.ts';

export interface SessionOfFile {
  readonly session: Session;
  /** As found on the command line; `null` for standard input and for what was put together from several files. */
  readonly file: string | null;
}

const originKey = (sessionId: string): string => `origins/${keyPart(sessionId)}`;
const SUFFIX = 6;

/**
 * Sessions whose format states no id are called after their file, and two files of one name are two sessions: the first
 * that the store sees keeps the name, another file gets it with a few digits of its path's hash, and is told so. The
 * same file keeps its name, so that it can be diagnosed again.
 *
 * Never two sessions under one id: where two files state the same one, the later gets the digits too, and one that was
 * given twice is taken once.
 */
export async function nameSessions(
  read: readonly SessionOfFile[],
  objects: ObjectStore | null,
  io: CliIo,
): Promise<Session[]> {
  const owners = new Map<string, string>();
  const named = new Map<string, SessionOfFile>();
  // What was put together from records bears the ids of its producer: it keeps them.
  for (const item of [...read].sort((a, b) => Number(a.file !== null) - Number(b.file !== null))) {
    const { session, file } = item;
    const { sessionId } = session;
    const here = named.get(sessionId);
    const origin = file === null ? null : path.resolve(file);
    const owner =
      here !== undefined
        ? (here.file ?? 'another input')
        : origin !== null && file !== null && isNamedAfter(sessionId, file)
          ? (owners.get(sessionId) ?? (await ownerOf(sessionId, origin, objects)))
          : null;
    if (here !== undefined && isSame(here.session, session)) {
      io.err(
        `rootspan: ${nameOf(file)}: "${safeLine(sessionId, 80)}" is the same session as in ${nameOf(here.file)}: taken once\n`,
      );
      continue;
    }
    if (owner === null || owner === origin) {
      if (owner !== null) owners.set(sessionId, owner);
      named.set(sessionId, item);
      continue;
    }
    const uniqueId = `${sessionId}~${sha256Hex(origin ?? canonicalJson(session)).slice(0, SUFFIX)}`;
    io.err(
      `rootspan: ${nameOf(file)}: "${safeLine(sessionId, 80)}" is the name of ${safeLine(owner, 200)}; this one is called "${safeLine(uniqueId, 80)}"\n`,
    );
    named.set(uniqueId, { ...item, session: withSessionId(session, uniqueId) });
  }
  return [...named.values()].map(({ session }) => session);
}

const nameOf = (file: string | null): string => (file === null ? 'the input' : safeLine(file, 200));

const isSame = (a: Session, b: Session): boolean => canonicalJson(a) === canonicalJson(b);

const isNamedAfter = (sessionId: string, file: string): boolean => {
  const stem = sourceStem(file);
  return sessionId === stem || sessionId.startsWith(`${stem}#`);
};

/** The file that the name belongs to, from now on this one where it belonged to none. */
async function ownerOf(sessionId: string, origin: string, objects: ObjectStore | null): Promise<string> {
  if (objects === null) return origin;
  const key = originKey(sessionId);
  if (await objects.putIfAbsent(key, new TextEncoder().encode(origin))) return origin;
  const stored = await objects.get(key);
  return stored === null ? origin : new TextDecoder().decode(stored);
}
