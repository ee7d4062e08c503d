import type { Failure } from './schema.ts';

/** A failure of which nobody said whether a later step put it right, and of which no effect is known yet. */
export const UNKNOWN_RECOVERY: Pick<Failure, 'recovered' | 'recoveredBy' | 'effect'> = {
  recovered: 'unknown',
  recoveredBy: null,
  effect: 'unknown',
};
