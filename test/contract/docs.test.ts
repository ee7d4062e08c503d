import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { diagnoseOutput, formatsPage, taxonomyPage, withOutput } from '../../scripts/docs.ts';

const root = path.resolve(import.meta.dirname, '../..');
const page = (file: string): string => readFileSync(path.join(root, file), 'utf8');

test('docs/taxonomy.md is what the code makes (npm run docs)', () => {
  expect(page('docs/taxonomy.md')).toBe(taxonomyPage());
});

test('docs/formats.md is what the readers say of themselves (npm run docs)', () => {
  expect(page('docs/formats.md')).toBe(formatsPage());
});

test('what the README shows of `npm run diagnose` is what a newcomer sees (npm run docs)', async () => {
  const readme = page('README.md');
  expect(readme).toBe(withOutput(readme, await diagnoseOutput()));
});

test('every command of package.json that the pages name exists', () => {
  const { scripts } = JSON.parse(page('package.json'));
  for (const file of ['README.md', 'AGENTS.md', 'docs/architecture.md', 'docs/emulator.md']) {
    const named = [...page(file).matchAll(/npm run (?:-s )?([a-z][a-z:]*)/g)].map((match) => match[1] ?? '');
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  }
});

test('every page that a page links to exists', () => {
  for (const file of ['README.md', 'AGENTS.md', 'docs/architecture.md', 'docs/data-contracts.md']) {
    for (const [, link = ''] of page(file).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)) {
      expect(() => readFileSync(path.join(root, path.dirname(file), link)), `${file} → ${link}`).not.toThrow(
        /ENOENT/,
      );
    }
  }
});
