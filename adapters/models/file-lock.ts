import { open, rm, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigurationInvalidError } from '../../core/errors/errors.ts';
import { hasCode } from '../local/has-code.ts';

/** The work under the lock is one read and one append, so an older lock belongs to a process that died. */
const STALE_MS = 30_000;
const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 10;

/** Runs the work while holding a lock file: exclusive creation is atomic on every file system we meet. */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  await take(file);
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function take(file: string): Promise<void> {
  for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_EVERY_MS) {
    try {
      await (await open(file, 'wx')).close();
      return;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
    if ((await ageOf(file)) > STALE_MS) await rm(file, { force: true });
    await delay(LOOK_EVERY_MS);
  }
  throw new ConfigurationInvalidError(
    `${file} is held by another process for over a minute; remove it if there is none`,
  );
}

async function ageOf(file: string): Promise<number> {
  try {
    return Date.now() - (await stat(file)).mtimeMs;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 0;
    throw error;
  }
}
