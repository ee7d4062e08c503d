import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { TAXONOMY, TAXONOMY_VERSION } from '../core/detection/taxonomy.ts';

/** Writes the pages that are made from code, so that they cannot drift: a test compares. */
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

if (import.meta.main) {
  writeFileSync(path.join(import.meta.dirname, '../docs/taxonomy.md'), taxonomyPage());
}
