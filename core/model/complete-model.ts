import * as z from 'zod';
import { parseGiven } from '../base/parse.ts';
import { ConfigurationInvalidError, RootspanError } from '../errors/errors.ts';
import { UnusableAnswerError } from './answer-defect.ts';
import { limitsOf, UNNAMED_MODEL } from './capabilities.ts';
import { classifyModelFault, faultOfError } from './classify-model-fault.ts';
import { type GivenAnswer, type GivenModel, type Model, type ModelAnswer, NO_USAGE } from './port.ts';
import { hashRequest, listPromptParts } from './request-body.ts';

const tokens = z.number().nonnegative();
const limit = z.number().positive();

const modelSchema = z.looseObject({
  spec: z.string().min(1),
  limits: z
    .looseObject({ contextTokens: limit, maxOutputTokens: limit, tokenFactor: limit, callsAtOnce: limit })
    .partial()
    .optional(),
  ask: z.custom<GivenModel['ask']>((value) => typeof value === 'function', 'expected a function'),
});

const answerSchema = z.looseObject({
  text: z.string(),
  usage: z
    .looseObject({
      inputTokens: tokens,
      outputTokens: tokens,
      cacheReadTokens: tokens,
      cacheWriteTokens: tokens,
      costUsd: tokens.nullable(),
    })
    .partial()
    .optional(),
});

/**
 * A caller's model with everything that the stages go by. What its answers leave out: limits of an unnamed model, no
 * price, no duration. ConfigurationInvalidError when the model, or something that it answers, has not this shape.
 */
export function completeModel(given: GivenModel): Model {
  const { spec, limits } = parseGiven(modelSchema, given, 'the model');
  return {
    spec,
    limits: { ...limitsOf(UNNAMED_MODEL), ...stated(limits) },
    async ask(request) {
      const prompt = [request.system ?? '', ...listPromptParts(request).map(({ text }) => text)];
      let answer: GivenAnswer;
      try {
        answer = await given.ask({ ...request, prompt: prompt.filter((text) => text !== '').join('\n\n') });
      } catch (error) {
        throw error instanceof RootspanError ? error : modelFault(error);
      }
      parseGiven(answerSchema, answer, `the answer of the model ${spec}`);
      const whole: ModelAnswer = {
        model: spec,
        outputMode: 'text',
        requestHash: hashRequest(spec, request),
        cached: false,
        durationMs: 0,
        ...stated(answer),
        text: answer.text,
        usage: { ...NO_USAGE, costUsd: null, calls: 1, ...stated(answer.usage) },
      };
      if (whole.text.trim() === '')
        throw new UnusableAnswerError('empty', 'there was no text', { answer: whole });
      return whole;
    },
  };
}

/** A fault of the service by its name; what says nothing of a service is an error of the caller's own, and stays it. */
function modelFault(error: unknown): unknown {
  const fault = faultOfError(error);
  const named = classifyModelFault(fault);
  return named instanceof ConfigurationInvalidError && fault.status === undefined ? error : named;
}

/** Without the keys that hold `undefined`: a figure that a service did not report is none. */
function stated<T extends object>(given: T | undefined): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given ?? {}).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
