import fc from 'fast-check';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { describe, expect, test } from 'vitest';
import { makeTokenCounter } from '../../../../core/planning/tokens/make-token-counter.ts';
import { jsonFilesBelow, sharedPath } from '../../../helpers/shared-data.ts';

const tiktoken = new Tiktoken(o200k);
const reference = (text: string): number => tiktoken.encode(text, [], []).length;
const counter = makeTokenCounter();

describe('count', () => {
  test.each([
    ['nothing', ''],
    ['a special token as plain text', 'before <|endoftext|> after <|endofprompt|>'],
    ['contractions', "it's HE'LL we've I'D"],
    ['digits', '12345678 3.14159 1e-9'],
    ['white space before line ends', 'a  \n\n  \t b \r\n   '],
    ['scripts without spaces', '今日は天気がいい ภาษาไทย'],
    ['emoji with joiners', '👩‍👩‍👧‍👦 ok'],
    ['a lone surrogate', 'cut emoji \ud83e'],
    ['JSON', '{"tool_call_id": "call_9f", "args": {"ids": ["#W123", null, true]}}\n'],
  ])('is that of js-tiktoken for %s', (_name, text) => {
    expect(counter.count(text)).toBe(reference(text));
  });

  test('is that of js-tiktoken for any text', () => {
    const pieces = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom(' ', '\n', '\r\n', "'s", '  ', '<|endoftext|>', '{"', '":', '𝒳', '́'),
      fc.lorem({ maxCount: 5 }),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        expect(counter.count(text)).toBe(reference(text));
      }),
      { numRuns: 500 },
    );
  });

  test('does not depend on what was counted before, however much', () => {
    const small = makeTokenCounter();
    const words = Array.from({ length: 120_000 }, (_, i) => ` w${i.toString(36)}x`).join('');
    const first = small.count(words);
    expect(small.count(words)).toBe(first);
    expect(makeTokenCounter().count(words)).toBe(first);
  });

  // Merging 200,000 letters as one piece would take hours: that this ends at all is the test.
  test.each([
    ['a', 200_000, 25_000],
    ['😀', 200_000, 200_000],
  ])('a run of %s ends, and counts as in cuts', (unit, times, tokens) => {
    const count = counter.count(unit.repeat(times));
    expect(Math.abs(count - tokens) / tokens).toBeLessThan(0.01);
  });

  test('is that of js-tiktoken on the benchmark texts within 0.1 %', { timeout: 120_000 }, (context) => {
    const folder = sharedPath('bench', 'dev', 'agentrx-tau');
    if (folder === null) return context.skip();
    let ours = 0;
    let theirs = 0;
    for (const text of jsonFilesBelow(folder).flatMap(({ value }) => strings(value))) {
      ours += counter.count(text);
      theirs += reference(text);
    }
    expect(theirs).toBeGreaterThan(50_000);
    expect(Math.abs(ours - theirs) / theirs).toBeLessThanOrEqual(0.001);
  });
});

describe('bounds', () => {
  test('hold on prose, JSON and code', () => {
    for (const text of [
      'The order was cancelled yesterday.',
      '{"a":[1,2,3],"b":null}',
      'if (x) { return y; }',
    ]) {
      const { low, high } = counter.bounds(text);
      expect(counter.count(text)).toBeGreaterThanOrEqual(low);
      expect(counter.count(text)).toBeLessThanOrEqual(high);
    }
  });
  test('come from the UTF-8 length', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const bytes = new TextEncoder().encode(text).length;
        expect(counter.bounds(text)).toEqual({ low: Math.floor(bytes / 8), high: Math.ceil(bytes / 1.4) });
      }),
    );
  });
});

function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(strings);
}
