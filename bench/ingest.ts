import { parseArgs } from 'node:util';
import { AT_ONCE, BATCH_RECORDS, measureIngest, REPEAT } from './ingest/measure.ts';

/** The heap may grow by less than this from the first tenth of the records to the last, whatever their number. */
const MAX_GROWTH_MB = 200;

/**
 * `npm run bench -- ingest [--records 100000] [--memory]`: generated records through the handlers of
 * ingest and close-session over a folder's stores, or over stores in memory. Prints records a second and writes a record; fails when a record is lost, counted twice,
 * or memory grows with their number.
 */
export async function benchIngest(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      records: { type: 'string', default: '100000' },
      memory: { type: 'boolean', default: false },
    },
  });
  const measured = await measureIngest(Number(values.records), values.memory ? 'memory' : 'folder');
  const { records, sessions, ingest, close, writes, fresh, lost, faults, heapMb, heapGrowthMb } = measured;
  const rate = (ms: number): string => `${Math.round((records / ms) * 1000)} records/s`;
  print([
    [
      'records',
      `${records} in ${sessions} sessions, ${AT_ONCE} at once, ${BATCH_RECORDS} a batch, every ${REPEAT}th batch twice`,
    ],
    ['ingest', rate(ingest.wallMs)],
    ['close', rate(close.wallMs)],
    ['together', rate(ingest.wallMs + close.wallMs)],
    ['CPU', `${((ingest.cpuMs + close.cpuMs) / records).toFixed(2)} ms a record`],
    ...[...writes].map(([what, n]): [string, string] => [
      what,
      `${n} (${(n / records).toFixed(3)} a record)`,
    ]),
    ['all writes', `${([...writes.values()].reduce((sum, n) => sum + n, 0) / records).toFixed(3)} a record`],
    ['stored once', `${fresh} of ${records}`],
    ['lost', String(lost)],
    ['faults', String(faults.length)],
    [
      'heap',
      `${Math.round(heapMb)} MB at most, ${Math.round(heapGrowthMb)} MB more at the end than at the start`,
    ],
  ]);
  const sound = lost === 0 && fresh === records && faults.length === 0 && heapGrowthMb < MAX_GROWTH_MB;
  if (!sound) console.error('not sound: a record is lost or doubled, or memory grows', faults[0] ?? '');
  return sound ? 0 : 1;
}

function print(lines: readonly (readonly [string, string])[]): void {
  for (const [what, value] of lines) console.log(`${what.padEnd(22)} ${value}`);
}
