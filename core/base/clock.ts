/** Time comes in from outside, so that core stays reproducible and tests hold the clock. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Sleeps in adapters and retries go through this, so that tests do not wait. */
export type Sleep = (ms: number) => Promise<void>;
