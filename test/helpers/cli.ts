import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { runCli } from '../../cli/run.ts';
import type { CliIo } from '../../cli/shell/io.ts';

export interface CliRun {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the real command line in process, with what it touches of the outside in hand. */
export async function rootspan(
  argv: readonly string[],
  given: {
    stdin?: string;
    terminal?: boolean;
    env?: Record<string, string>;
    onInterrupt?: CliIo['onInterrupt'];
    /** Told of each piece of standard output as it comes. */
    onOut?: (text: string) => void;
  } = {},
): Promise<CliRun> {
  let out = '';
  let err = '';
  const io: CliIo = {
    env: given.env ?? {},
    out: (text) => {
      out += text;
      given.onOut?.(text);
    },
    err: (text) => {
      err += text;
    },
    outIsTerminal: given.terminal ?? false,
    errIsTerminal: false,
    inIsTerminal: given.stdin === undefined,
    columns: 100,
    onInterrupt: given.onInterrupt ?? (() => () => undefined),
    readStdin: async () => {
      if (given.stdin === undefined) throw new Error('unscripted: nothing was given on standard input');
      return new TextEncoder().encode(given.stdin);
    },
  };
  const exitCode = await runCli(argv, io);
  return { exitCode, out, err };
}

/** A folder that goes away with the test. */
export function scratchFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'rootspan-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function scratchFile(name: string, content: unknown): string {
  const file = path.join(scratchFolder(), name);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}
