import { writeFile } from 'node:fs/promises';
import { UsageError } from './errors.ts';
import type { CliIo } from './io.ts';

/** A result goes to standard output, or with `-o` to a file, which is then named on standard error. */
export async function writeResult(text: string, file: string | undefined, io: CliIo): Promise<void> {
  if (file === undefined) {
    io.out(text);
    return;
  }
  try {
    await writeFile(file, text);
  } catch (cause) {
    throw new UsageError(
      `-o: cannot write ${file}: ${(cause as NodeJS.ErrnoException).code ?? String(cause)}`,
      {
        cause,
      },
    );
  }
  io.err(`rootspan: wrote ${file}\n`);
}
