import type { Unread } from '../../session/session.ts';

/** Counts what could not be read, by reason. */
export class UnreadTally {
  readonly #where: string;
  readonly #counts = new Map<string, number>();

  constructor(where: string) {
    this.#where = where;
  }

  add(reason: string, count = 1): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + count);
  }

  list(): Unread[] {
    return [...this.#counts].map(([reason, count]) => ({ where: this.#where, reason, count }));
  }
}
