import { SessionInvalidError, SessionTooLargeError } from './errors.ts';
import type { ObjectStore } from './ports.ts';

/**
 * Values carried through the object store as gzipped JSON. Between the steps of one execution they are our own
 * values, written and read by the same deployment, so a read trusts their shape; sessions from outside are parsed
 * (lambdas/preflight). Both caps are far above what the planner accepts and far below what kills a Lambda.
 */
const MAX_DECOMPRESSED_BYTES = 256 * 1024 * 1024;

export async function putJson(store: ObjectStore, key: string, value: unknown): Promise<void> {
  const stream = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream('gzip'));
  await store.put(key, new Uint8Array(await new Response(stream).arrayBuffer()));
}

/** The parsed JSON, or `null` when there is no such key. SessionInvalidError when it is not gzipped JSON. */
export async function getJson(store: ObjectStore, key: string): Promise<unknown> {
  const bytes = await store.get(key);
  if (bytes === null) return null;
  try {
    return JSON.parse(await gunzip(bytes, key));
  } catch (error) {
    if (error instanceof SessionTooLargeError) throw error;
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

async function gunzip(bytes: Uint8Array, key: string): Promise<string> {
  const stream = new Blob([Uint8Array.from(bytes)]).stream().pipeThrough(new DecompressionStream('gzip'));
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = stream.getReader();
  let text = '';
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    length += value.byteLength;
    if (length > MAX_DECOMPRESSED_BYTES) {
      await reader.cancel();
      throw new SessionTooLargeError(
        `object ${key} unpacks to more than ${MAX_DECOMPRESSED_BYTES / 1024 / 1024} MB`,
      );
    }
    text += decoder.decode(value, { stream: true });
  }
}
