import type { Clock } from '../../core/base/clock.ts';

/** A clock that stands still until it is moved on: arrival time locally. */
export class VirtualClock implements Clock {
  #now: number;

  constructor(startMs: number) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  /** Time never goes back: an earlier moment changes nothing. */
  moveTo(ms: number): void {
    this.#now = Math.max(this.#now, ms);
  }
}
