import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { estimatePatternSize } from '../../../core/base/pattern-size.ts';

const { pattern } = fc.letrec<{ pattern: string; item: string }>((tie) => ({
  item: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(
      'a',
      '.',
      '\\d',
      '\\pL',
      '\\p{Greek}',
      '[a-z]',
      '[]x]',
      '[^\\]a]',
      '\\{',
      '\\(',
      '^',
      '\\b',
    ),
    tie('pattern').map((inner) => `(${inner})`),
    tie('pattern').map((inner) => `(?:${inner})`),
    fc
      .tuple(tie('item'), fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 }))
      .map(([inner, least, more]) => `(?:${inner}){${least},${least + more}}`),
    fc
      .tuple(tie('item'), fc.constantFrom('*', '+', '?', '*?', '{3}', '{2,}'))
      .map(([inner, sign]) => `(?:${inner})${sign}`),
  ),
  pattern: fc.array(tie('item'), { minLength: 1, maxLength: 4 }).map((items) => items.join('|')),
}));

describe('the size of a pattern before it is compiled', () => {
  it('is not below half of what it compiles to', () => {
    let compiled = 0;
    fc.assert(
      fc.property(pattern, (source) => {
        let size: number;
        try {
          size = RE2JS.compile(source).programSize();
        } catch {
          return; // Beyond RE2's own bounds.
        }
        compiled += 1;
        expect(estimatePatternSize(source) * 2 + 10).toBeGreaterThanOrEqual(size);
      }),
      { numRuns: 500 },
    );
    expect(compiled).toBeGreaterThan(400);
  });

  it.each([
    ['\\d{3}-\\d{2,4}', 8],
    ['[A-Z]{3}\\d{3,20} .{0,100}', 124],
    ['(ab){10}', 40],
    ['((a{30}){30}){30}', 30 * (2 + 30 * (2 + 30)) + 0],
    ['a\\{1000}', 8],
    ['[{1000}]', 1],
  ])('%s is about %i', (source, about) => {
    const size = estimatePatternSize(source);
    expect(size).toBeGreaterThanOrEqual(about * 0.8);
    expect(size).toBeLessThanOrEqual(about * 1.3);
  });
});
