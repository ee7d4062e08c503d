import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ExitCode } from '../core/diagnosis/verdict.ts';
import { DEFAULT_CORPUS } from './corpus/read-corpus.ts';
import { type SpeedReport, speedReportSchema, speedTable } from './speed/report.ts';
import { SPEED_SECTIONS } from './speed/sections.ts';

const USAGE = `usage: npm run bench -- speed [--section ID …] [--path DIR] [--json FILE] [--compare FILE] [--out DIR]
  --section ID    only this one (repeatable): ${SPEED_SECTIONS.map(({ id }) => id).join(', ')}
  --path DIR      benchmark runs for real text (default ${DEFAULT_CORPUS})
  --json FILE     figures as JSON
  --compare FILE  figures of an earlier --json beside these
  --out DIR       pictures (default bench-results)`;

/** `npm run bench -- speed`: see USAGE. Returns 0 measured, 2 usage. */
export async function benchSpeed(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      section: { type: 'string', multiple: true },
      path: { type: 'string', default: DEFAULT_CORPUS },
      json: { type: 'string' },
      compare: { type: 'string' },
      out: { type: 'string', default: 'bench-results' },
    },
  });
  const wanted = values.section ?? SPEED_SECTIONS.map(({ id }) => id);
  const unknown = wanted.filter((id) => !SPEED_SECTIONS.some((section) => section.id === id));
  if (unknown.length > 0) {
    console.error(`unknown section ${unknown.join(', ')}\n${USAGE}`);
    return ExitCode.Usage;
  }
  const earlier =
    values.compare === undefined
      ? null
      : speedReportSchema.parse(JSON.parse(readFileSync(values.compare, 'utf8')));

  const sections: SpeedReport['sections'] = [];
  const pictures: string[] = [];
  for (const section of SPEED_SECTIONS.filter(({ id }) => wanted.includes(id))) {
    const say = (line: string): void => console.error(`${section.id}: ${line}`);
    say('measuring');
    const result = await section.run({ corpusPath: values.path, say });
    sections.push({ id: section.id, title: section.title, figures: [...result.figures] });
    for (const { file, svg } of result.pictures ?? []) {
      mkdirSync(values.out, { recursive: true });
      const target = path.join(values.out, file);
      writeFileSync(target, svg);
      pictures.push(target);
    }
  }
  const report: SpeedReport = { date: new Date().toISOString(), machine: machine(), sections };
  console.log(speedTable(report, earlier));
  if (pictures.length > 0) console.log(`\npictures: ${pictures.join(', ')}`);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
  return ExitCode.Clean;
}

function machine(): SpeedReport['machine'] {
  const cpus = os.cpus();
  return {
    cpu: cpus[0]?.model.trim() ?? 'unknown',
    cores: cpus.length,
    memoryGb: Math.round(os.totalmem() / 2 ** 30),
    node: process.version,
  };
}
