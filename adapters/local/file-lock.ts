import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigurationInvalidError } from '../../core/errors/errors.ts';

const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 10;
/** SQLITE_BUSY: another connection, of this process or another, holds the lock. */
const BUSY = 5;

/**
 * Runs the work while no other process and no other caller of this process runs work under the same file. The lock is
 * the operating system's, taken through SQLite: it ends with the process that holds it, so none is ever stale, and no two
 * can hold it, which a file that is created and removed cannot promise. The empty file stays.
 *
 * ConfigurationInvalidError after a minute of waiting.
 */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    await take(database, file);
    return await work();
  } finally {
    database.close();
  }
}

async function take(database: DatabaseSync, file: string): Promise<void> {
  for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_EVERY_MS) {
    try {
      database.exec('BEGIN EXCLUSIVE');
      return;
    } catch (error) {
      if (!(error instanceof Error && 'errcode' in error && error.errcode === BUSY)) throw error;
    }
    await delay(LOOK_EVERY_MS);
  }
  throw new ConfigurationInvalidError(`${file} has been held by another process for over a minute`);
}
