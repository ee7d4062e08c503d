import { execFileSync } from 'node:child_process';
import path from 'node:path';
import * as z from 'zod';
import { lineChart } from '../line-chart.ts';
import type { SpeedSection } from './section.ts';

const SIZES = [1_000, 10_000, 100_000];

const planned = z.object({
  tokens: z.number(),
  chunks: z.number(),
  trajectoryMs: z.number(),
  planMs: z.number(),
  peakMb: z.number(),
});

export const planningSection: SpeedSection = {
  id: 'planning',
  title: 'Laying out and planning a session, by number of spans',
  run({ say }) {
    const rows = SIZES.map((spans) => {
      say(`planning ${spans} spans`);
      const output = execFileSync(
        process.execPath,
        [path.join(import.meta.dirname, 'plan-once.ts'), String(spans)],
        { encoding: 'utf8' },
      );
      return { spans, ...planned.parse(JSON.parse(output)) };
    });
    const seconds = (row: (typeof rows)[number]): number => (row.trajectoryMs + row.planMs) / 1000;
    const curve = (title: string, yUnit: string, value: (row: (typeof rows)[number]) => number): string =>
      lineChart({
        title,
        xLabel: 'spans',
        xTicks: SIZES,
        xMax: Math.max(...SIZES),
        yMax: Math.max(...rows.map(value)),
        yUnit,
        series: [
          { label: 'measured', points: rows.map((row) => [row.spans, value(row)] as const), dashed: false },
        ],
      });
    return {
      figures: rows.flatMap((row) => [
        { name: `${row.spans} spans: tokens`, value: row.tokens, unit: 'tokens', better: 'same' as const },
        { name: `${row.spans} spans: chunks`, value: row.chunks, unit: 'chunks', better: 'same' as const },
        {
          name: `${row.spans} spans: trajectory`,
          value: row.trajectoryMs,
          unit: 'ms',
          better: 'lower' as const,
        },
        { name: `${row.spans} spans: plan`, value: row.planMs, unit: 'ms', better: 'lower' as const },
        { name: `${row.spans} spans: peak memory`, value: row.peakMb, unit: 'MB', better: 'lower' as const },
      ]),
      pictures: [
        { file: 'planning-time.svg', svg: curve('Time to lay out and plan a session', 's', seconds) },
        { file: 'planning-memory.svg', svg: curve('Peak memory of planning', 'MB', (row) => row.peakMb) },
      ],
    };
  },
};
