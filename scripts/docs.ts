import { readFileSync, writeFileSync } from 'node:fs';
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

/** What `npm run diagnose` shows on a terminal of 100 columns, without colours. */
export async function diagnoseOutput(): Promise<string> {
  let text = '';
  await runCli(
    ['diagnose', path.join(root, 'examples/airline-refund.json'), '--store', 'none', '--exit-zero'],
    {
      env: { NO_COLOR: '1' },
      out: (piece) => {
        text += piece;
      },
      err: () => undefined,
      outIsTerminal: true,
      errIsTerminal: false,
      inIsTerminal: true,
      columns: 100,
      onInterrupt: () => () => undefined,
      readStdin: async () => {
        throw new Error('the example is a file');
      },
    },
  );
  // The README's reader stores it; the version is then 1.
  return text.trimEnd().replace(/not stored$/, 'version 1');
}

const OUTPUT = /(<!-- output of `npm run diagnose`[^\n]*-->\n)[\s\S]*?(<!-- end -->)/;

export function withOutput(readme: string, output: string): string {
  if (!OUTPUT.test(readme))
    throw new Error('README.md has lost the marks around the output of `npm run diagnose`');
  return readme.replace(
    OUTPUT,
    (_all, start: string, end: string) => `${start}\n\`\`\`\n${output}\n\`\`\`\n\n${end}`,
  );
}

if (import.meta.main) {
  writeFileSync(path.join(root, 'docs/taxonomy.md'), taxonomyPage());
  writeFileSync(path.join(root, 'docs/formats.md'), formatsPage());
  const readme = path.join(root, 'README.md');
  writeFileSync(readme, withOutput(readFileSync(readme, 'utf8'), await diagnoseOutput()));
}
