import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, sha256Hex } from '../../../core/base/hash.ts';

describe('sha256Hex', () => {
  test('agrees with Node on any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(sha256Hex(text)).toBe(createHash('sha256').update(text, 'utf8').digest('hex'));
      }),
    );
  });
  test('a lone surrogate hashes as U+FFFD', () => {
    expect(sha256Hex('a\ud83e')).toBe(sha256Hex('a\ufffd'));
  });
});

describe('canonicalJson', () => {
  test('reads back to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const json = JSON.parse(JSON.stringify(value));
        expect(JSON.parse(canonicalJson(json))).toEqual(json);
      }),
    );
  });
  test('does not depend on the order of keys, at any depth', () => {
    const shuffle = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.map(shuffle)
        : value !== null && typeof value === 'object'
          ? Object.fromEntries(
              Object.entries(value)
                .reverse()
                .map(([k, v]) => [k, shuffle(v)]),
            )
          : value;
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(shuffle(value) as never)).toBe(canonicalJson(value as never));
      }),
    );
  });
  test('leaves out undefined properties, as JSON does', () => {
    expect(canonicalJson({ b: undefined, a: [undefined, 1] })).toBe('{"a":[null,1]}');
  });
  test.each([
    ['NaN', { x: Number.NaN }],
    ['a Map', { x: new Map([['a', 1]]) }],
    ['a bigint', { x: 1n }],
    ['a function', { x: () => 1 }],
  ])('refuses %s rather than lose it', (_name, value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
  });
  test('refuses endless nesting with a clear error', () => {
    let value: unknown[] = [];
    for (let i = 0; i < 5000; i++) value = [value];
    expect(() => canonicalJson(value)).toThrow(/nested deeper/);
  });
});
