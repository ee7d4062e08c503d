import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCli } from '../cli/run.ts';
import { listFormats, listRefused } from '../core/reading/registry.ts';
import { TAXONOMY, TAXONOMY_VERSION } from '../core/vocabulary/taxonomy.ts';

/** Writes what is made from code into the pages, so that it cannot drift: a test compares (`npm run docs` rewrites them). */

const root = path.resolve(import.meta.dirname, '..');

export function taxonomyPage(): string {
  // Padded as the formatter pads, so that it leaves the page alone.
  const cells = [['id', 'meaning'], ...TAXONOMY.map(({ id, meaning }) => [`\`${id}\``, meaning])];
  const widths = [0, 1].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[], fill: string): string =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width, fill)).join(' | ')} |`;
  const [head = [], ...rows] = cells;
  return [
    '# Failure taxonomy',
    '',
    `Version ${TAXONOMY_VERSION}. Ids are those of the Strands Evals detectors; meanings are ours. \`--fail-on\` takes ids, or a`,
    'parent (the part before `-category-`).',
    '',
    line(head, ' '),
    line(['', ''], '-'),
    ...rows.map((row) => line(row, ' ')),
    '',
  ].join('\n');
}

const FAMILIES = [
  ['transcript', 'Files of sessions', 'What a product saves or exports of a run.'],
  [
    'envelope',
    'Files of telemetry',
    'How spans and log records come; what they say is then read by the next table.',
  ],
  [
    'convention',
    'What spans say',
    'Each span is read by the instrumentation that wrote it; several may stand in one session.',
  ],
] as const;

/** Every format: from which export or setting, and what it was checked on. */
export function formatsPage(): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  const code = (text: string): string => (text.includes('`') ? text : `\`${text}\``);
  const formats = listFormats();
  const tables = FAMILIES.flatMap(([family, title, what]) => [
    `## ${title}`,
    '',
    what,
    '',
    '| format | from | checked on | known by |',
    '|---|---|---|---|',
    ...formats
      .filter((format) => format.family === family)
      .map(
        ({ id, title, from, checkedOn, knownBy }) =>
          `| ${[`${title} (\`${id}\`)`, from, checkedOn, code(knownBy)].map(cell).join(' | ')} |`,
      ),
    '',
  ]);
  return [
    '# Input formats',
    '',
    '<!-- made by `npm run docs` from the readers themselves; `rootspan formats` prints the same -->',
    '',
    'A format is recognised by its shape, never by a file’s name. Several files, folders, globs, `.zip`, `.gz` and `.zst` are',
    'read together: telemetry of one session may lie in several of them. `rootspan doctor <file>` says of anything that is',
    'refused which export of the same product is read.',
    '',
    ...tables,
    '## Refused by name',
    '',
    'These hold no session, or one that cannot be told whole:',
    '',
    '| file | what to give instead |',
    '|---|---|',
    ...listRefused().map(({ name, advice }) => `| ${cell(name)} | ${cell(advice)} |`),
    '',
  ].join('\n');
}

const OUTPUT = /(<!-- output of `([^`\n]+)`[^\n]*-->\n)[\s\S]*?(<!-- end -->)/g;

/** What npm scripts and the command's name stand for, as arguments of the command line. */
function argumentsOf(command: string): string[] {
  const line = command === 'npm run diagnose' ? 'rootspan diagnose examples/airline-refund.json' : command;
  const [name, ...args] = line.replace(/^npm run -s rootspan -- /u, 'rootspan ').split(' ');
  if (name !== 'rootspan') throw new Error(`the pages show commands of rootspan only, not "${command}"`);
  // As in package.json: CI runs the same, and an example that failed is no failure of the build.
  return args[0] === 'diagnose' ? [...args, '--exit-zero'] : args;
}

/**
 * A page with what its commands print on a terminal of 100 columns, without colours, between
 * `<!-- output of \`command\` -->` and `<!-- end -->`. The commands of a page run in order over one new store; files that
 * they write go beside it, and times of day are all the same.
 */
export async function withOutputs(page: string): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'rootspan-docs-'));
  try {
    let done = '';
    let from = 0;
    for (const { 0: whole, 1: start = '', 2: command = '', 3: end = '', index } of page.matchAll(OUTPUT)) {
      const text = `$ ${command}\n${await outputOf(argumentsOf(command), folder)}`;
      done += `${page.slice(from, index)}${start}\n\`\`\`\n${text}\n\`\`\`\n\n${end}`;
      from = index + whole.length;
    }
    return done + page.slice(from);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function outputOf(args: readonly string[], folder: string): Promise<string> {
  let text = '';
  const add = (piece: string): void => {
    text += piece;
  };
  const store =
    args.some((arg) => arg === '--store') || !USES_STORE.has(args[0] ?? '') ? [] : ['--store', folder];
  const moved = args.map((arg, at) => (args[at - 1] === '-o' ? path.join(folder, arg) : arg));
  const inRoot = moved.map((arg) => (arg.startsWith('examples/') ? path.join(root, arg) : arg));
  await runCli([...inRoot, ...store], {
    env: { NO_COLOR: '1' },
    out: add,
    err: add,
    outIsTerminal: true,
    errIsTerminal: false,
    inIsTerminal: true,
    columns: 100,
    onInterrupt: () => () => undefined,
    readStdin: async () => {
      throw new Error('the examples are files');
    },
  });
  return text
    .trimEnd()
    .replaceAll(`${folder}${path.sep}`, '')
    .replaceAll(`${root}${path.sep}`, '')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d/gu, '2026-12-01 09:00');
}

const USES_STORE: ReadonlySet<string> = new Set([
  'diagnose',
  'show',
  'list',
  'top',
  'compare',
  'issues',
  'report',
]);

/** The pages whose commands are shown with what they print. */
export const PAGES_WITH_OUTPUT: readonly string[] = [
  'README.md',
  ...readdirSync(path.join(root, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
].filter((file) => readFileSync(path.join(root, file), 'utf8').search(OUTPUT) !== -1);

if (import.meta.main) {
  writeFileSync(path.join(root, 'docs/taxonomy.md'), taxonomyPage());
  writeFileSync(path.join(root, 'docs/formats.md'), formatsPage());
  for (const file of PAGES_WITH_OUTPUT) {
    const at = path.join(root, file);
    writeFileSync(at, await withOutputs(readFileSync(at, 'utf8')));
  }
}
