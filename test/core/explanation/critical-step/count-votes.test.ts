import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CriticalStep } from '../../../../core/diagnosis/schema.ts';
import { countVotes, type Vote } from '../../../../core/explanation/critical-step/count-votes.ts';
import { CRITICAL_CATEGORIES } from '../../../../core/vocabulary/critical-categories.ts';

const vote = fc
  .option(
    fc.record({
      at: fc.nat(5),
      category: fc.constantFrom(...CRITICAL_CATEGORIES),
      confidence: fc.constantFrom(0.5, 0.75, 0.9),
    }),
  )
  .map(
    (drawn): Vote =>
      drawn === null
        ? null
        : {
            spanId: `s${drawn.at}`,
            position: drawn.at,
            agent: null,
            category: drawn.category,
            confidence: drawn.confidence,
            reason: 'r',
            evidence: [],
            alternatives: [],
            agreement: null,
            judgedBy: 'model',
          },
  );
const votes = fc.array(vote, { minLength: 2, maxLength: 9 });
const nameOf = (step: Vote): string => step?.spanId ?? 'none';

describe('counting votes', () => {
  it('names a step that somebody voted for, and no step has more votes', () => {
    fc.assert(
      fc.property(votes, (all) => {
        const winner = countVotes(all, false);
        const count = (name: string) => all.filter((one) => nameOf(one) === name).length;
        for (const one of all) expect(count(nameOf(winner))).toBeGreaterThanOrEqual(count(nameOf(one)));
      }),
    );
  });

  it('does not depend on the order of the votes, but for who speaks', () => {
    const decision = (step: Vote) => [nameOf(step), step?.category, step?.confidence, step?.agreement];
    fc.assert(
      fc.property(votes, (all) => {
        // Equal sums of floats may differ in the last digit with the order.
        const round = (values: unknown[]) =>
          values.map((one) => (typeof one === 'number' ? one.toFixed(9) : one));
        const categories = new Set(all.map((one) => one?.category));
        fc.pre(categories.size <= 2);
        const [a, b] = [countVotes(all, false), countVotes(all.toReversed(), false)].map(decision).map(round);
        expect(a?.[0]).toBe(b?.[0]);
        expect(a?.[3]).toBe(b?.[3]);
      }),
    );
  });

  it('a run known to have failed gets a step if any vote names one', () => {
    fc.assert(
      fc.property(votes, (all) => {
        expect(countVotes(all, true) === null).toBe(all.every((one) => one === null));
      }),
    );
  });

  it('agreement and confidence stay shares, alternatives distinct, at most three, and without the winner', () => {
    fc.assert(
      fc.property(votes, (all) => {
        const winner = countVotes(all, false);
        if (winner === null) return;
        expect(winner.agreement).toBeGreaterThan(0);
        expect(winner.agreement).toBeLessThanOrEqual(1);
        expect(winner.confidence).toBeLessThanOrEqual(0.9);
        const names = winner.alternatives.map(({ spanId }) => spanId);
        expect(new Set([winner.spanId, ...names]).size).toBe(names.length + 1);
        expect(names.length).toBeLessThanOrEqual(3);
      }),
    );
  });

  it('a tie between a step and none is none', () => {
    const one = { ...(fc.sample(vote, 50).find((drawn) => drawn !== null) as CriticalStep) };
    expect(countVotes([one, null], false)).toBeNull();
    expect(countVotes([one, null], true)?.agreement).toBe(1);
  });
});
