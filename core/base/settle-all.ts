import { ModelPendingError } from '../errors/errors.ts';

/**
 * Waits for all of them, so that a batch model has written down every request before the run stops. Rejects with
 * the first error that is not "pending"; when all errors are pending, with one ModelPendingError that names every
 * open request.
 */
export async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(promises);
  const errors: unknown[] = settled.flatMap((result) =>
    result.status === 'rejected' ? [result.reason] : [],
  );
  const serious = errors.find((error) => !(error instanceof ModelPendingError));
  if (serious !== undefined) throw serious;
  const open = errors.flatMap((error) => (error instanceof ModelPendingError ? error.requestHashes : []));
  if (errors.length > 0) {
    const hashes = [...new Set(open)];
    throw new ModelPendingError(`${hashes.length} requests wait for their answers`, hashes);
  }
  return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

/** The same for two of different kinds. */
export async function settleBoth<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await settleAll<A | B>([first, second]);
  return [await first, await second];
}

/**
 * The same, one after the other: for requests that share a prefix, which the first writes to a cache and the next
 * reads from it. An open batch request does not keep the next from being written down; any other error ends it.
 */
export async function settleInTurn<T>(tasks: readonly (() => Promise<T>)[]): Promise<T[]> {
  const settled: Promise<T>[] = [];
  for (const task of tasks) {
    const started = task();
    settled.push(started);
    try {
      await started;
    } catch (error) {
      if (!(error instanceof ModelPendingError)) throw error;
    }
  }
  return settleAll(settled);
}
