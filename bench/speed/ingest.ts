import { type MeasuredIngest, measureIngest } from '../ingest/measure.ts';
import { lineChart } from '../print/line-chart.ts';
import { growthExponent } from './growth.ts';
import type { Figure, SpeedSection } from './section.ts';

const cpuSeconds = ({ ingest, close }: MeasuredIngest): number => (ingest.cpuMs + close.cpuMs) / 1000;

/** `sizes` in records, rising. */
export function ingestSection(sizes: readonly number[]): SpeedSection {
  return {
    id: 'ingest',
    title:
      'Ingest and closing of sessions over local stores, by number of records (CPU with the local store)',
    needsCorpus: false,
    async run({ say }) {
      say('warming up');
      await measureIngest(1);
      const rows: MeasuredIngest[] = [];
      for (const size of sizes) {
        say(`${size} records`);
        const row = await measureIngest(size);
        if (row.faults.length > 0) throw row.faults[0];
        rows.push(row);
      }
      const exponent = growthExponent(rows.map((row) => [row.records, cpuSeconds(row)]));
      return {
        figures: [
          ...rows.flatMap(figuresOf),
          {
            name: 'growth of CPU time: exponent (1 is linear)',
            value: exponent,
            unit: '',
            better: 'lower' as const,
          },
        ],
        pictures: [{ file: 'ingest.svg', svg: curve(rows, exponent) }],
      };
    },
  };
}

function figuresOf(row: MeasuredIngest): Figure[] {
  const { records, ingest, close, writes, fresh, lost, heapMb } = row;
  const name = (what: string): string => `${records} records: ${what}`;
  const rate = (ms: number): number => (records / ms) * 1000;
  const allWrites = [...writes.values()].reduce((sum, count) => sum + count, 0);
  return [
    { name: name('ingest, wall'), value: rate(ingest.wallMs), unit: 'records/s', better: 'higher' },
    { name: name('ingest, CPU'), value: rate(ingest.cpuMs), unit: 'records/s', better: 'higher' },
    {
      name: name('with closing, CPU'),
      value: records / cpuSeconds(row),
      unit: 'records/s',
      better: 'higher',
    },
    { name: name('closing'), value: close.cpuMs, unit: 'ms CPU', better: 'lower' },
    { name: name('a record'), value: allWrites / records, unit: 'writes', better: 'lower' },
    { name: name('stored once'), value: fresh, unit: 'records', better: 'same' },
    { name: name('lost'), value: lost, unit: 'records', better: 'lower' },
    { name: name('heap at most'), value: heapMb, unit: 'MB', better: 'lower' },
  ];
}

function curve(rows: readonly MeasuredIngest[], exponent: number): string {
  const xMax = Math.max(...rows.map(({ records }) => records));
  return lineChart({
    title: `CPU time of ingest and closing, growth exponent ${exponent.toFixed(2)}`,
    xLabel: 'records',
    xTicks: [0, ...rows.map(({ records }) => records).filter((records) => records >= xMax / 10)],
    xMax,
    yMax: Math.max(...rows.map(cpuSeconds)),
    yUnit: 's',
    series: [
      {
        label: 'ingest and closing',
        points: rows.map((row) => [row.records, cpuSeconds(row)] as const),
        dashed: false,
      },
      {
        label: 'ingest alone',
        points: rows.map((row) => [row.records, row.ingest.cpuMs / 1000] as const),
        dashed: true,
      },
    ],
  });
}
