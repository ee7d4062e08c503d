import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');

export interface Emulator {
  readonly endpoint: string;
  /** Environment with which SDKs, the CDK CLI and Lambdas reach the emulator and nothing else. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Python 3.10 is what ministack asks for. `null` says why there is none. */
export async function findPython(): Promise<{ python: string | null; why: string }> {
  for (const python of ['python3', 'python']) {
    try {
      const { stdout } = await run(python, ['-c', 'import sys, venv; print(sys.version_info >= (3, 10))']);
      if (stdout.trim() === 'True') return { python, why: '' };
    } catch {
      // Not this one: the next name is tried, and `why` speaks for all.
    }
  }
  return {
    python: null,
    why: 'no Python ≥ 3.10 with venv on this machine; the emulator (ministack) is a Python package',
  };
}

/** Installs the pinned emulator into `.venv` once, and starts it on a free port of 127.0.0.1. */
export async function startEmulator(python: string, scratch: string): Promise<Emulator> {
  const venv = path.join(root, '.venv');
  await run(python, ['-m', 'venv', venv]);
  await run(path.join(venv, 'bin/pip'), [
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '-r',
    path.join(import.meta.dirname, 'requirements.txt'),
  ]);
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const home = path.join(scratch, 'home');
  await mkdir(home, { recursive: true });
  const env = {
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_EC2_METADATA_DISABLED: 'true',
    CDK_DISABLE_NOTICES: '1',
    CDK_DISABLE_CLI_TELEMETRY: 'true',
    HOME: home,
  };
  // The emulator runs Lambdas with the `node` it finds: that of our own devDependency, the Lambda runtime's version.
  const PATH = `${path.join(root, 'node_modules/.bin')}${path.delimiter}${process.env.PATH ?? ''}`;
  const child = spawn(path.join(venv, 'bin/ministack'), [], {
    cwd: scratch,
    env: {
      PATH,
      HOME: home,
      TMPDIR: scratch,
      BIND_HOST: '127.0.0.1',
      MINISTACK_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      STATE_DIR: path.join(scratch, 'state'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log = createWriteStream(path.join(scratch, 'ministack.log'));
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  await untilReady(endpoint, child);
  return { endpoint, env: { ...env, PATH }, stop: () => stop(child) };
}

async function untilReady(endpoint: string, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 120; attempt += 1) {
    if (child.exitCode !== null)
      throw new Error(`the emulator ended with code ${child.exitCode} while starting`);
    try {
      await fetch(endpoint);
      return;
    } catch {
      await delay(500);
    }
  }
  throw new Error('the emulator did not answer within 60 seconds');
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await Promise.race([ended, delay(5000).then(() => child.kill('SIGKILL'))]);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port on 127.0.0.1');
  return address.port;
}
