import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ExitCode } from '../cli/shell/exit-codes.ts';
import { machineLine } from './print/docs-section.ts';
import { startStubService } from './reference/stub-service.ts';

const SESSIONS = 60;
const CONCURRENCY = 16;
const LATENCY_MS = 1000;

/**
 * `npm run bench -- batch`: many sessions through the real command line against a stub of a second a call: how long, what
 * a Ctrl-C in the middle costs, and how soon a wrong port is said.
 */
export async function benchBatch(argv: readonly string[]): Promise<number> {
  parseArgs({ args: [...argv], options: {} });
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rootspan-batch-'));
  const files = Array.from({ length: SESSIONS }, (_, index) => {
    const file = path.join(folder, `room-${index}.json`);
    const messages = [
      { role: 'user', content: `Please book room ${index}.` },
      { role: 'assistant', content: `Room ${index} is booked.` },
    ];
    writeFileSync(file, JSON.stringify({ messages }));
    return file;
  });
  const stub = await startStubService(LATENCY_MS, '');
  const diagnose = (url: string, store: string): Run =>
    runCommand([
      ...['diagnose', ...files, '--model', `openai:stub@${url}/v1`, '--store', path.join(folder, store)],
      ...['--concurrency', String(CONCURRENCY), '--format', 'ndjson'],
    ]);
  try {
    const whole = await diagnose(stub.url, 'whole').ended;
    const asked = stub.takePrompts();

    const broken = diagnose(stub.url, 'broken');
    await delay(LATENCY_MS * 2.5);
    broken.interrupt();
    const first = await broken.ended;
    const second = await diagnose(stub.url, 'broken').ended;
    const both = stub.takePrompts();

    await stub.close();
    const wrongPort = await diagnose(stub.url, 'wrong-port').ended;
    console.log(
      [
        `${SESSIONS} sessions, ${CONCURRENCY} at the same time, every model call answered after ${LATENCY_MS / 1000} s. ${machineLine()}.`,
        '',
        `all of them            ${seconds(whole)}, ${results(whole)} diagnoses, ${asked.length} calls`,
        `Ctrl-C after 2.5 s     ${results(first)} diagnoses; the same command again: ${results(second)}; ` +
          `${both.length} calls in both, ${both.length - new Set(both).size} of them a second time`,
        `a port nobody is at    ${seconds(wrongPort)}, exit code ${wrongPort.exitCode}, ${wrongPort.err.trimEnd().split('\n').length} line on standard error`,
      ].join('\n'),
    );
    return ExitCode.Passed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Ended {
  readonly ms: number;
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}
interface Run {
  readonly ended: Promise<Ended>;
  interrupt(): void;
}

function runCommand(args: readonly string[]): Run {
  const begun = performance.now();
  let interrupt = (): void => undefined;
  const ended = new Promise<Ended>((resolve) => {
    const child = execFile(
      process.execPath,
      [path.resolve(import.meta.dirname, '../cli/main.ts'), ...args],
      { maxBuffer: 64 * 2 ** 20 },
      (_error, out, err) =>
        resolve({ ms: performance.now() - begun, exitCode: child.exitCode ?? -1, out, err }),
    );
    interrupt = () => void child.kill('SIGINT');
  });
  return { ended, interrupt: () => interrupt() };
}

const seconds = ({ ms }: Ended): string => `${(ms / 1000).toFixed(1)} s`;
const results = ({ out }: Ended): number => out.split('\n').filter((line) => line !== '').length;
