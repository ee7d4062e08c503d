#!/usr/bin/env node
import { processIo } from './io.ts';
import { runCli } from './run.ts';

const io = processIo();
// `rootspan list | head` closes the pipe early: that is the reader's right, not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await runCli(process.argv.slice(2), io);
