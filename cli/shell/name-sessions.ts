import path from 'node:path';
import { sha256Hex } from '../../core/base/hash.ts';
import { keyPart } from '../../core/ports/object-keys.ts';
import type { ObjectStore } from '../../core/ports/ports.ts';
import { sourceStem } from '../../core/reading/transcripts/fields.ts';
import type { Session } from '../../core/session/session.ts';
import { safeLine } from '../../report/escape.ts';
import type { CliIo } from './io.ts';

export interface SessionOfFile {
  readonly session: Session;
  /** As given on the command line; `-` for standard input. */
  readonly file: string;
}

const originKey = (sessionId: string): string => `origins/${keyPart(sessionId)}`;
const SUFFIX = 6;

/**
 * Sessions whose format states no id are called after their file, and two files of one name are two sessions: the first
 * that the store sees keeps the name, another file gets it with a few digits of its path's hash, and is told so. The
 * same file keeps its name, so that it can be diagnosed again.
 */
export async function nameSessions(
  read: readonly SessionOfFile[],
  objects: ObjectStore | null,
  io: CliIo,
): Promise<Session[]> {
  const here = new Map<string, string>();
  const named: Session[] = [];
  for (const { session, file } of read) {
    const { sessionId } = session;
    if (file === '-' || !isNamedAfter(sessionId, file)) {
      named.push(session);
      continue;
    }
    const origin = path.resolve(file);
    const owner = here.get(sessionId) ?? (await ownerOf(sessionId, origin, objects));
    here.set(sessionId, owner);
    if (owner === origin) named.push(session);
    else {
      const uniqueId = `${sessionId}~${sha256Hex(origin).slice(0, SUFFIX)}`;
      io.err(
        `rootspan: ${safeLine(file, 200)}: "${safeLine(sessionId, 80)}" is the name of ${safeLine(owner, 200)}; this one is called "${safeLine(uniqueId, 80)}"\n`,
      );
      named.push(renamed(session, uniqueId));
    }
  }
  return named;
}

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

const renamed = (session: Session, sessionId: string): Session => ({
  ...session,
  sessionId,
  traces: session.traces.map((trace) => ({ ...trace, sessionId })),
});
