import { describe, expect, it } from 'vitest';
import { hashBody, hashRequest, writeConverseBody } from '../../../core/model/request-body.ts';
import { sampleRequest } from '../../helpers/sample-request.ts';

describe('the canonical body', () => {
  it('has what a batch job takes and nothing it refuses', () => {
    const body = writeConverseBody(
      sampleRequest({ user: [{ text: 'a', cache: true }, { text: ' ' }, { text: 'b' }] }),
    );
    expect(Object.keys(body).sort()).toEqual(['inferenceConfig', 'messages', 'outputConfig']);
    expect(JSON.stringify(body)).not.toContain('cachePoint');
    // An empty block would be a 400; the last one is the form of the answer.
    expect(body.messages).toMatchObject([
      { content: [{ text: 'a' }, { text: 'b' }, { text: expect.stringContaining('JSON Schema') }] },
    ]);
  });

  it('has a hash that follows every part the model sees', () => {
    const base = sampleRequest();
    const variants = [
      base,
      sampleRequest({ system: 'x' }),
      sampleRequest({ user: [{ text: 'other' }] }),
      sampleRequest({ maxOutputTokens: 501 }),
      sampleRequest({ sample: 1 }),
      sampleRequest({ answer: { ...base.answer, name: 'other' } }),
      sampleRequest({ answer: { ...base.answer, description: 'other' } }),
      sampleRequest({ answer: { ...base.answer, schema: { type: 'object' } } }),
    ];
    expect(new Set(variants.map((request) => hashBody(writeConverseBody(request)))).size).toBe(
      variants.length,
    );
  });

  it('has a hash that does not follow labels, cache marks and the order of keys', () => {
    const { schema } = sampleRequest().answer;
    const turned = Object.fromEntries(Object.entries(schema).reverse());
    const same = [
      sampleRequest({ purpose: 'other', promptVersion: 'other' }),
      sampleRequest({ user: [{ text: 'What went wrong in this session?', cache: true }] }),
      sampleRequest({ answer: { ...sampleRequest().answer, schema: turned } }),
      sampleRequest({ sample: 0 }),
    ];
    const hash = hashBody(writeConverseBody(sampleRequest()));
    expect(same.map((request) => hashBody(writeConverseBody(request)))).toEqual(same.map(() => hash));
  });

  it('has a cache key for each model', () => {
    expect(hashRequest('bedrock:a', sampleRequest())).not.toBe(hashRequest('bedrock:b', sampleRequest()));
  });
});
