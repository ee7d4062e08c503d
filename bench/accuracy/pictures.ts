import type { GroupResult } from './run.ts';

/** One measured configuration in the cost picture. */
export interface CostPoint {
  readonly label: string;
  /** USD a run; `null` (no price on file) is left out. */
  readonly costUsd: number | null;
  /** 0–1. */
  readonly accuracy: number;
}

interface Series {
  readonly label: string;
  readonly points: readonly (readonly [number, number])[];
  readonly dashed: boolean;
}

/** Okabe and Ito's palette, told apart also by colour-blind eyes. */
const COLOURS = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#444444'];
const WIDTH = 720;
const HEIGHT = 420;
const PLOT = { left: 60, top: 40, right: 470, bottom: 360 } as const;

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
  return chart({
    title: `${result.group}: share of runs with the critical step within ±k`,
    xLabel: 'tolerance k (steps)',
    xTicks: [0, 1, 3, 5],
    xMax: 5,
    series,
    marks: true,
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
  return chart({ title, xLabel: 'USD a run', xTicks, xMax, series: priced, marks: true });
}

interface Chart {
  readonly title: string;
  readonly xLabel: string;
  readonly xTicks: readonly number[];
  readonly xMax: number;
  readonly series: readonly Series[];
  readonly marks: boolean;
}

function chart({ title, xLabel, xTicks, xMax, series, marks }: Chart): string {
  const x = (value: number): string => (PLOT.left + (value / xMax) * (PLOT.right - PLOT.left)).toFixed(1);
  const y = (share: number): string => (PLOT.bottom - share * (PLOT.bottom - PLOT.top)).toFixed(1);
  const parts: string[] = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${PLOT.left}" y="22" font-size="14">${escapeXml(title)}</text>`,
  ];
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    parts.push(
      `<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${y(share)}" y2="${y(share)}" stroke="#ddd"/>`,
      `<text x="${PLOT.left - 8}" y="${y(share)}" text-anchor="end" dominant-baseline="middle">${share * 100} %</text>`,
    );
  }
  for (const tick of xTicks) {
    parts.push(`<text x="${x(tick)}" y="${PLOT.bottom + 18}" text-anchor="middle">${tick}</text>`);
  }
  parts.push(
    `<text x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 40}" text-anchor="middle">${escapeXml(xLabel)}</text>`,
  );
  series.forEach(({ label, points, dashed }, index) => {
    const colour = COLOURS[index % COLOURS.length] ?? '#000';
    const path = points.map(([px, py]) => `${x(px)},${y(py)}`).join(' ');
    const dash = dashed ? ' stroke-dasharray="5 4"' : '';
    parts.push(`<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"${dash}/>`);
    if (marks) {
      for (const [px, py] of points) {
        parts.push(`<circle cx="${x(px)}" cy="${y(py)}" r="4" fill="${colour}"/>`);
      }
    }
    const row = PLOT.top + index * 20;
    parts.push(
      `<line x1="${PLOT.right + 16}" x2="${PLOT.right + 40}" y1="${row}" y2="${row}" stroke="${colour}" stroke-width="2"${dash}/>`,
      `<text x="${PLOT.right + 46}" y="${row}" dominant-baseline="middle">${escapeXml(label)}</text>`,
    );
  });
  return `${parts.join('\n')}\n</svg>\n`;
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
