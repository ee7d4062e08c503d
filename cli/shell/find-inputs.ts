import { glob, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { safeLine } from '../../report/escape.ts';
import { UsageError } from './errors.ts';
import { nearby } from './nearby.ts';

/** Of a folder these are read; a file that is named is read whatever it is called. */
const ENDINGS = [
  '.json',
  '.jsonl',
  '.ndjson',
  '.traj',
  '.eval',
  '.log',
  '.txt',
  '.md',
  '.gz',
  '.zst',
  '.zip',
] as const;
/** What stands beside sessions in every folder and is none. */
const NEVER = /^(?:readme|license|licence|notice|changelog|contributing)\b/i;

export interface FoundInputs {
  /** Paths in the order of the arguments, those of a folder by name; "-" is standard input. Each once. */
  readonly files: readonly string[];
  /** One for each argument that names nothing. */
  readonly errors: readonly UsageError[];
  /** Files of folders that are not looked at, said by their endings. */
  readonly notes: readonly string[];
}

/** The files that arguments name: files, folders with all that is below them, globs. */
export async function findInputs(args: readonly string[]): Promise<FoundInputs> {
  const files = new Map<string, string>();
  const errors: UsageError[] = [];
  const notes: string[] = [];
  const add = (file: string): void => {
    const key = file === '-' ? '-' : path.resolve(file);
    if (!files.has(key)) files.set(key, file);
  };
  for (const arg of args) {
    try {
      for (const found of await namedBy(arg)) {
        if (!found.isFolder) {
          add(found.path);
          continue;
        }
        const { session, other } = await filesBelow(found.path);
        if (session.length === 0) errors.push(nothingIn(found.path, other));
        else if (other.length > 0) notes.push(`${found.path}: not looked at: ${byEnding(other)}`);
        session.forEach(add);
      }
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      errors.push(error);
    }
  }
  return { files: [...files.values()], errors, notes };
}

interface Named {
  readonly path: string;
  readonly isFolder: boolean;
}

/** What an argument names: itself, or where nothing is called so, what it matches as a pattern. */
async function namedBy(arg: string): Promise<Named[]> {
  if (arg === '-') return [{ path: arg, isFolder: false }];
  try {
    return [{ path: arg, isFolder: (await stat(arg)).isDirectory() }];
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR')
      throw new UsageError(`cannot read ${safeLine(arg, 300)}: ${code ?? String(cause)}`, { cause });
    if (!/[*?[\]{}]/.test(arg))
      throw new UsageError(`no such file: ${safeLine(arg, 300)}${await nearby(arg)}`, { cause });
  }
  const found: Named[] = [];
  for await (const entry of glob(arg, { withFileTypes: true }))
    found.push({ path: path.join(entry.parentPath, entry.name), isFolder: entry.isDirectory() });
  if (found.length === 0)
    throw new UsageError(`nothing matches ${safeLine(arg, 300)}${await nearby(firstFixedPart(arg))}`);
  // From where the user stands, as the argument was.
  const relative = (file: string): string => (path.isAbsolute(arg) ? file : path.relative('', file) || '.');
  return found.map((item) => ({ ...item, path: relative(item.path) })).sort((a, b) => byName(a.path, b.path));
}

/** The path up to the first part with a wildcard, so that what stands there can be shown. */
function firstFixedPart(pattern: string): string {
  const parts = pattern.split('/');
  const wild = parts.findIndex((part) => /[*?[\]{}]/.test(part));
  return parts.slice(0, wild + 1).join('/');
}

/** Hidden files, links to folders and installed packages are passed over. */
async function filesBelow(folder: string): Promise<{ session: string[]; other: string[] }> {
  const session: string[] = [];
  const other: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => byName(a.name, b.name))) {
    const file = path.join(folder, entry.name);
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    if (entry.isDirectory()) {
      const below = await filesBelow(file);
      for (const item of below.session) session.push(item);
      for (const item of below.other) other.push(item);
    } else if (!(entry.isFile() || (await isLinkToFile(file)))) {
    } else if (isSessionName(entry.name)) session.push(file);
    else other.push(file);
  }
  return { session, other };
}

const isLinkToFile = async (file: string): Promise<boolean> =>
  await stat(file).then(
    (found) => found.isFile(),
    // A link to nothing is no file.
    () => false,
  );

/** Whether a file of a folder or archive is looked at. */
export const isSessionName = (name: string): boolean =>
  ENDINGS.some((ending) => name.toLowerCase().endsWith(ending)) && !NEVER.test(name);

/** `message_2` before `message_10`. */
const byName = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

const nothingIn = (folder: string, other: readonly string[]): UsageError =>
  new UsageError(
    `${safeLine(folder, 300)} holds no file of sessions: ${other.length === 0 ? 'it is empty' : `found ${byEnding(other)}`}. ` +
      `Of a folder are read, with all below it: ${ENDINGS.join(', ')}; a file that is named is read whatever it is called`,
  );

const SHOWN_ENDINGS = 5;

/** `3 .csv, 1 .png`, the most frequent first. */
function byEnding(files: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const file of files) {
    const name = path.basename(file);
    const ending = NEVER.test(name) ? name : path.extname(name) || 'without ending';
    counts.set(ending, (counts.get(ending) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const shown = sorted.slice(0, SHOWN_ENDINGS).map(([ending, count]) => `${count} ${safeLine(ending, 40)}`);
  const rest = sorted.length > SHOWN_ENDINGS ? ', …' : '';
  return `${shown.join(', ')}${rest}`;
}
