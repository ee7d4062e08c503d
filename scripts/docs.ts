import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { TAXONOMY, TAXONOMY_VERSION } from '../core/detection/taxonomy.ts';

/** Writes the pages that are made from code, so that they cannot drift: a test compares. */
export function taxonomyPage(): string {
  const rows = TAXONOMY.map(({ id, meaning }) => `| \`${id}\` | ${meaning} |`);
  return [
    '# Failure taxonomy',
    '',
    `Version ${TAXONOMY_VERSION}. Ids are those of the Strands Evals detectors; meanings are ours. \`--fail-on\` takes ids, or a`,
    'parent (the part before `-category-`).',
    '',
    '| id | meaning |',
    '|---|---|',
    ...rows,
    '',
  ].join('\n');
}

if (import.meta.main) {
  writeFileSync(path.join(import.meta.dirname, '../docs/taxonomy.md'), taxonomyPage());
}
