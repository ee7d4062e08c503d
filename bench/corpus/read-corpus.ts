import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigurationInvalidError } from '../../core/errors/errors.ts';
import { readSessions } from '../../core/reading/registry.ts';
import type { Session } from '../../core/session/session.ts';

/** Sessions of one data set; the name is its folder, as `agentrx-tau` or `whowhen/Hand-Crafted`. */
export interface Corpus {
  readonly name: string;
  readonly sessions: readonly Session[];
}

/** Folder that holds the shared development half when it lies beside the repository. */
export const DEFAULT_CORPUS: string = path.join('..', 'shared', 'bench', 'dev');

/**
 * Reads every run below the folder through the product's own registry, without the labels (`ground_truth` folders).
 * ConfigurationInvalidError when the folder is absent or holds no run.
 */
export function readCorpora(folder: string): Corpus[] {
  let files: string[];
  try {
    files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch (cause) {
    throw new ConfigurationInvalidError(
      `no folder of benchmark runs at ${folder}: give one with --path (layout: see docs/benchmarks.md)`,
      { cause },
    );
  }
  const groups = new Map<string, Session[]>();
  for (const file of files.filter((name) => name.endsWith('.json')).sort()) {
    const folders = path.dirname(file).split(path.sep);
    if (folders.includes('ground_truth')) continue;
    const name = folders[0] === 'whowhen' ? folders.slice(0, 2).join('/') : (folders[0] ?? '.');
    const read = readSessions({
      text: readFileSync(path.join(folder, file), 'utf8'),
      source: path.basename(file),
    });
    groups.set(name, [...(groups.get(name) ?? []), ...read.sessions]);
  }
  if (groups.size === 0) throw new ConfigurationInvalidError(`no .json file with a run below ${folder}`);
  return [...groups].map(([name, sessions]) => ({ name, sessions }));
}
