import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { ExitCode } from '../cli/shell/exit-codes.ts';
import { DEFAULT_CORPUS } from './corpus/read-corpus.ts';
import { machine } from './print/docs-section.ts';
import { type MeasuredSection, type SpeedReport, speedReportSchema, speedTable } from './speed/report.ts';
import type { SpeedSection } from './speed/section.ts';
import { SPEED_SECTIONS } from './speed/sections.ts';
import { isParseArgsError } from './usage-error.ts';

const USAGE = `usage: npm run bench -- speed [--section ID …] [--path DIR] [--json FILE] [--compare FILE] [--out DIR]
  --section ID    only this one (repeatable): ${SPEED_SECTIONS.map(({ id }) => id).join(', ')}
  --path DIR      benchmark runs for real text (default ${DEFAULT_CORPUS})
  --json FILE     figures as JSON
  --compare FILE  figures of an earlier --json beside these, with the ratio
  --out DIR       pictures (default bench-results)`;

/** `npm run bench -- speed`: see USAGE. Returns 0 measured, 2 usage. */
export async function benchSpeed(
  argv: readonly string[],
  sections: readonly SpeedSection[] = SPEED_SECTIONS,
): Promise<number> {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        section: { type: 'string', multiple: true },
        path: { type: 'string' },
        json: { type: 'string' },
        compare: { type: 'string' },
        out: { type: 'string', default: 'bench-results' },
      },
    });
    const corpusPath = values.path ?? DEFAULT_CORPUS;
    const chosen = choose(sections, values.section, corpusPath, values.path !== undefined);
    const earlier = values.compare === undefined ? null : readReport(values.compare);
    const measured: MeasuredSection[] = [];
    for (const section of chosen) measured.push(await measure(section, corpusPath, values.out));

    const report: SpeedReport = { date: new Date().toISOString(), machine: machine(), sections: measured };
    console.log(speedTable(report, earlier));
    const pictures = measured.flatMap((section) =>
      section.pictures.map((file) => path.join(values.out, file)),
    );
    if (pictures.length > 0) console.log(`\npictures: ${pictures.join(', ')}`);
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
    return ExitCode.Passed;
  } catch (error) {
    if (!isUsage(error)) throw error;
    console.error(`${error.message}\n${USAGE}`);
    return ExitCode.Usage;
  }
}

class SpeedUsageError extends Error {
  override readonly name = 'SpeedUsageError';
}

function isUsage(error: unknown): error is Error {
  return error instanceof SpeedUsageError || isParseArgsError(error);
}

/** The sections asked for; without benchmark runs, those that need none, and it is said which are left out. */
function choose(
  sections: readonly SpeedSection[],
  ids: readonly string[] | undefined,
  corpusPath: string,
  pathGiven: boolean,
): SpeedSection[] {
  const unknown = (ids ?? []).filter((id) => !sections.some((section) => section.id === id));
  if (unknown.length > 0) throw new SpeedUsageError(`unknown section ${unknown.join(', ')}`);
  const wanted = sections.filter(({ id }) => ids === undefined || ids.includes(id));
  if (existsSync(corpusPath)) return wanted;
  const without = wanted.filter(({ needsCorpus }) => needsCorpus).map(({ id }) => id);
  const reason = `no folder of benchmark runs at ${corpusPath} (layout: see docs/benchmarks.md)`;
  if (without.length > 0 && (ids !== undefined || pathGiven)) throw new SpeedUsageError(reason);
  if (without.length > 0) console.error(`${without.join(', ')}: not measured, ${reason}`);
  return wanted.filter(({ needsCorpus }) => !needsCorpus);
}

async function measure(section: SpeedSection, corpusPath: string, out: string): Promise<MeasuredSection> {
  const say = (line: string): void => console.error(`${section.id}: ${line}`);
  say('measuring');
  const start = performance.now();
  const { figures, pictures = [] } = await section.run({ corpusPath, say });
  const [load = 0] = os.loadavg();
  say(`done in ${Math.round((performance.now() - start) / 1000)} s`);
  if (pictures.length > 0) mkdirSync(out, { recursive: true });
  for (const { file, svg } of pictures) writeFileSync(path.join(out, file), svg);
  const { id, title } = section;
  return { id, title, load, figures: [...figures], pictures: pictures.map(({ file }) => file) };
}

function readReport(file: string): SpeedReport {
  try {
    const parsed = speedReportSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (parsed.success) return parsed.data;
    throw new SpeedUsageError(`${file} is not a file written by --json: ${z.prettifyError(parsed.error)}`);
  } catch (cause) {
    if (cause instanceof SpeedUsageError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SpeedUsageError(`cannot read the earlier figures in ${file}: ${why}`, { cause });
  }
}
