import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resolveSpan } from '../../../core/prompting/resolve-span.ts';

const known = {
  aliases: new Map([
    ['s0', 'a1b2c3d4e5f60718'],
    ['s1', 'a1b2ffffffffffff'],
    ['s12', 'message-12'],
    ['s13', 'Upper-Case'],
  ]),
};
const read = (said: string) => resolveSpan(said, known).spanId;

describe('a near miss that can mean one span only is repaired', () => {
  test.each([
    ['s12', 'message-12'],
    ['[s12]', 'message-12'],
    ['@s12', 'message-12'],
    ['`s12`', 'message-12'],
    ['"s12".', 'message-12'],
    ['S12', 'message-12'],
    ['span s12', 'message-12'],
    ['step 12', 'message-12'],
    ['12', 'message-12'],
    ['s12 (tool search)', 'message-12'],
    ['message-12', 'message-12'],
    ['upper-case', 'Upper-Case'],
    ['a1b2c3d4', 'a1b2c3d4e5f60718'],
    ['A1B2C3D4E5F60718', 'a1b2c3d4e5f60718'],
  ])('%s', (said, spanId) => {
    expect(read(said)).toBe(spanId);
  });
});

describe('anything else is unknown, with a reason', () => {
  test.each([
    ['', 'no span id given'],
    ['[]', 'no span id given'],
    ['s99', 'span id was not among the spans shown'],
    ['message-1', 'span id was not among the spans shown'],
    ['message-123', 'span id was not among the spans shown'],
    ['a1b2', 'span id was not among the spans shown'],
    ['s0 and s1', 'span id fits 2 spans'],
    ['__proto__', 'span id was not among the spans shown'],
    ['[('.repeat(50_000), 'no span id given'],
  ])('%s', (said, reason) => {
    expect(resolveSpan(said, known)).toEqual({ spanId: null, reason });
  });
});

test('whatever is said, only a span that was shown comes back', () => {
  const shown = new Set(known.aliases.values());
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[s@[\]0-9a-f ]{0,8}$/)), (said) => {
      const { spanId } = resolveSpan(said, known);
      expect(spanId === null || shown.has(spanId)).toBe(true);
    }),
  );
});
