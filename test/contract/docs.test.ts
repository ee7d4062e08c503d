import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { formatsPage, PAGES_WITH_OUTPUT, taxonomyPage, withOutputs } from '../../scripts/docs.ts';

const root = path.resolve(import.meta.dirname, '../..');
const page = (file: string): string => readFileSync(path.join(root, file), 'utf8');

const PAGES = [
  'README.md',
  'AGENTS.md',
  ...readdirSync(path.join(root, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];

test('docs/taxonomy.md is what the code makes (npm run docs)', () => {
  expect(page('docs/taxonomy.md')).toBe(taxonomyPage());
});

test('docs/formats.md is what the readers say of themselves (npm run docs)', () => {
  expect(page('docs/formats.md')).toBe(formatsPage());
});

test('the README shows the first diagnosis and its report', () => {
  expect(PAGES_WITH_OUTPUT).toContain('README.md');
  expect(page('README.md')).toMatch(
    /output of `npm run diagnose`[\s\S]*output of `npm run -s rootspan -- report /u,
  );
});

test.each(PAGES_WITH_OUTPUT)(
  'what %s shows of each command is what it prints (npm run docs)',
  async (file) => {
    expect(page(file)).toBe(await withOutputs(page(file)));
  },
);

test('every command of package.json that the pages name exists', () => {
  const { scripts } = JSON.parse(page('package.json'));
  for (const file of PAGES) {
    const named = [...page(file).matchAll(/npm run (?:-s )?([a-z][a-z:]*)/g)].map((match) => match[1] ?? '');
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  }
});

test('every page that a page links to exists', () => {
  for (const file of PAGES) {
    for (const [, link = ''] of page(file).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)) {
      expect(() => readFileSync(path.join(root, path.dirname(file), link)), `${file} → ${link}`).not.toThrow(
        /ENOENT/,
      );
    }
  }
});

test('every source file that a page names exists', () => {
  for (const file of PAGES) {
    const named = page(file).matchAll(
      /`((?:core|adapters|cli|lib|lambdas|report|bench|test|scripts|examples)\/[\w./-]+\.\w+)`/g,
    );
    const missing = [...named].flatMap(([, name = '']) => (existsSync(path.join(root, name)) ? [] : [name]));
    expect(missing, file).toEqual([]);
  }
});
