import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { evaluate } from '../../../core/cel/evaluate.ts';
import { makeLanguage } from '../../../core/cel/language.ts';
import { EvaluationFault, Meter } from '../../../core/cel/meter.ts';
import { Patterns } from '../../../core/cel/patterns.ts';

/** Vectors of the CEL specification on the subset that we support, and those on which we differ on purpose. */
const result = z.union([z.boolean(), z.literal('error')]);
const vectors = z
  .object({
    same: z.array(z.tuple([z.string(), z.string(), result])),
    different: z.array(z.tuple([z.string(), z.string(), result, result])),
  })
  .parse(
    JSON.parse(
      readFileSync(path.resolve(import.meta.dirname, '../../fixtures/cel/conformance.json'), 'utf8'),
    ),
  );

const language = makeLanguage({ types: {}, variables: {}, functions: [] });

function resultOf(source: string): boolean | 'error' | string {
  const compiled = language.compile(source);
  if (!compiled.ok) return `refused: ${compiled.error}`;
  const call = (name: string): never => {
    throw new Error(`no function is declared, and ${name} was called`);
  };
  try {
    const scene = { variables: {}, meter: new Meter(200_000), patterns: new Patterns(), call };
    return evaluate(compiled.expression, scene).value;
  } catch (error) {
    if (error instanceof EvaluationFault) return 'error';
    throw error;
  }
}

describe('the expression language', () => {
  it.each(vectors.same)('%s: %s', (_name, expression, expected) => {
    expect(resultOf(expression)).toBe(expected);
  });
});

describe('where it differs from CEL', () => {
  /** A number is a JSON number and division by zero a fault; maps are JSON objects; white space is JavaScript's. */
  const REASONS = [/\/0\.0/, /\{ ?(?:'\w+':'?\w+'?, ?)?(?:\d+|true|false): ?/, /\bin \{\}/, /\.trim\(\)/];

  it.each(vectors.different)('%s: %s', (_name, expression, specified, expected) => {
    expect(specified).not.toBe(expected);
    expect(resultOf(expression)).toBe(expected);
    expect(REASONS.some((reason) => reason.test(expression))).toBe(true);
  });

  it.each([
    ['b"abc" == b"abc"', 'literals'],
    ['1u == 1u', 'literals'],
    ['type(1) == int', "no function 'type'"],
    ['timestamp("2024-01-01T00:00:00Z") == timestamp("2024-01-01T00:00:00Z")', 'no function'],
    ['cel.bind(a, [1], size(a) > 0)', "no method 'bind'"],
    ['"a".charAt(0) == "a"', "no method 'charAt'"],
    ['[1][?0] == 1', ''],
    ['x == 1', 'Unknown variable'],
    ['1 + 1', 'gives int'],
    [`"${'a'.repeat(2_000)}" == ""`, 'longer than 2000 characters'],
    [`${'['.repeat(40)}${']'.repeat(40)} == []`, 'maxDepth'],
  ])('refuses %s', (expression, reason) => {
    expect(resultOf(expression)).toMatch(new RegExp(`^refused: .*${reason}`));
  });
});

describe('an environment', () => {
  const shop = makeLanguage({
    types: { Item: { price: 'double', name: 'string' } },
    variables: { items: 'list<Item>' },
    functions: [{ name: 'cheap', signature: 'cheap(Item): bool' }],
  });
  const items = [
    { price: 3, name: 'pen' },
    { price: 40, name: 'lamp' },
  ];

  it('declares all that an expression may name, and carries its functions out', () => {
    const compiled = shop.compile('items.exists(i, cheap(i)) && !items.all(i, cheap(i))');
    if (!compiled.ok) throw new Error(compiled.error);
    const asked: string[] = [];
    const outcome = evaluate(compiled.expression, {
      variables: { items },
      meter: new Meter(1_000),
      patterns: new Patterns(),
      call: (name, [item]) => {
        asked.push(name);
        return JSON.stringify(item).includes('"price":3,');
      },
    });
    expect([outcome.value, new Set(asked)]).toEqual([true, new Set(['cheap'])]);
    expect(shop.compile('items[0].colour == "red"')).toMatchObject({ ok: false });
    expect(shop.compile('dear(items[0])')).toMatchObject({ ok: false });
  });

  it('bounds loops by work, however deep they are nested', () => {
    const nested = (levels: number): string =>
      levels === 0 ? 'true' : `items.all(v${levels}, ${nested(levels - 1)})`;
    const run = (levels: number, list: typeof items): boolean => {
      const compiled = shop.compile(nested(levels));
      if (!compiled.ok) throw new Error(compiled.error);
      const call = (): never => {
        throw new Error('unscripted');
      };
      const scene = { variables: { items: list }, meter: new Meter(200_000), patterns: new Patterns(), call };
      return evaluate(compiled.expression, scene).value;
    };
    expect(run(6, items)).toBe(true);
    const many = Array.from({ length: 100 }, () => ({ price: 1, name: 'pen' }));
    expect(() => run(4, many)).toThrow(expect.objectContaining({ because: 'budget' }));
  });
});
