import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { styleText } from 'node:util';
import { type Palette, PLAIN } from '../../report/terminal.ts';
import { decodeInput, MAX_INPUT_BYTES, tooLarge } from './decode-input.ts';
import { UsageError } from './errors.ts';
import { nearby } from './nearby.ts';

/** Everything a command touches of the outside, so that tests run the real commands without a process. */
export interface CliIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Results only: pure, so that it can be piped. */
  out(text: string): void;
  /** Progress, hints and errors. */
  err(text: string): void;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  readonly inIsTerminal: boolean;
  readonly columns: number;
  readStdin(): Promise<Uint8Array>;
  /** Calls the handler at each Ctrl-C until the returned function is called; without a handler it ends the process. */
  onInterrupt(handler: () => void): () => void;
}

/** The text of one file or of standard input ("-"). UsageError when it is not there, too large, or no text. */
export async function readInput(source: string, io: CliIo): Promise<string> {
  if (source === '-') return await decodeInput(await readStdin(io), 'standard input');
  try {
    const { size } = await stat(source);
    if (size > MAX_INPUT_BYTES) throw tooLarge(source);
    return await decodeInput(await readFile(source), source);
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') throw new UsageError(`no such file: ${source}${await nearby(source)}`, { cause });
    if (code === 'EISDIR') throw new UsageError(`${source} is a folder: name a file`, { cause });
    throw new UsageError(`cannot read ${source}: ${code ?? String(cause)}`, { cause });
  }
}

export async function readStdin(io: CliIo): Promise<Uint8Array> {
  if (io.inIsTerminal) {
    throw new UsageError(
      '"-" reads standard input, which is a terminal: pipe a session into it, or name a file',
    );
  }
  return await io.readStdin();
}

export function palette(io: CliIo): Palette {
  const wanted = io.outIsTerminal && io.env.NO_COLOR === undefined && io.env.TERM !== 'dumb';
  if (!wanted && (io.env.FORCE_COLOR ?? '0') === '0') return PLAIN;
  // Whether to colour is decided above, for the streams that a command was given: not by the process's own.
  const paint = (style: keyof Palette) => (text: string) => styleText(style, text, { validateStream: false });
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    red: paint('red'),
    green: paint('green'),
    yellow: paint('yellow'),
    cyan: paint('cyan'),
  };
}

/** Progress on one repainted line on a terminal, nothing elsewhere: logs of CI stay readable. */
export function progress(io: CliIo): (text: string) => void {
  if (!io.errIsTerminal) return () => undefined;
  return (text) => io.err(`\r\u001b[2K${text}`);
}

export function processIo(): CliIo {
  return {
    env: process.env,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    outIsTerminal: process.stdout.isTTY === true,
    errIsTerminal: process.stderr.isTTY === true,
    inIsTerminal: process.stdin.isTTY === true,
    // A pseudo-terminal without a size reports 0 or 1.
    columns: Math.max(process.stdout.columns ?? 100, 60),
    onInterrupt: (handler) => {
      process.on('SIGINT', handler);
      return () => void process.off('SIGINT', handler);
    },
    readStdin: async () => {
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of createReadStream('', { fd: 0, autoClose: false })) {
        const bytes = chunk as Buffer;
        size += bytes.byteLength;
        if (size > MAX_INPUT_BYTES) throw tooLarge('standard input');
        chunks.push(bytes);
      }
      return Buffer.concat(chunks);
    },
  };
}
