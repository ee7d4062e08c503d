import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aboveThreshold, failuresFromChecks, mergeFailures } from '../../../core/detection/merge.ts';
import type { CheckReport } from '../../../core/diagnosis/check-report.ts';
import { UNKNOWN_RECOVERY } from '../../../core/diagnosis/recovery.ts';
import { EFFECTS, type Failure, RECOVERED } from '../../../core/diagnosis/schema.ts';

const failure: fc.Arbitrary<Failure> = fc
  .tuple(
    fc.constantFrom('a', 'b', 'c'),
    fc.array(
      fc.tuple(
        fc.constantFrom('x', 'y', 'z'),
        fc.constantFrom(0.5, 0.75, 0.9),
        fc.string({ maxLength: 3 }),
        fc.constantFrom('model' as const, 'check' as const),
      ),
      { minLength: 1, maxLength: 4 },
    ),
    fc.record({
      recovered: fc.constantFrom(...RECOVERED),
      recoveredBy: fc.constantFrom(null, 'p', 'q'),
      effect: fc.constantFrom(...EFFECTS),
    }),
  )
  .map(([span_id, rows, recovery]) => ({
    ...recovery,
    span_id,
    category: rows.map(([category]) => category),
    confidence: rows.map(([, confidence]) => confidence),
    evidence: rows.map(([, , evidence]) => evidence),
    source: rows.map(([, , , kind]) => ({ kind, ref: 'r' })),
  }));
const failures = fc.array(failure, { maxLength: 8 });

describe('merge', () => {
  test('does not depend on the order of the findings', () => {
    fc.assert(
      fc.property(failures, fc.infiniteStream(fc.nat()), (list, noise) => {
        const shuffled = list
          .map((value) => ({ value, key: noise.next().value as number }))
          .sort((a, b) => a.key - b.key)
          .map(({ value }) => value);
        expect(mergeFailures(shuffled)).toEqual(mergeFailures(list));
      }),
    );
  });

  test('merging again changes nothing, in one go or in parts', () => {
    fc.assert(
      fc.property(failures, failures, (one, two) => {
        const whole = mergeFailures([...one, ...two]);
        expect(mergeFailures(whole)).toEqual(whole);
        expect(mergeFailures([...mergeFailures(one), ...mergeFailures(two)])).toEqual(whole);
      }),
    );
  });

  test('keeps every span and category once, with the highest confidence said', () => {
    fc.assert(
      fc.property(failures, (list) => {
        const best = new Map<string, number>();
        for (const item of list) {
          item.category.forEach((category, i) => {
            const key = `${item.span_id} ${category}`;
            best.set(key, Math.max(best.get(key) ?? 0, item.confidence[i] ?? 0));
          });
        }
        const merged = mergeFailures(list);
        const got = merged.flatMap((item) =>
          item.category.map((category, i) => [`${item.span_id} ${category}`, item.confidence[i]] as const),
        );
        expect(got).toHaveLength(best.size);
        expect(new Map(got)).toEqual(best);
        for (const item of merged) {
          expect(item.confidence).toHaveLength(item.category.length);
          expect(item.evidence).toHaveLength(item.category.length);
          expect(item.source).toHaveLength(item.category.length);
        }
      }),
    );
  });

  test('the threshold filters category by category; a span left with none goes', () => {
    fc.assert(
      fc.property(failures, fc.constantFrom(0.5, 0.75, 0.9), (list, threshold) => {
        const merged = mergeFailures(list);
        const kept = aboveThreshold(merged, threshold);
        const count = (items: readonly Failure[]) => items.flatMap((item) => item.confidence);
        expect(count(kept)).toEqual(count(merged).filter((confidence) => confidence >= threshold));
        expect(kept.every((item) => item.category.length > 0)).toBe(true);
      }),
    );
  });

  test('who knows whether a fault was put right goes before who does not, and "it stands" before "put right"', () => {
    const said = (recovered: Failure['recovered'], recoveredBy: string | null = null): Failure => ({
      span_id: 'a',
      category: ['x'],
      confidence: [0.5],
      evidence: ['e'],
      source: [{ kind: 'model', ref: 'r' }],
      ...UNKNOWN_RECOVERY,
      recovered,
      recoveredBy,
    });
    expect(mergeFailures([said('unknown'), said('yes', 'b')])).toMatchObject([
      { recovered: 'yes', recoveredBy: 'b' },
    ]);
    expect(mergeFailures([said('no'), said('yes', 'b'), said('unknown')])).toMatchObject([
      { recovered: 'no', recoveredBy: null },
    ]);
  });

  test('spans come in session order', () => {
    const at = (span_id: string): Failure => ({
      span_id,
      category: ['x'],
      confidence: [0.5],
      evidence: ['e'],
      source: [{ kind: 'model', ref: 'r' }],
      ...UNKNOWN_RECOVERY,
    });
    const merged = mergeFailures([at('a'), at('c'), at('b')], ['c', 'b', 'a']);
    expect(merged.map(({ span_id }) => span_id)).toEqual(['c', 'b', 'a']);
  });
});

test('of the check findings, the precise ones are failures, and say whether the session got past them', () => {
  const finding = (weight: 'failure' | 'evidence', recovered: boolean | null, spanId: string) => ({
    checkId: 'explicit-error',
    spanId,
    category: 'execution-error-category-timeout' as const,
    confidence: 0.9,
    summary: 'timed out',
    evidence: [{ spanId, quote: 'timeout after 30 s', note: '' }],
    weight,
    recovered,
    criticalCategory: null,
  });
  const report: CheckReport = {
    checkId: 'explicit-error',
    state: 'ran',
    reason: null,
    findings: [
      finding('failure', false, 'a'),
      finding('failure', null, 'b'),
      finding('failure', true, 'c'),
      finding('evidence', false, 'd'),
    ],
  };
  expect(failuresFromChecks([report])).toMatchObject([
    { span_id: 'a', recovered: 'no', source: [{ kind: 'check', ref: 'explicit-error' }] },
    { span_id: 'b', recovered: 'unknown', evidence: ['timed out — "timeout after 30 s"'] },
    { span_id: 'c', recovered: 'yes', recoveredBy: null, effect: 'unknown' },
  ]);
});
