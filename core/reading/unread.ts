import type { Unread } from '../session/session.ts';

/** One entry for each place and reason, in the order in which they came first. */
export function sumUnread(unread: readonly Unread[]): Unread[] {
  const sums = new Map<string, Unread>();
  for (const entry of unread) {
    const key = `${entry.where}\n${entry.reason}`;
    const sum = sums.get(key);
    sums.set(key, sum === undefined ? entry : { ...sum, count: sum.count + entry.count });
  }
  return [...sums.values()];
}
