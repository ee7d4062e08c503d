import { spawn } from 'node:child_process';
import path from 'node:path';
import type { CliIo } from './io.ts';

/** What opens a file with the program that the user has chosen for it. The file is an argument, never a part of a shell line. */
const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['explorer.exe'],
};

/** Opens a page; on a machine without a browser it says where the page is. */
export async function openInBrowser(file: string, io: CliIo): Promise<void> {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const opened = await new Promise<boolean>((resolve) => {
    const child = spawn(command, [...args, path.resolve(file)], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
  if (!opened) io.err(`rootspan: no program here opens pages; the report is ${path.resolve(file)}\n`);
}
