import { lineChart, type Series } from '../print/line-chart.ts';
import type { GroupResult } from './run.ts';

/** One measured configuration in the cost picture. */
export interface CostPoint {
  readonly label: string;
  /** USD a run; `null` (no price on file) is left out. */
  readonly costUsd: number | null;
  /** 0–1. */
  readonly accuracy: number;
}

/** Accuracy against tolerance for one group, with the baselines dashed. `null` when the group has no failed run. */
export function tolerancePicture(result: GroupResult): string | null {
  if (result.metrics === null) return null;
  const series: Series[] = [
    {
      label: 'measured',
      points: result.metrics.within.map(({ k, rate }) => [k, rate.share] as const),
      dashed: false,
    },
    ...result.baselines.map((baseline) => ({
      label: baseline.name,
      points: baseline.within.map(({ k, rate }) => [k, rate.share] as const),
      dashed: true,
    })),
  ];
  return lineChart({
    yMax: 1,
    yUnit: '%',
    yScale: 100,
    title: `${result.group}: share of runs with the critical step within ±k`,
    xLabel: 'tolerance k (steps)',
    xTicks: [0, 1, 3, 5],
    xMax: 5,
    series,
  });
}

/** Accuracy against cost: one mark a configuration. `null` when no configuration has a price. */
export function costPicture(title: string, points: readonly CostPoint[]): string | null {
  const priced = points.flatMap(({ label, costUsd, accuracy }) =>
    costUsd === null ? [] : [{ label, points: [[costUsd, accuracy] as const], dashed: false }],
  );
  if (priced.length === 0) return null;
  const max = Math.max(...priced.map(({ points: [point] }) => point?.[0] ?? 0));
  const xMax = max === 0 ? 0.01 : max * 1.1;
  const xTicks = [0, 1, 2, 3, 4].map((n) => Number(((xMax * n) / 4).toPrecision(2)));
  return lineChart({
    yMax: 1,
    yUnit: '%',
    yScale: 100,
    title,
    xLabel: 'USD a run',
    xTicks,
    xMax,
    series: priced,
  });
}
