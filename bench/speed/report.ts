import * as z from 'zod';

/** Result of a speed run as written by `--json` and read by `--compare`. */
export const speedReportSchema = z.object({
  date: z.string(),
  machine: z.object({ cpu: z.string(), cores: z.number(), memoryGb: z.number(), node: z.string() }),
  sections: z.array(
    z.object({
      id: z.string(),
      title: z.string(),
      figures: z.array(
        z.object({
          name: z.string(),
          value: z.number(),
          unit: z.string(),
          better: z.enum(['higher', 'lower', 'same']),
        }),
      ),
    }),
  ),
});
export type SpeedReport = z.infer<typeof speedReportSchema>;

/** The report as a table, beside an earlier one where given. */
export function speedTable(report: SpeedReport, earlier: SpeedReport | null): string {
  const lines: string[] = [];
  for (const { id, title, figures } of report.sections) {
    lines.push('', title);
    for (const { name, value, unit, better } of figures) {
      const before = earlier?.sections.find((s) => s.id === id)?.figures.find((f) => f.name === name)?.value;
      lines.push(
        `  ${name.padEnd(44)} ${number(value).padStart(12)} ${unit.padEnd(9)}${change(value, before, better)}`.trimEnd(),
      );
    }
  }
  return lines.join('\n').trimStart();
}

function number(value: number): string {
  if (value === 0 || Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

/** Below five per cent two runs of one version differ as well. */
function change(value: number, before: number | undefined, better: 'higher' | 'lower' | 'same'): string {
  if (before === undefined) return '';
  const ratio = before === 0 ? 1 : value / before;
  const percent = `${ratio >= 1 ? '+' : ''}${((ratio - 1) * 100).toFixed(1)} %`;
  if (better === 'same' || Math.abs(ratio - 1) < 0.05) return `was ${number(before)} (${percent})`;
  const word = ratio > 1 === (better === 'higher') ? 'better' : 'worse';
  return `was ${number(before)} (${percent}, ${word})`;
}
