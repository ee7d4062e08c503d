import { gunzipText, gzipJson, InflatedTooLarge } from '../base/gzip.ts';
import { SessionInvalidError, SessionTooLargeError } from '../errors/errors.ts';
import type { ObjectStore } from './ports.ts';

/**
 * Values carried through the object store as gzipped JSON. Between the steps of one execution they are our own
 * values, written and read by the same deployment, so a read trusts their shape; sessions from outside are parsed
 * (lambdas/preflight). Both caps are far above what the planner accepts and far below what kills a Lambda.
 */
const MAX_DECOMPRESSED_BYTES = 256 * 1024 * 1024;

export async function putJson(store: ObjectStore, key: string, value: unknown): Promise<void> {
  await store.put(key, await gzipJson(value));
}

/** The parsed JSON, or `null` when there is no such key. SessionInvalidError when it is not gzipped JSON. */
export async function getJson(store: ObjectStore, key: string): Promise<unknown> {
  const bytes = await store.get(key);
  if (bytes === null) return null;
  try {
    return JSON.parse(await gunzipText(bytes, MAX_DECOMPRESSED_BYTES));
  } catch (error) {
    if (error instanceof InflatedTooLarge) throw new SessionTooLargeError(`object ${key} ${error.message}`);
    throw new SessionInvalidError(
      `object ${key} is not gzipped JSON: expected what ingest or a step of this workflow wrote`,
      { cause: error },
    );
  }
}

/** A value of our own: there must be one, and its shape is what the writing step put there. */
export async function getCarried<T>(store: ObjectStore, key: string): Promise<T | null> {
  return (await getJson(store, key)) as T | null;
}
