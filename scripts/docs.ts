import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runCli } from '../cli/run.ts';
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
  const readme = path.join(root, 'README.md');
  writeFileSync(readme, withOutput(readFileSync(readme, 'utf8'), await diagnoseOutput()));
}
