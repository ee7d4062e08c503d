import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { FormatFixture } from './counts.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../test/fixtures/formats');

/**
 * Every fixture of a format, in the order of its folders. Found by their place: a new format adds a folder and no line
 * anywhere else. `path` is the file's.
 */
export async function formatFixtures(): Promise<(FormatFixture & { readonly path: string })[]> {
  const folders = readdirSync(FOLDER)
    .sort()
    .filter((name) => existsSync(path.join(FOLDER, name, 'fixture.ts')));
  const all: (FormatFixture & { readonly path: string })[] = [];
  for (const name of folders) {
    const module: { fixtures: readonly FormatFixture[] } = await import(
      path.join(FOLDER, name, 'fixture.ts')
    );
    for (const fixture of module.fixtures)
      all.push({ ...fixture, path: path.join(FOLDER, name, fixture.file) });
  }
  return all;
}
