import { checkTimerDelay, type Timer, type TimerQueue } from '../../core/ports/ingest-ports.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** The timer queue in this process, on a clock that jumps from one timer to the next instead of waiting. */
export class LocalTimerQueue implements TimerQueue {
  readonly #clock: VirtualClock;
  #waiting: { readonly dueAt: number; readonly timer: Timer }[] = [];

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  async arm(timer: Timer, delaySeconds: number): Promise<void> {
    checkTimerDelay(delaySeconds);
    this.#waiting.push({ dueAt: this.#clock.now() + delaySeconds * 1000, timer });
  }

  async backlog(): Promise<number> {
    return this.#waiting.length;
  }

  get waiting(): readonly { readonly dueAt: number; readonly timer: Timer }[] {
    return this.#waiting;
  }

  /**
   * Moves the clock to the next due timer and takes it, or up to `until`; `null` when none is due by then. A timer
   * whose work fails is not lost: arm it again.
   */
  next(until = Number.POSITIVE_INFINITY): Timer | null {
    const [first] = this.#waiting.toSorted((a, b) => a.dueAt - b.dueAt);
    if (first === undefined || first.dueAt > until) {
      if (Number.isFinite(until)) this.#clock.moveTo(until);
      return null;
    }
    this.#clock.moveTo(first.dueAt);
    this.#waiting = this.#waiting.filter((entry) => entry !== first);
    return first.timer;
  }
}
