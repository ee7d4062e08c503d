import * as z from 'zod';
import { machineLine } from '../docs-section.ts';

/** Result of a speed run as written by `--json` and read by `--compare`. */
export const speedReportSchema = z.object({
  date: z.string(),
  machine: z.object({ cpu: z.string(), cores: z.number(), memoryGb: z.number(), node: z.string() }),
  sections: z.array(
    z.object({
      id: z.string(),
      title: z.string(),
      /** Mean number of processes that ran or waited in the minute before the section ended; 0 where unknown. */
      load: z.number(),
      figures: z.array(
        z.object({
          name: z.string(),
          value: z.number(),
          unit: z.string(),
          better: z.enum(['higher', 'lower', 'same']),
        }),
      ),
      /** File names in the folder of `--out`. */
      pictures: z.array(z.string()),
    }),
  ),
});
export type SpeedReport = z.infer<typeof speedReportSchema>;
export type MeasuredSection = SpeedReport['sections'][number];
type MeasuredFigure = MeasuredSection['figures'][number];

/** The report as a table, beside an earlier one where given. */
export function speedTable(report: SpeedReport, earlier: SpeedReport | null): string {
  const blocks = report.sections.map((section) =>
    sectionTable(section, earlier?.sections.find(({ id }) => id === section.id) ?? null),
  );
  if (earlier !== null) blocks.unshift(`now   ${takenOn(report)}\nthen  ${takenOn(earlier)}`);
  return blocks.join('\n\n');
}

function takenOn({ date, machine }: SpeedReport): string {
  return `${date}  ${machineLine(machine)}`;
}

/** One section; figures that only the earlier one has are named, so that none is lost unseen. */
export function sectionTable(section: MeasuredSection, earlier: MeasuredSection | null): string {
  const loads = earlier === null ? '' : `, then ${number(earlier.load)}`;
  const lines = [`${section.title}; load ${number(section.load)}${loads}`];
  for (const figure of section.figures) {
    const before = earlier?.figures.find(({ name }) => name === figure.name);
    const { name, value, unit } = figure;
    const change = before === undefined ? '' : comparison(figure, before);
    lines.push(`  ${name.padEnd(44)} ${number(value).padStart(12)} ${unit.padEnd(9)}${change}`.trimEnd());
  }
  for (const { name, value, unit } of earlier?.figures ?? []) {
    if (section.figures.some((figure) => figure.name === name)) continue;
    lines.push(
      `  ${name.padEnd(44)} ${'–'.padStart(12)} ${unit.padEnd(9)}was ${number(value)}, not measured now`,
    );
  }
  return lines.join('\n');
}

function number(value: number): string {
  if (value === 0 || Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

/** Below five per cent two runs of one version differ as well. */
function comparison({ value, better }: MeasuredFigure, { value: before }: MeasuredFigure): string {
  if (before === 0) return `was 0`;
  const ratio = value / before;
  const both = `was ${number(before)}, × ${ratio.toFixed(2)}`;
  if (better === 'same' || Math.abs(ratio - 1) < 0.05) return both;
  return `${both}, ${ratio > 1 === (better === 'higher') ? 'better' : 'worse'}`;
}
