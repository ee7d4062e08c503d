import {
  BudgetExhaustedError,
  ConfigurationInvalidError,
  ContextOverflowError,
  ModelAccessError,
  ModelThrottledError,
} from '../../core/errors/errors.ts';
import { capabilitiesOfSpec } from '../../core/model/capabilities.ts';
import type { Model, ModelRequest } from '../../core/model/port.ts';
import { NO_TOKENS, priceUsage } from '../../core/model/price-usage.ts';
import type { TokenCounter } from '../../core/planning/tokens/counter.ts';
import type { Budget } from '../../core/ports/ports.ts';

/** A message's roles, markers and the answer's form beside the texts that are counted. */
const OVERHEAD_TOKENS = 1_000;

/**
 * Holds back what a call can cost at most before it is made (list prices; no part of the prompt read from a cache, the
 * whole of the answer used) and puts what it came to in its place. BudgetExhaustedError, without a call, when the
 * budget has not that much left. ConfigurationInvalidError for a model without a price on file: a limit that cannot be held
 * is none.
 *
 * Calls that fail before a token is made (throttled, no access, too long) cost nothing. Whatever else goes wrong may
 * have been paid for, and stays held.
 */
export function budgetedModel(model: Model, budget: Budget, counter: TokenCounter): Model {
  const capabilities = capabilitiesOfSpec(model.spec);
  if (capabilities.prices.length === 0) {
    throw new ConfigurationInvalidError(
      `there is no price on file for ${model.spec}, so a daily budget cannot be held: expected a model of core/model/capabilities.ts; take one, or set no budget`,
    );
  }
  const mostOf = (request: ModelRequest): number => {
    const texts = [
      request.system ?? '',
      ...request.user.map(({ text }) => text),
      JSON.stringify(request.answer),
    ];
    const counted = texts.reduce((sum, text) => sum + counter.count(text), OVERHEAD_TOKENS);
    const inputTokens = Math.ceil(counted * model.limits.tokenFactor);
    // Writing the prompt to a cache is the dearest way to send it.
    const tokens = { ...NO_TOKENS, cacheWriteTokens: inputTokens, outputTokens: request.maxOutputTokens };
    return toMicro(priceUsage(tokens, capabilities).costUsd ?? Number.POSITIVE_INFINITY);
  };
  return {
    spec: model.spec,
    limits: model.limits,
    async ask(request) {
      const reservedMicro = mostOf(request);
      if (!(await budget.reserve(reservedMicro))) {
        throw new BudgetExhaustedError(
          `the day's budget has less than the ${(reservedMicro / 1_000_000).toFixed(4)} USD left that this call (${request.purpose}) can cost`,
        );
      }
      try {
        const answer = await model.ask(request);
        const { costUsd } = answer.usage;
        // A server that reports no usage: what was held is all that is known.
        await budget.settle(reservedMicro, costUsd === null ? reservedMicro : toMicro(costUsd));
        return answer;
      } catch (error) {
        if (isUnpaid(error)) await budget.settle(reservedMicro, 0);
        throw error;
      }
    },
  };
}

const toMicro = (usd: number): number => Math.ceil(usd * 1_000_000);

const isUnpaid = (error: unknown): boolean =>
  error instanceof ModelThrottledError ||
  error instanceof ModelAccessError ||
  error instanceof ContextOverflowError;
