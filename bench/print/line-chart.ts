/** One line of a chart. */
export interface Series {
  readonly label: string;
  readonly points: readonly (readonly [number, number])[];
  readonly dashed: boolean;
}

export interface LineChart {
  readonly title: string;
  readonly xLabel: string;
  readonly xTicks: readonly number[];
  readonly xMax: number;
  readonly yMax: number;
  /** Written after the numbers of the y axis. */
  readonly yUnit: string;
  /** Factor between values and the numbers of the axis, 100 for shares in per cent. Default 1. */
  readonly yScale?: number;
  readonly series: readonly Series[];
}

/** Okabe and Ito's palette, told apart also by colour-blind eyes. */
const COLOURS = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#444444'];
const WIDTH = 720;
const HEIGHT = 420;
const PLOT = { left: 70, top: 40, right: 470, bottom: 360 } as const;

/** An SVG with linear axes from zero, a mark at each point and a legend. */
export function lineChart({
  title,
  xLabel,
  xTicks,
  xMax,
  yMax,
  yUnit,
  yScale = 1,
  series,
}: LineChart): string {
  const x = (value: number): string => (PLOT.left + (value / xMax) * (PLOT.right - PLOT.left)).toFixed(1);
  const y = (value: number): string => (PLOT.bottom - (value / yMax) * (PLOT.bottom - PLOT.top)).toFixed(1);
  const parts: string[] = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${PLOT.left}" y="22" font-size="14">${escapeXml(title)}</text>`,
  ];
  for (const value of [0, 0.25, 0.5, 0.75, 1].map((share) => share * yMax)) {
    const number = Number((value * yScale).toPrecision(3));
    parts.push(
      `<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${y(value)}" y2="${y(value)}" stroke="#ddd"/>`,
      `<text x="${PLOT.left - 8}" y="${y(value)}" text-anchor="end" dominant-baseline="middle">${number} ${escapeXml(yUnit)}</text>`,
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
    for (const [px, py] of points) {
      parts.push(`<circle cx="${x(px)}" cy="${y(py)}" r="4" fill="${colour}"/>`);
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
