import { ModelThrottledError } from '../../core/errors/errors.ts';
import { CALLS_AT_ONCE, type Model } from '../../core/model/port.ts';

/**
 * Has at most `limits.callsAtOnce` calls of the model under way; the others wait their turn, in order. When the model
 * asks to slow down, half as many from then on, and one more after each full set of answers: what an account's quota
 * bears is known to nobody beforehand.
 */
export function pacedModel(model: Model): Model {
  const most = Math.max(1, model.limits.callsAtOnce ?? CALLS_AT_ONCE);
  const waiting: (() => void)[] = [];
  let allowed = most;
  let running = 0;
  let answered = 0;
  /** How often it was slowed: refusals of calls that began before the last time say nothing new. */
  let slowed = 0;

  const startNext = (): void => {
    while (running < allowed) {
      const start = waiting.shift();
      if (start === undefined) return;
      running += 1;
      start();
    }
  };
  return {
    spec: model.spec,
    limits: model.limits,
    async ask(request) {
      await new Promise<void>((start) => {
        waiting.push(start);
        startNext();
      });
      const slowedBefore = slowed;
      try {
        const answer = await model.ask(request);
        answered += 1;
        if (allowed < most && answered >= allowed) {
          allowed += 1;
          answered = 0;
        }
        return answer;
      } catch (error) {
        if (error instanceof ModelThrottledError && slowedBefore === slowed) {
          slowed += 1;
          allowed = Math.max(1, Math.floor(allowed / 2));
          answered = 0;
        }
        throw error;
      } finally {
        running -= 1;
        startNext();
      }
    },
  };
}
