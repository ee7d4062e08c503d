#!/usr/bin/env node
import { runCli } from './run.ts';
import { processIo } from './shell/io.ts';

// Read at run time: a package manager only warns.
if (Number(process.versions.node.split('.')[0]) < 22) {
  process.stderr.write(`rootspan: needs Node.js 22 or newer, this is ${process.versions.node}\n`);
  process.exit(3);
}
const io = processIo();
// `rootspan list | head` closes the pipe early: that is the reader's right, not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await runCli(process.argv.slice(2), io);
