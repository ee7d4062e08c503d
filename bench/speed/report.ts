import * as z from 'zod';
import { machineLine } from '../print/docs-section.ts';

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
    sectionTable(section, earlier === null ? null : earlierSection(section, report, earlier)),
  );
  if (earlier !== null) blocks.unshift(`now   ${takenOn(report)}\nthen  ${takenOn(earlier)}`);
  return blocks.join('\n\n');
}

function takenOn({ date, machine }: SpeedReport): string {
  return `${date}  ${machineLine(machine)}`;
}

export interface EarlierSection {
  readonly section: MeasuredSection;
  /** Why times cannot be called better or worse; `null` when they can. */
  readonly doubt: string | null;
}

/** Two runs of one version differed by half in CPU time on two cores with twelve processes wanting them. */
function earlierSection(
  now: MeasuredSection,
  report: SpeedReport,
  earlier: SpeedReport,
): EarlierSection | null {
  const section = earlier.sections.find(({ id }) => id === now.id);
  if (section === undefined) return null;
  const { machine } = report;
  if (machine.cpu !== earlier.machine.cpu || machine.cores !== earlier.machine.cores)
    return { section, doubt: 'another machine' };
  const busy = Math.max(now.load, section.load) > machine.cores;
  return { section, doubt: busy ? 'more load than cores' : null };
}

/** One section; figures that only the earlier one has are named, so that none is lost unseen. */
export function sectionTable(now: MeasuredSection, earlier: EarlierSection | null): string {
  const lines = [heading(now, earlier)];
  for (const figure of now.figures) {
    const before = earlier?.section.figures.find(({ name }) => name === figure.name);
    const judged = earlier?.doubt === null || COUNTED.has(figure.unit);
    lines.push(row(figure, number(figure.value), before === undefined ? '' : change(figure, before, judged)));
  }
  for (const figure of earlier?.section.figures ?? []) {
    if (now.figures.some(({ name }) => name === figure.name)) continue;
    lines.push(row(figure, '–', `was ${number(figure.value)}, not measured now`));
  }
  return lines.join('\n');
}

function heading({ title, load }: MeasuredSection, earlier: EarlierSection | null): string {
  const now = `${title}; load ${number(load)}`;
  if (earlier === null) return now;
  const doubt = earlier.doubt === null ? '' : ` (${earlier.doubt}: times are not judged)`;
  return `${now}, then ${number(earlier.section.load)}${doubt}`;
}

function row({ name, unit }: MeasuredFigure, value: string, note: string): string {
  return `  ${name.padEnd(44)} ${value.padStart(12)} ${unit.padEnd(10)}${note}`.trimEnd();
}

function number(value: number): string {
  if (value === 0 || Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

/** Units of what is counted and not timed: equal in every run of one version. */
const COUNTED: ReadonlySet<string> = new Set([
  'tokens',
  '%',
  'chunks',
  'KB',
  'bytes',
  'states',
  'records',
  'writes',
]);

/** Below five per cent two runs of one version differ as well, if what is measured is a time. */
function change({ value, unit, better }: MeasuredFigure, before: MeasuredFigure, judged: boolean): string {
  const ratio = before.value === 0 ? (value === 0 ? 1 : Number.POSITIVE_INFINITY) : value / before.value;
  const both = `was ${number(before.value)}${Number.isFinite(ratio) ? `, × ${ratio.toFixed(2)}` : ''}`;
  const noise = COUNTED.has(unit) ? 0 : 0.05;
  if (!judged || better === 'same' || Math.abs(ratio - 1) <= noise) return both;
  return `${both}, ${ratio > 1 === (better === 'higher') ? 'better' : 'worse'}`;
}
