import { setTimeout as delay } from 'node:timers/promises';
import { type Model, NO_USAGE } from '../../core/model/port.ts';
import { hashRequest } from '../../core/model/request-body.ts';
import { stubAnswer } from '../deep/stub-answers.ts';

/**
 * Answers every request after the same time, in this process: what is left of a diagnosis' time is Rootspan's own.
 * A window of a few thousand tokens makes many chunks of a small session.
 */
export function stubModel(latencyMs: number, contextTokens: number): Model {
  return {
    spec: 'stub',
    limits: { contextTokens, maxOutputTokens: 4000, tokenFactor: 1 },
    async ask(request) {
      if (latencyMs > 0) await delay(latencyMs);
      return {
        text: JSON.stringify(stubAnswer(request.answer.name)),
        usage: NO_USAGE,
        model: 'stub',
        outputMode: 'text',
        requestHash: hashRequest('stub', request),
        cached: false,
        durationMs: latencyMs,
      };
    },
  };
}
