import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { bundle } from '../../scripts/lambda-bundles.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'bundles-'));
afterAll(() => rmSync(folder, { recursive: true }));

const TEXT = 'Größe 1,234.50 – refund of order #W2378156 \u4e2d\u6587';

beforeAll(async () => {
  const entry = path.join(folder, 'entry.ts');
  const counter = path.resolve(import.meta.dirname, '../../core/planning/tokens/make-token-counter.ts');
  writeFileSync(entry, `export { makeTokenCounter } from ${JSON.stringify(counter)};`);
  writeFileSync(path.join(folder, 'plain.ts'), 'export const plain = 1;');
  await bundle(folder, { 'count/index': entry, 'plain/index': path.join(folder, 'plain.ts') });
}, 60_000);

const run = (code: string): string =>
  execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
const bundled = JSON.stringify(pathToFileURL(path.join(folder, 'count/index.mjs')).href);

it('a bundle counts as the sources do, with the ranks from the file beside it', () => {
  const counted = run(
    `const { makeTokenCounter } = await import(${bundled}); process.stdout.write(String(makeTokenCounter().count(${JSON.stringify(TEXT)})));`,
  );
  expect(Number(counted)).toBe(makeTokenCounter().count(TEXT));
});

it('reads the ranks when it first counts, not when it starts', () => {
  const loaded = run(
    `import { createRequire } from 'node:module'; const { cache } = createRequire(import.meta.url); const { makeTokenCounter } = await import(${bundled}); const counter = makeTokenCounter(); const before = Object.keys(cache).length; counter.count('a'); process.stdout.write(before + ' ' + Object.keys(cache).length);`,
  );
  expect(loaded).toBe('0 1');
});

it('only where something counts', () => {
  expect(existsSync(path.join(folder, 'count/o200k_base.cjs'))).toBe(true);
  expect(existsSync(path.join(folder, 'plain/o200k_base.cjs'))).toBe(false);
});
