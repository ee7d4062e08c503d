import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../core/base/json.ts';
import { repairJson } from '../../../core/base/repair-json.ts';

const repaired = (text: string): unknown => {
  const json = repairJson(text);
  return json === null ? 'not repaired' : JSON.parse(json);
};

describe('what is repaired', () => {
  it.each<[string, string, unknown]>([
    [
      'Python',
      "{'a': None, 'b': True, 'c': False, 'd': (1, 2), 'e': 'it\\'s'}",
      { a: null, b: true, c: false, d: [1, 2], e: "it's" },
    ],
    ['Python with both quotes', `{'a': "it's", 'b': 'say "x"'}`, { a: "it's", b: 'say "x"' }],
    [
      'numbers that JSON lacks',
      '[NaN, Infinity, -Infinity, 1e5, -0.5, 007]',
      ['NaN', 'Infinity', '-Infinity', 1e5, -0.5, '007'],
    ],
    ['raw control characters', '["a\nb\tc\u0001"]', ['a\nb\tc\u0001']],
    ['commas too many', '[1,,2,]', [1, 2]],
    ['commas too few', '[1 {"b":2} ["c"] "a"]', [1, { b: 2 }, ['c'], 'a']],
    ['bare names', '{a: 1, b_c: x}', { a: 1, b_c: 'x' }],
    ['names that are no text', '{1: 2, None: 3}', { 1: 2, null: 3 }],
    ['comments', '{"a": 1, // one\n /* two */ "b": 2}', { a: 1, b: 2 }],
    ['curly quotes', '{“a”: “b”}', { a: 'b' }],
    ['quotes inside quotes', '{"say": "he said "no" to me", "n": 1}', { say: 'he said "no" to me', n: 1 }],
    ['a path', '{"p": "C:\\dir\\x41"}', { p: 'C:\\dirA' }],
    ['escapes of Python', "['\\x41\\u0042']", ['AB']],
    ['closing brackets too many', '{"a": [1]}}]', { a: [1] }],
    ['JSON lines', '{"a": 1}\n{"a": 2}\n', [{ a: 1 }, { a: 2 }]],
    ['cut in a text', '{"a": ["b', { a: ['b'] }],
    ['cut after a name', '{"a": 1, "b":', { a: 1 }],
    ['cut after a backslash', '["a\\', ['a']],
  ])('%s', (_, text, expected) => expect(repaired(text)).toEqual(expected));

  it.each([
    '{name}, hello',
    'datetime.datetime(2020, 1, 1)',
    '[datetime(2020)]',
    '{"a":1} and more',
    '{"a" 1}',
    '[1}',
    '',
    '[INFO] done',
    '{1, 2}',
  ])('what is no JSON is not: %s', (text) => expect(repaired(text)).toBe('not repaired'));
});

describe('laws', () => {
  const json = fc.jsonValue().map((value): JsonValue => JSON.parse(JSON.stringify(value)));

  it('JSON stays what it is', () => {
    fc.assert(
      fc.property(json, fc.nat({ max: 4 }), (value, indent) => {
        expect(repaired(JSON.stringify(value, null, indent))).toEqual(value);
      }),
    );
  });

  it('JSON cut anywhere is repaired to JSON, or not at all, and nothing throws', () => {
    fc.assert(
      fc.property(json, fc.double({ min: 0, max: 1, noNaN: true }), (value, share) => {
        const text = JSON.stringify([value]);
        repaired(text.slice(0, Math.ceil(text.length * share)));
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...'{}[]()"\',:\\/ \n*”“ax1'), { maxLength: 40 }), (units) => {
        repaired(units.join(''));
      }),
      { numRuns: 3000 },
    );
  });
});

/** Seconds to hours for a mender that looks from each odd place through the rest. */
describe('hostile texts of 1 MB', () => {
  it.each(['"http://a"', '{', '`(/a/', '1 ', "'a", '"" ', '\\"', '"x', '/* ', '// ', '" , ', 'a:b,'])(
    '%j',
    (piece) => {
      for (const start of ['["', '[', '{"a":"', "{'a':'"])
        repairJson(start + piece.repeat(1_000_000 / piece.length));
    },
    60_000,
  );
});
