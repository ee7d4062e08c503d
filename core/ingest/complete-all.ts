import { forEachConcurrently } from '../base/for-each-concurrently.ts';

/** Object stores and tables answer in tens of milliseconds whatever the size; a delivery has hundreds of writes. */
export const CALLS_AT_ONCE = 32;
/** Of 50 writes that fail one in five, all are done after four rounds in 92 of 100 deliveries; the rest comes again. */
const ROUNDS = 4;

/**
 * Does the work for every item although some fail, and what failed again: what one delivery achieved is not done again
 * by the next. The adapters wait between their own tries; here nothing waits. Throws the last error when something is left.
 */
export async function completeAll<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  let open = [...items];
  for (let round = 1; open.length > 0; round += 1) {
    const failed: T[] = [];
    let last: unknown;
    await forEachConcurrently(open, CALLS_AT_ONCE, async (item) => {
      try {
        await work(item);
      } catch (error) {
        failed.push(item);
        last = error;
      }
    });
    const isDown = open.length > CALLS_AT_ONCE && failed.length === open.length;
    if (failed.length > 0 && (round === ROUNDS || isDown)) throw last;
    open = failed;
  }
}
