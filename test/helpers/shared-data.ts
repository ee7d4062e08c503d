import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Folder of shared benchmark and sample data beside the repository; not part of it. */
const SHARED = path.resolve(import.meta.dirname, '../../..', 'shared');

/** Path below the shared folder, or `null` after saying why the test is skipped. */
export function sharedPath(...segments: string[]): string | null {
  const found = path.join(SHARED, ...segments);
  if (existsSync(found)) return found;
  process.stderr.write(`skipped: no shared data at ../shared/${segments.join('/')} beside the repository\n`);
  return null;
}

/** All parsed `.json` files below a folder, in name order. */
export function jsonFilesBelow(folder: string): { file: string; value: unknown }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => ({ file, value: JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as unknown }));
}
