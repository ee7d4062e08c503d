#!/usr/bin/env node
// Read at run time, before anything is loaded that an older Node cannot read: a package manager only warns.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(`rootspan: needs Node.js 22.13 or newer, this is ${process.versions.node}\n`);
  process.exit(3);
}
// `npm run rootspan` starts in the folder of the package: files are named from where the user stands.
if (process.env.npm_lifecycle_event === 'rootspan' && process.env.INIT_CWD !== undefined)
  process.chdir(process.env.INIT_CWD);
// `rootspan list | head` closes the pipe early: that is the reader's right, not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
// In a function: older versions of Node have no `await` here.
async function main(): Promise<void> {
  const [{ runCli }, { processIo }] = await Promise.all([import('./run.ts'), import('./shell/io.ts')]);
  process.exitCode = await runCli(process.argv.slice(2), processIo());
}
void main();
