import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ConfigurationInvalidError } from '../../core/errors/errors.ts';
import type { ObjectStore } from '../../core/ports/ports.ts';
import { hasCode } from './has-code.ts';

const TEMPORARY = '.tmp-';

/**
 * A folder as an object store. Each write goes to a temporary file in the same folder and is then moved
 * (`rename`) or linked (`link` fails when the name is taken) into place: a reader never sees half a value and two
 * writers of one key cannot both win.
 */
export class FileObjectStore implements ObjectStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = path.resolve(folder);
  }

  async putIfAbsent(key: string, bytes: Uint8Array): Promise<boolean> {
    const file = this.#file(key);
    const temporary = await this.#writeTemporary(file, bytes);
    try {
      await link(temporary, file);
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
      throw error;
    } finally {
      await rm(temporary, { force: true });
    }
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    const file = this.#file(key);
    const temporary = await this.#writeTemporary(file, bytes);
    try {
      await rename(temporary, file);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  async get(key: string): Promise<Uint8Array | null> {
    try {
      return await readFile(this.#file(key));
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
      throw error;
    }
  }

  async *list(prefix: string): AsyncIterable<string> {
    const cut = prefix.lastIndexOf('/') + 1;
    const start = prefix.slice(0, cut);
    if (start !== '') this.#file(start.slice(0, -1));
    const keys: string[] = [];
    await this.#collect(path.join(this.#folder, start), start, keys);
    // Lexical order of whole keys, as S3 lists them; order by folder would put `a/b` before `a-b`.
    yield* keys.filter((key) => key.startsWith(prefix)).sort();
  }

  async #collect(folder: string, prefix: string, keys: string[]): Promise<void> {
    let entries: import('node:fs').Dirent[];
    try {
      entries = await readdir(folder, { withFileTypes: true });
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR')) return;
      throw error;
    }
    for (const entry of entries) {
      if (entry.isDirectory()) {
        await this.#collect(path.join(folder, entry.name), `${prefix}${entry.name}/`, keys);
      } else if (!entry.name.startsWith(TEMPORARY)) keys.push(prefix + entry.name);
    }
  }

  async #writeTemporary(file: string, bytes: Uint8Array): Promise<string> {
    const folder = path.dirname(file);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const temporary = path.join(folder, `${TEMPORARY}${randomUUID()}`);
    await writeFile(temporary, bytes, { flag: 'wx' });
    return temporary;
  }

  #file(key: string): string {
    const segments = key.split('/');
    const refused = segments.some(
      (segment) =>
        segment === '' ||
        segment === '.' ||
        segment === '..' ||
        segment.startsWith(TEMPORARY) ||
        /[\\\0]/.test(segment),
    );
    if (refused)
      throw new ConfigurationInvalidError(
        `object key ${JSON.stringify(key.slice(0, 200))} is not usable: expected names separated by "/", without "", ".", ".." or "\\"`,
      );
    return path.join(this.#folder, ...segments);
  }
}
