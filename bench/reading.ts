import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { langfuseObservations, otlpLines, writeSessions } from './reading/made-files.ts';

const MB = 1024 * 1024;

const FILES = [
  { name: 'spans.jsonl', what: 'OTLP/JSON lines', lines: otlpLines, shape: {} },
  { name: 'spans.jsonl.gz', what: 'the same, gzipped', lines: otlpLines, shape: { gzip: true } },
  {
    name: 'observations.json',
    what: 'Langfuse, one page',
    lines: langfuseObservations,
    shape: { open: '{"data":[', between: ',', close: '],"meta":{"page":1}}' },
  },
] as const;

/** Rates below it are a fault, whatever the machine: the requirement of the product. */
const MIN_MB_A_SECOND = 20;

/**
 * `npm run bench -- reading [--mb 100]`: made files of sessions through the loader of the command line, each in a process
 * of its own. Prints MB a second of CPU and wall time, the peak of resident memory, and what is held when all is read.
 * Fails when a session is lost or the rate (of CPU time: walls are the neighbours') is below 20 MB/s.
 *
 * What bounds memory: of lines that stand alone (OTLP, spans, log events) the records of all sessions, never the text; of
 * one document its text and its parsed values, until its sessions are read.
 */
export async function benchReading(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { mb: { type: 'string', default: '100' } } });
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rootspan-reading-'));
  let sound = true;
  try {
    for (const { name, what, lines, shape } of FILES) {
      const file = path.join(folder, name);
      const made = await writeSessions(file, Number(values.mb) * MB, lines, shape);
      const { stdout } = await promisify(execFile)(process.execPath, [
        path.join(import.meta.dirname, 'reading/read-once.ts'),
        file,
      ]);
      const read = JSON.parse(stdout);
      const size = made.bytes / MB;
      const rate = size / read.cpuSeconds;
      if (read.sessions !== made.sessions || !read.whole || rate < MIN_MB_A_SECOND) sound = false;
      console.log(
        `${what.padEnd(20)} ${size.toFixed(0)} MB, ${read.sessions} of ${made.sessions} sessions, ${read.spans} spans: ` +
          `${rate.toFixed(1)} MB/s of CPU time, ${(size / read.wallSeconds).toFixed(1)} MB/s of wall time; ` +
          `at most ${read.peakRssMb} MB resident, ${read.heldMb} MB held at the end`,
      );
      await rm(file);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  if (!sound) console.error(`not sound: a session is lost, or below ${MIN_MB_A_SECOND} MB/s`);
  return sound ? 0 : 1;
}
