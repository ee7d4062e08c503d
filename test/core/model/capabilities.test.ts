import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capabilitiesOfSpec, findCapabilities, UNKNOWN_MODEL } from '../../../core/model/capabilities.ts';
import { priceUsage } from '../../../core/model/price-usage.ts';

const tokens = (inputTokens: number, outputTokens = 0) => ({
  inputTokens,
  outputTokens,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
});

describe('the capability table', () => {
  it.each([
    ['global.anthropic.claude-sonnet-4-6', 'claude-sonnet-4-6', 1_000_000],
    ['eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5', 200_000],
    ['global.anthropic.claude-sonnet-5-5', 'claude-sonnet-5-5', 1_000_000],
    ['anthropic.claude-opus-4-6-v1', 'claude-opus-4', 200_000],
    [
      'arn:aws:bedrock:us-east-1:111122223333:inference-profile/global.anthropic.claude-haiku-4-5-20251001-v1:0',
      'claude-haiku-4-5',
      200_000,
    ],
    ['global.amazon.nova-2-lite-v1:0', 'nova-2-lite', 1_000_000],
    ['openai.gpt-oss-120b-1:0', 'gpt-oss-120b', 128_000],
    ['some.new-model', 'unknown', 128_000],
  ])('%s is %s', (id, family, contextTokens) => {
    expect(findCapabilities(id)).toMatchObject({ family, contextTokens });
  });

  it('sends the newest Claude models neither sampling nor a forced tool', () => {
    for (const id of ['global.anthropic.claude-sonnet-5-5', 'anthropic.claude-opus-5-5']) {
      expect(findCapabilities(id)).toMatchObject({ sampling: false, forcedTools: false });
    }
  });

  it('has no price for a model on a host of its own', () => {
    expect(capabilitiesOfSpec('openai:gpt-oss-120b@http://127.0.0.1/v1')).toMatchObject({
      family: 'gpt-oss-120b',
      prices: [],
    });
  });
});

describe('the cost of a call', () => {
  const haiku = findCapabilities('global.anthropic.claude-haiku-5-5');

  it('of two 80K prompts is a fifth of that of one 160K prompt', () => {
    const two = 2 * (priceUsage(tokens(80_000), haiku).costUsd ?? Number.NaN);
    const one = priceUsage(tokens(160_000), haiku).costUsd ?? Number.NaN;
    expect(two / one).toBeCloseTo(0.2, 10);
  });

  it.each([
    [100_000, 0.1],
    [100_001, 0.5],
  ])('of %i prompt tokens is at %f USD a million', (count, price) => {
    expect(priceUsage(tokens(count), haiku).costUsd).toBeCloseTo((count * price) / 1e6, 10);
  });

  it('looks at cached parts too when it chooses the tier', () => {
    const usage = { ...tokens(50_000), cacheReadTokens: 60_000 };
    expect(priceUsage(usage, haiku).costUsd).toBeCloseTo((56_000 * 0.5) / 1e6, 10);
  });

  it('is unknown, not nothing, without a price or without reported tokens', () => {
    expect(priceUsage(tokens(1), UNKNOWN_MODEL).costUsd).toBeNull();
    expect(priceUsage(null, haiku)).toMatchObject({ costUsd: null, calls: 1 });
  });

  it('never falls with more tokens, and a batch costs half', () => {
    const count = fc.nat(2_000_000);
    fc.assert(
      fc.property(count, count, count, (input, output, more) => {
        for (const id of ['claude-sonnet-4-6', 'claude-haiku-5-5', 'nova-2-lite']) {
          const capabilities = findCapabilities(id);
          const base = priceUsage(tokens(input, output), capabilities).costUsd ?? -1;
          expect(priceUsage(tokens(input + more, output), capabilities).costUsd).toBeGreaterThanOrEqual(base);
          expect(priceUsage(tokens(input, output), capabilities, 'batch').costUsd).toBeCloseTo(base / 2, 10);
        }
      }),
    );
  });
});
