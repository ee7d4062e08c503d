import { execFileSync } from 'node:child_process';
import path from 'node:path';
import * as z from 'zod';
import { lineChart } from '../print/line-chart.ts';
import { growthExponent } from './growth.ts';
import type { Figure, SpeedSection } from './section.ts';

const planned = z.object({
  tokens: z.number(),
  chunks: z.number(),
  trajectoryMs: z.number(),
  planMs: z.number(),
  peakMb: z.number(),
});
type Row = z.infer<typeof planned> & { readonly spans: number };

const secondsOf = (row: Row): number => (row.trajectoryMs + row.planMs) / 1000;

function planOnce(spans: number): Row {
  const script = path.join(import.meta.dirname, 'plan-once.ts');
  const output = execFileSync(process.execPath, [script, String(spans)], { encoding: 'utf8' });
  return { spans, ...planned.parse(JSON.parse(output)) };
}

/** `sizes` in spans, rising; `runs` processes each, the least counts: others on the machine can only add to it. */
export function planningSection(sizes: readonly number[], runs: number): SpeedSection {
  return {
    id: 'planning',
    title: `Laying out and planning a session, by number of spans (CPU time, warm, least of ${runs})`,
    needsCorpus: false,
    run({ say }) {
      const rows = sizes.map((spans): Row => {
        say(`planning ${spans} spans`);
        const first = planOnce(spans);
        const tries = [first, ...Array.from({ length: runs - 1 }, () => planOnce(spans))];
        const least = (of: (row: Row) => number): number => Math.min(...tries.map(of));
        return {
          ...first,
          trajectoryMs: least((row) => row.trajectoryMs),
          planMs: least((row) => row.planMs),
          peakMb: least((row) => row.peakMb),
        };
      });
      const exponent = growthExponent(rows.map((row) => [row.spans, secondsOf(row)]));
      return {
        figures: [
          ...rows.flatMap(figuresOf),
          {
            name: 'growth of time: exponent (1 is linear)',
            value: exponent,
            unit: '',
            better: 'lower' as const,
          },
        ],
        pictures: [
          {
            file: 'planning-time.svg',
            svg: curve(rows, `Time to lay out and plan a session, growth exponent ${exponent.toFixed(2)}`, {
              unit: 's',
              of: secondsOf,
            }),
          },
          {
            file: 'planning-memory.svg',
            svg: curve(rows, 'Peak memory of planning, session included', {
              unit: 'MB',
              of: (row) => row.peakMb,
            }),
          },
        ],
      };
    },
  };
}

function figuresOf(row: Row): Figure[] {
  const name = (what: string): string => `${row.spans} spans: ${what}`;
  return [
    { name: name('tokens'), value: row.tokens, unit: 'tokens', better: 'same' },
    { name: name('chunks'), value: row.chunks, unit: 'chunks', better: 'same' },
    { name: name('trajectory'), value: row.trajectoryMs, unit: 'ms CPU', better: 'lower' },
    { name: name('plan'), value: row.planMs, unit: 'ms CPU', better: 'lower' },
    { name: name('peak memory'), value: row.peakMb, unit: 'MB', better: 'lower' },
  ];
}

function curve(
  rows: readonly Row[],
  title: string,
  y: { readonly unit: string; readonly of: (row: Row) => number },
): string {
  const xMax = Math.max(...rows.map(({ spans }) => spans));
  return lineChart({
    title,
    xLabel: 'spans',
    // Labels nearer to each other than a tenth of the axis would overlap.
    xTicks: [0, ...rows.map(({ spans }) => spans).filter((spans) => spans >= xMax / 10)],
    xMax,
    yMax: Math.max(...rows.map(y.of)),
    yUnit: y.unit,
    series: [
      { label: 'measured', points: rows.map((row) => [row.spans, y.of(row)] as const), dashed: false },
    ],
  });
}
