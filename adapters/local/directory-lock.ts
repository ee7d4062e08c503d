import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { ConfigurationInvalidError } from '../../core/errors/errors.ts';
import { hasCode } from './has-code.ts';

const holderSchema = z.object({ pid: z.number().int().positive(), host: z.string(), token: z.string() });
type Holder = z.infer<typeof holderSchema>;

/**
 * One process at a time in a folder. The lock is a file that names its holder; it is taken by exclusive creation,
 * and one left by a process of this machine that no longer lives is moved aside (a move succeeds for one taker only).
 *
 * Waits up to `waitMs` for another holder, then throws a ConfigurationInvalidError that names it.
 */
export async function lockDirectory(folder: string, waitMs: number): Promise<() => Promise<void>> {
  // Sessions are nobody else's business on a shared machine.
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, 'lock.json');
  const me: Holder = { pid: process.pid, host: os.hostname(), token: randomUUID() };
  const deadline = Date.now() + waitMs;
  for (;;) {
    try {
      await writeFile(file, JSON.stringify(me), { flag: 'wx' });
      return async () => {
        const holder = await readHolder(file);
        if (holder?.token === me.token) await rm(file, { force: true });
      };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    const holder = await readHolder(file);
    if (holder !== null && holder.host === me.host && !isAlive(holder.pid)) {
      await moveAside(file, holder);
      continue;
    }
    if (Date.now() >= deadline) {
      const who = holder === null ? 'another process' : `process ${holder.pid} on ${holder.host}`;
      throw new ConfigurationInvalidError(
        `the store in ${folder} is in use by ${who}: wait for it to end, or give another folder with --store ` +
          `(if no such process lives, delete ${file})`,
      );
    }
    await delay(50);
  }
}

async function readHolder(file: string): Promise<Holder | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
  try {
    return holderSchema.parse(JSON.parse(text));
  } catch {
    // Just being written, or cut by a crash: the holder is unknown, so the lock stands until the deadline.
    return null;
  }
}

async function moveAside(file: string, dead: Holder): Promise<void> {
  const aside = `${file}.${dead.token}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  const moved = await readHolder(aside);
  // Between reading and moving another taker may have cleared it and taken the lock: then give that one back.
  if (moved !== null && moved.token !== dead.token) await rename(aside, file);
  else await rm(aside, { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
