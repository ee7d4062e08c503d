import type { Sleep } from '../../core/base/clock.ts';
import { RootspanError } from '../../core/errors/errors.ts';
import type { Model } from '../../core/model/port.ts';

export interface RetryPolicy {
  /** Calls in all, the first included. */
  readonly attempts: number;
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
}

/**
 * For use locally, where no state machine retries: waits of at most 2, 4, 8, 16 s, each drawn evenly from half of
 * it upwards, so 30 s at most; many sessions at once do not come back together.
 */
export const LOCAL_RETRIES: RetryPolicy = { attempts: 5, firstWaitMs: 2000, longestWaitMs: 30_000 };

/** Asks again after errors whose `retryable` is true; the last error passes through. */
export function retryingModel(
  model: Model,
  deps: { readonly sleep: Sleep; readonly random: () => number; readonly policy?: RetryPolicy },
): Model {
  const policy = deps.policy ?? LOCAL_RETRIES;
  return {
    spec: model.spec,
    limits: model.limits,
    async ask(request) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await model.ask(request);
        } catch (error) {
          const again = error instanceof RootspanError && error.retryable && attempt < policy.attempts;
          if (!again) throw error;
          const wait = Math.min(policy.longestWaitMs, policy.firstWaitMs * 2 ** (attempt - 1));
          await deps.sleep(wait * (0.5 + deps.random() / 2));
        }
      }
    },
  };
}
