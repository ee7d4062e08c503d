import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { processIo } from '../../cli/shell/io.ts';
import { readSessionFiles } from '../../cli/shell/read-sessions.ts';
import { sessionSpans } from '../../core/session/session.ts';

/** Reads one file in a process of its own, so that the peak of memory is its. Prints one line of JSON. */
const [file = ''] = process.argv.slice(2);
const mb = (bytes: number): number => Math.round(bytes / 1024 / 1024);
const started = performance.now();
const cpu = process.cpuUsage();
const { sessions, codes } = await readSessionFiles([file], processIo());
const wallSeconds = (performance.now() - started) / 1000;
const { user, system } = process.cpuUsage(cpu);
const peakRssMb = Math.round(process.resourceUsage().maxRSS / 1024);
setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');
if (typeof collect === 'function') collect();
console.log(
  JSON.stringify({
    sessions: sessions.length,
    spans: sessions.reduce((sum, { session }) => sum + sessionSpans(session).length, 0),
    whole: codes.length === 0,
    wallSeconds,
    cpuSeconds: (user + system) / 1e6,
    peakRssMb,
    heldMb: mb(getHeapStatistics().used_heap_size),
  }),
);
