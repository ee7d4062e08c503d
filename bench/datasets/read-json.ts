import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { JsonValue } from '../../core/base/json.ts';
import { ConfigurationInvalidError } from '../../core/errors/errors.ts';

/** All files below a folder in lexical order, as paths from it. ConfigurationInvalidError if there is no such folder. */
export function listFiles(folder: string): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new ConfigurationInvalidError(
      `${folder} is not a folder. Give the folder of the data set with --path.`,
    );
  }
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
}

export function readJson(file: string): JsonValue {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ConfigurationInvalidError(`${file} cannot be read as JSON: ${String(error)}`, { cause: error });
  }
}
