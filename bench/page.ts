import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ExitCode } from '../cli/shell/exit-codes.ts';
import { DEFAULT_CORPUS } from './corpus/read-corpus.ts';
import { PAGE_SCOPE } from './page-scope.ts';
import { machineLine, writeDocsSection } from './print/docs-section.ts';
import { promptTokensSection } from './speed/prompt-tokens.ts';
import { sectionTable, speedReportSchema } from './speed/report.ts';
import type { SpeedSection } from './speed/section.ts';
import { SPEED_SECTIONS } from './speed/sections.ts';
import { isParseArgsError } from './usage-error.ts';

const ROOT = path.resolve(import.meta.dirname, '..');

/** Runs one benchmark of `bench/main.ts` with these arguments and gives what it printed; throws when it fails. */
export type RunBench = (args: readonly string[]) => string;

interface PageContext {
  readonly page: string;
  /** Folder beside the page; the page names its files as `benchmarks/<file>`. */
  readonly pictures: string;
  readonly corpusPath: string;
  readonly scratch: string;
  readonly run: RunBench;
}

interface PagePart {
  readonly id: string;
  /** Ids of the marks in the page that this part writes between. */
  readonly marks: readonly string[];
  readonly needsCorpus: boolean;
  write(context: PageContext): void;
}

export const PAGE_PARTS: readonly PagePart[] = [
  {
    id: 'scope',
    marks: ['scope'],
    needsCorpus: false,
    write: ({ page }) => writeDocsSection(page, 'scope', PAGE_SCOPE),
  },
  accuracyPart('agentrx'),
  accuracyPart('whowhen'),
  printedPart('checks', (corpus) => ['checks', corpus]),
  printedPart('tokens', (corpus) => ['tokens', '--path', corpus]),
  printedPart('deep-tokens', (corpus) => ['deep-tokens', corpus]),
  // Python with the reference in it: ROOTSPAN_BENCH_PYTHON.
  { ...printedPart('reference', () => ['reference']), needsCorpus: false },
  { ...printedPart('batch', () => ['batch']), needsCorpus: false },
  { ...printedPart('report-page', () => ['report-page']), needsCorpus: false },
  // Without the one that repeats the table of tokens above.
  ...SPEED_SECTIONS.filter(({ id }) => id !== promptTokensSection.id).map(speedPart),
];

const USAGE = `usage: npm run bench -- page [--part ID …] [--path DIR]
  --part ID    only this one (repeatable): ${PAGE_PARTS.map(({ id }) => id).join(', ')}
  --path DIR   the development half of the benchmark runs (default ${DEFAULT_CORPUS})`;

/**
 * `npm run bench -- page`: measures everything that docs/benchmarks.md shows and writes it there. A part whose data
 * is absent, or whose benchmark fails, is left as it was, and stderr says so. Returns 0 written (absent data
 * included), 2 usage, 3 a benchmark failed.
 */
export function benchPage(
  argv: readonly string[],
  page: string = path.join(ROOT, 'docs', 'benchmarks.md'),
  run: RunBench = runHere,
): number {
  const values = readArgs(argv);
  if (values === null) return ExitCode.Usage;
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'rootspan-page-'));
  const pictures = path.join(path.dirname(page), 'benchmarks');
  mkdirSync(pictures, { recursive: true });
  let failed = 0;
  try {
    for (const part of PAGE_PARTS.filter(({ id }) => values.part?.includes(id) ?? true)) {
      if (part.needsCorpus && !existsSync(values.path)) {
        console.error(`${part.id}: left as it was, there are no benchmark runs at ${values.path}`);
        continue;
      }
      try {
        part.write({ page, pictures, corpusPath: values.path, scratch, run });
        console.error(`${part.id}: written`);
      } catch (error) {
        failed += 1;
        console.error(
          `${part.id}: left as it was, ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return failed === 0 ? ExitCode.Passed : ExitCode.Runtime;
}

function readArgs(argv: readonly string[]): { part?: string[]; path: string } | null {
  let problem: string;
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        part: { type: 'string', multiple: true },
        path: { type: 'string', default: DEFAULT_CORPUS },
      },
    });
    const unknown = (values.part ?? []).filter((id) => !PAGE_PARTS.some((part) => part.id === id));
    if (unknown.length === 0) return values;
    problem = `unknown part ${unknown.join(', ')}`;
  } catch (error) {
    if (!isParseArgsError(error)) throw error;
    problem = error.message;
  }
  console.error(`${problem}\n${USAGE}`);
  return null;
}

/** Each in a process of its own, so that none is measured with the memory and the compiled code of those before. */
function runHere(args: readonly string[]): string {
  return execFileSync(process.execPath, [path.join(import.meta.dirname, 'main.ts'), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 2 ** 20,
  });
}

/** The accuracy benchmark writes its own section (`--docs`), so that it is the same whoever asks for it. */
function accuracyPart(dataset: 'agentrx' | 'whowhen'): PagePart {
  const id = `accuracy ${dataset}`;
  return {
    id: `accuracy-${dataset}`,
    marks: [`Accuracy on ${dataset}: none, standard`, `${id} pictures`],
    needsCorpus: true,
    write({ page, pictures, corpusPath, scratch, run }) {
      const out = path.join(scratch, dataset);
      run(['accuracy', '--dataset', dataset, '--path', corpusPath, '--out', out, '--docs', page]);
      const files = readdirSync(out).filter((file) => file.endsWith('-tolerance.svg'));
      for (const file of files) copyFileSync(path.join(out, file), path.join(pictures, file));
      writeDocsSection(page, `${id} pictures`, shown(files.sort()));
    },
  };
}

function printedPart(id: string, argsFor: (corpusPath: string) => readonly string[]): PagePart {
  return {
    id,
    marks: [id],
    needsCorpus: true,
    write({ page, corpusPath, run }) {
      const output = run(argsFor(corpusPath));
      writeDocsSection(page, id, `${today()}, ${machineLine()}\n\n${fenced(output)}`);
    },
  };
}

function speedPart({ id, needsCorpus }: SpeedSection): PagePart {
  return {
    id: `speed-${id}`,
    marks: [`speed ${id}`],
    needsCorpus,
    write({ page, pictures, corpusPath, scratch, run }) {
      const json = path.join(scratch, `${id}.json`);
      const corpus = needsCorpus ? ['--path', corpusPath] : [];
      run(['speed', '--section', id, ...corpus, '--json', json, '--out', pictures]);
      const report = speedReportSchema.parse(JSON.parse(readFileSync(json, 'utf8')));
      const body = report.sections.map((section) =>
        [fenced(sectionTable(section, null)), shown(section.pictures)].filter((text) => text !== ''),
      );
      const facts = `${report.date.slice(0, 10)}, ${machineLine(report.machine)}`;
      writeDocsSection(page, `speed ${id}`, [facts, ...body.flat()].join('\n\n'));
    },
  };
}

const today = (): string => new Date().toISOString().slice(0, 10);
const fenced = (text: string): string => `\`\`\`\n${text.trim()}\n\`\`\``;
const shown = (files: readonly string[]): string =>
  files
    .map((file) => `![${path.basename(file, '.svg').replaceAll('-', ' ')}](benchmarks/${file})`)
    .join('\n');
