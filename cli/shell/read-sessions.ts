import { type Reading, SessionReader } from '../../core/reading/session-reader.ts';
import { safeLine } from '../../report/escape.ts';
import { eachInput } from './each-input.ts';
import { UsageError } from './errors.ts';
import { ExitCode } from './exit-codes.ts';
import type { CliIo } from './io.ts';
import type { SessionOfFile } from './name-sessions.ts';
import type { OpenInput } from './open-input.ts';

/** How standard input is called in the names of its sessions. */
const STDIN = 'stdin';

export interface ReadFiles {
  readonly sessions: readonly SessionOfFile[];
  /** What the reading itself means for the exit code: empty when everything was read. */
  readonly codes: ExitCode[];
  /** Files, or arguments that name none, that could not be read. */
  readonly failed: number;
}

/**
 * Reads all that the arguments name (see `eachInput`), telemetry of all of it together. Parts that could not be read
 * inside a file are said, and their code is Unknown where no session bears them.
 */
export async function readSessionFiles(args: readonly string[], io: CliIo): Promise<ReadFiles> {
  const reader = new SessionReader();
  const codes = await eachInput(
    args,
    io,
    (input) => readInto(reader, input),
    (source, error) => {
      // What was decoded, the reader has judged itself.
      if (error instanceof UsageError)
        reader.missing(source, 'this file could not be read, and may hold a part of the session');
    },
  );
  const failed = codes.length;
  const { sessions, unread, unaccounted } = reader.finish();
  for (const { where, count, reason } of unread)
    io.err(`rootspan: not read: ${safeLine(`${where} (${count}): ${reason}`, 1000)}\n`);
  if (unaccounted.length > 0) codes.push(ExitCode.Unknown);
  return { sessions: sessions.map(ofFile), codes, failed };
}

async function readInto(reader: SessionReader, input: OpenInput): Promise<void> {
  const source = input.source.replace(/^standard input/, STDIN);
  if ('text' in input) {
    reader.add({ text: await input.text(), source });
    return;
  }
  const lines = reader.lines(source);
  let breakOff: string | null = null;
  try {
    for await (const some of input.lines) lines.push(some);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    // What came before it was read, and says that there is more.
    breakOff = error.message;
  }
  lines.end(breakOff);
}

const ofFile = ({ session, source }: Reading['sessions'][number]): SessionOfFile => ({
  session,
  file: source === null || source === STDIN || source.startsWith(`${STDIN}:`) ? null : source,
});
