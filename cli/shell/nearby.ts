import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { safeLine } from '../../report/escape.ts';

const SHOWN = 3;
/** Longer names are compared by their beginnings. */
const COMPARED = 80;

/**
 * What a wrong path was perhaps meant to be, as the end of a sentence: names like it in its folder, else some of what that
 * folder holds. Where the folder itself is not there, the nearest one above it that is.
 */
export async function nearby(wrong: string): Promise<string> {
  const parts = path.resolve(wrong).split(path.sep);
  for (let at = parts.length - 1; at > 0; at -= 1) {
    const folder = parts.slice(0, at).join(path.sep) || path.sep;
    const names = await namesIn(folder);
    if (names === null) continue;
    const here = path.relative('', folder) || '.';
    const shown = (list: readonly string[]): string =>
      list.map((name) => safeLine(path.join(here, name), 200)).join(', ');
    const wanted = parts[at] ?? '';
    const close = names
      .map((name) => ({ name, distance: distanceOf(wanted, name) }))
      .filter(({ distance }) => distance <= Math.max(2, wanted.length / 3))
      .sort((a, b) => a.distance - b.distance)
      .slice(0, SHOWN);
    if (close.length > 0) return `; near it: ${shown(close.map(({ name }) => name))}`;
    if (names.length === 0) return `; ${safeLine(here, 200)} is empty`;
    const more = names.length > SHOWN ? ', …' : '';
    return `; ${safeLine(here, 200)} holds ${shown(names.slice(0, SHOWN))}${more}`;
  }
  return '';
}

/** `null` where no folder is. */
async function namesIn(folder: string): Promise<string[] | null> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith('.')).sort();
  } catch {
    return null;
  }
}

/** Letters to change, add or leave out (Levenshtein); a name that goes on where the other ends is near. */
function distanceOf(wanted: string, name: string): number {
  const a = wanted.toLowerCase().slice(0, COMPARED);
  const b = name.toLowerCase().slice(0, COMPARED);
  if (a.length >= 3 && (b.startsWith(a) || a.startsWith(b))) return 1;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1)
      next.push(
        Math.min(
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1,
          (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
        ),
      );
    row = next;
  }
  return row[b.length] ?? 0;
}
