import { describe, expect, it } from 'vitest';
import { ErrorName } from '../../../core/errors/error-names.ts';
import { UNNAMED_MODEL } from '../../../core/model/capabilities.ts';
import { completeModel } from '../../../core/model/complete-model.ts';
import type { GivenModel, GivenRequest } from '../../../core/model/port.ts';
import { hashRequest } from '../../../core/model/request-body.ts';
import { sampleRequest } from '../../helpers/sample-request.ts';

const answering = (answer: unknown): GivenModel => ({
  spec: 'own',
  ask: async () => answer as { text: string },
});
const failing = (error: unknown): GivenModel => ({
  spec: 'own',
  ask: async () => {
    throw error;
  },
});
const nameOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: unknown) => (error as Error).name,
  );

describe('a model of the caller', () => {
  it('needs a spec and an ask that gives a text; what it leaves out is filled in', async () => {
    const request = sampleRequest();
    const model = completeModel(
      answering({ text: '{}', usage: { inputTokens: 7, outputTokens: undefined } }),
    );
    expect(model.limits.contextTokens).toBe(UNNAMED_MODEL.contextTokens);
    expect(await model.ask(request)).toEqual({
      text: '{}',
      model: 'own',
      outputMode: 'text',
      requestHash: hashRequest('own', request),
      cached: false,
      durationMs: 0,
      // A price that nobody stated is not known, and not nought.
      usage: {
        inputTokens: 7,
        outputTokens: 0,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        costUsd: null,
        calls: 1,
      },
    });
  });

  it('its own limits go before, one by one', () => {
    const model = completeModel({ ...answering({ text: '{}' }), limits: { contextTokens: 9000 } });
    expect(model.limits).toMatchObject({
      contextTokens: 9000,
      maxOutputTokens: UNNAMED_MODEL.maxOutputTokens,
    });
  });

  it('is handed everything to send as one text: system, parts, and how to answer', async () => {
    const seen: GivenRequest[] = [];
    const request = { ...sampleRequest(), system: 'SYSTEM', user: [{ text: 'FIRST' }, { text: 'SECOND' }] };
    const model = completeModel({
      spec: 'own',
      ask: async (asked) => {
        seen.push(asked);
        return { text: '{}' };
      },
    });
    await model.ask(request);
    const prompt = seen[0]?.prompt ?? '';
    expect(prompt).toMatch(/^SYSTEM\n\nFIRST\n\nSECOND\n\n/u);
    expect(prompt).toContain('JSON Schema');
  });

  it.each([
    ['no object', undefined],
    ['no spec', { ask: async () => ({ text: '' }) }],
    ['no ask', { spec: 'own' }],
    ['a window of nothing', { ...answering({ text: '{}' }), limits: { contextTokens: 0 } }],
  ])('%s is refused in words', (_name, model) => {
    expect(() => completeModel(model as GivenModel)).toThrow(/^the model is not as expected: /u);
  });

  it.each([
    ['a bare string', '{}'],
    ['no text', { usage: {} }],
    ['tokens that are no number', { text: '{}', usage: { inputTokens: '7' } }],
  ])('an answer of %s is refused in words', async (_name, answer) => {
    await expect(completeModel(answering(answer)).ask(sampleRequest())).rejects.toMatchObject({
      name: ErrorName.ConfigurationInvalid,
      message: expect.stringContaining('the answer of the model own'),
    });
  });

  it('an empty text is no answer', async () => {
    expect(await nameOf(completeModel(answering({ text: ' ' })).ask(sampleRequest()))).toBe(
      ErrorName.ModelOutputInvalid,
    );
  });

  it.each([
    [Object.assign(new Error('slow down'), { status: 429 }), ErrorName.ModelThrottled],
    [Object.assign(new Error('x'), { $metadata: { httpStatusCode: 503 } }), ErrorName.ModelUnavailable],
    [Object.assign(new Error('no such key'), { statusCode: 401 }), ErrorName.ModelAccess],
    [
      new TypeError('fetch failed', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) }),
      ErrorName.ModelUnavailable,
    ],
    // A mistake in the caller's own code is not a model's.
    [new TypeError('x is not a function'), 'TypeError'],
  ])('%s becomes %s', async (error, name) => {
    expect(await nameOf(completeModel(failing(error)).ask(sampleRequest()))).toBe(name);
  });
});
