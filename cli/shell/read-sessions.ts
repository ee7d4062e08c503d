import { readSessions } from '../../core/reading/registry.ts';
import { safeLine } from '../../report/escape.ts';
import { explainError, UsageError } from './errors.ts';
import { type CliIo, readInput } from './io.ts';
import type { SessionOfFile } from './name-sessions.ts';

/**
 * Reads all files. With several, one that cannot be read is said and counted and the others go on; alone, its
 * error is the command's. Records that could not be read inside a file are said too.
 */
export async function readSessionFiles(
  files: readonly string[],
  io: CliIo,
): Promise<{ sessions: readonly SessionOfFile[]; failedInputs: number }> {
  const sessions: SessionOfFile[] = [];
  let failedInputs = 0;
  for (const file of files) {
    try {
      const source = file === '-' ? 'stdin' : file;
      const result = readSessions({ text: await readInput(file, io), source });
      sessions.push(...result.sessions.map((session) => ({ session, file })));
      for (const unread of result.unread) {
        io.err(
          `rootspan: ${source}: not read: ${safeLine(`${unread.where} (${unread.count}): ${unread.reason}`, 1000)}\n`,
        );
      }
    } catch (error) {
      if (files.length === 1) throw error;
      failedInputs += 1;
      io.err(`rootspan: ${file}: ${explainError(error).text}\n`);
    }
  }
  if (sessions.length === 0 && failedInputs === 0) throw new UsageError('the input holds no session');
  return { sessions, failedInputs };
}
