/**
 * Does the work for every item, `limit` at a time, in any order. Rejects with the first error and begins nothing
 * more; what has begun goes on.
 */
export async function forEachConcurrently<T>(
  items: Iterable<T> | AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let stopped = false;
  const worker = async (): Promise<void> => {
    try {
      for (;;) {
        if (stopped) return;
        const next = await source.next();
        if (next.done === true) return;
        await work(next.value);
      }
    } catch (error) {
      stopped = true;
      throw error;
    }
  };
  await Promise.all(Array.from({ length: limit }, worker));
}
