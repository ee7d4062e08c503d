import { describe, expect, it } from 'vitest';
import { type BaselineRun, baselines, uniformRandom } from '../../bench/accuracy/baselines.ts';
import { agreement, type Case, evaluate, falseAlarms } from '../../bench/accuracy/metrics.ts';
import type { PredictedStep } from '../../bench/accuracy/predictor.ts';
import { rateOf } from '../../bench/accuracy/wilson.ts';
import type { Gold } from '../../bench/datasets/labelled-run.ts';

/*
 * Three runs, small enough for a pencil:
 *   A  10 steps (0–9), even ones Ann's; failures guardrail @2, invention @4 (root, Ann), misinterpretation @8
 *   B   5 steps (0–4), step 3 Bob's;    failure  guardrail @0 (root, Bob)
 *   C   4 steps (0–3), nobody's;        label without category, Ann @9: beyond the end of the run
 */
const a: Gold = {
  critical: { position: 4, category: 'invention', agent: 'Ann' },
  failures: [
    { position: 2, category: 'guardrail', agent: 'Bob' },
    { position: 4, category: 'invention', agent: 'Ann' },
    { position: 8, category: 'misinterpretation', agent: 'Ann' },
  ],
};
const bRoot = { position: 0, category: 'guardrail', agent: 'Bob' } as const;
const b: Gold = { critical: bRoot, failures: [bRoot] };
const cRoot = { position: 9, category: null, agent: 'Ann' } as const;
const c: Gold = { critical: cRoot, failures: [cRoot] };

const steps = (n: number, agent: (position: number) => string | null): BaselineRun['steps'] =>
  Array.from({ length: n }, (_, position) => ({
    position,
    agent: agent(position),
    kind: agent(position) === null ? ('message' as const) : ('inference' as const),
  }));
const runs: BaselineRun[] = [
  { gold: a, steps: steps(10, (position) => (position % 2 === 0 ? 'Ann' : null)) },
  { gold: b, steps: steps(5, (position) => (position === 3 ? 'Bob' : null)) },
  { gold: c, steps: steps(4, () => null) },
];

const step = (
  position: number,
  category: PredictedStep['category'],
  agent: string | null,
): PredictedStep => ({
  position,
  category,
  agent,
  confidence: 0.9,
});
const cases = (predict: (gold: Gold) => PredictedStep | null): Case[] =>
  runs.map(({ gold, steps: own }) => ({
    gold,
    prediction: { critical: predict(gold), alternatives: [] },
    lastPosition: own.length - 1,
  }));
const hits = (list: readonly Case[]): number[] => evaluate(list).within.map(({ rate }) => rate.hits);

describe('a perfect predictor', () => {
  const metrics = evaluate(
    cases(({ critical }) => step(critical.position, critical.category ?? 'inconclusive', critical.agent)),
  );
  it('hits every step, agent and root category', () => {
    expect(metrics.within.map(({ rate }) => [rate.hits, rate.n])).toEqual([
      [3, 3],
      [3, 3],
      [3, 3],
      [3, 3],
    ]);
    expect(metrics.meanDistance).toBe(0);
    expect([metrics.agent.hits, metrics.agent.n]).toEqual([3, 3]);
    expect([metrics.category.critical.hits, metrics.category.critical.n]).toEqual([2, 2]);
    expect(metrics.category.any.hits).toBe(2);
  });
  it('still misses the first and last failure of A, which have other categories', () => {
    expect(metrics.category.earliest.hits).toBe(1);
    expect(metrics.category.terminal.hits).toBe(1);
  });
  it('has precision and recall 1 in both labelled categories', () => {
    expect(metrics.perCategory).toEqual([
      { category: 'guardrail', gold: 1, predicted: 1, hits: 1, precision: 1, recall: 1 },
      { category: 'invention', gold: 1, predicted: 1, hits: 1, precision: 1, recall: 1 },
    ]);
  });
});

describe('an absent predictor', () => {
  const metrics = evaluate(cases(() => null));
  it('is wrong in every run and stays in every denominator', () => {
    expect(metrics.answered).toBe(0);
    expect(metrics.within.map(({ rate }) => [rate.hits, rate.n])).toEqual([
      [0, 3],
      [0, 3],
      [0, 3],
      [0, 3],
    ]);
    expect([metrics.category.critical.hits, metrics.category.critical.n]).toEqual([0, 2]);
    expect([metrics.agent.hits, metrics.agent.n]).toEqual([0, 3]);
  });
  it('counts with the farthest step of each run: (5 + 4 + 9) / 3', () => {
    expect(metrics.meanDistance).toBe(6);
  });
  it('scores the same when there is no prediction object at all', () => {
    expect(evaluate(cases(() => null).map((entry) => ({ ...entry, prediction: null })))).toEqual(metrics);
  });
});

describe('a constant predictor: step 4, guardrail, "ann"', () => {
  const metrics = evaluate(cases(() => step(4, 'guardrail', 'ann')));
  it('has distances 0, 4 and 5', () => {
    expect(hits(cases(() => step(4, 'guardrail', 'ann')))).toEqual([1, 1, 1, 3]);
    expect(metrics.meanDistance).toBe(3);
  });
  it('has the category of B, and one of those of A', () => {
    const { critical, any, earliest, terminal } = metrics.category;
    expect([critical.hits, any.hits, earliest.hits, terminal.hits]).toEqual([1, 2, 2, 1]);
  });
  it('names the agent of A and C without regard to case', () => {
    expect(metrics.agent.hits).toBe(2);
  });
  it('guardrail has precision 1/2 and recall 1, invention was never predicted', () => {
    expect(metrics.perCategory).toEqual([
      { category: 'guardrail', gold: 1, predicted: 2, hits: 1, precision: 0.5, recall: 1 },
      { category: 'invention', gold: 1, predicted: 0, hits: 0, precision: null, recall: 0 },
    ]);
  });
});

describe('a uniform random predictor, by expectation', () => {
  const random = uniformRandom(runs);
  it('hits 1/10 + 1/5 + 0 exactly, and more with tolerance', () => {
    const expected = [0.1 + 0.2, 0.3 + 0.4, 0.7 + 0.8, 1 + 1];
    random.within.forEach(({ rate }, index) => {
      expect(rate.hits).toBeCloseTo(expected[index]!, 12);
      expect(rate.n).toBe(3);
    });
  });
  it('is 2.5, 2 and 7.5 steps off on average', () => {
    expect(random.meanDistance).toBeCloseTo(4, 12);
  });
  it('has the category in 1 of 10 labelled runs and the agent as often as it acts', () => {
    expect(random.categoryCritical.share).toBeCloseTo(0.1, 12);
    expect(random.agent.hits).toBeCloseTo(0.5 + 0.2 + 0, 12);
  });
});

describe('constant baselines', () => {
  const byName = new Map(baselines(runs).map((baseline) => [baseline.name, baseline]));
  it('first agent step is 0, 3 and, where no agent is known, the first step', () => {
    expect(byName.get('first agent step')?.exact.hits).toBe(0);
    expect(byName.get('first agent step')?.meanDistance).toBeCloseTo((4 + 3 + 9) / 3, 12);
  });
  it('last agent step is 8, 3 and 3', () => {
    expect(byName.get('last agent step')?.meanDistance).toBeCloseTo((4 + 3 + 6) / 3, 12);
  });
  it('the best constant is chosen on these runs, the smallest on a tie', () => {
    expect(byName.get('best constant (step 0)')?.exact.hits).toBe(1);
  });
});

it('the third candidate counts for "in first three", the fourth does not', () => {
  const [first] = cases(() => null);
  const others = [step(1, 'invention', null), step(2, 'invention', null)];
  const at = (...alternatives: PredictedStep[]): number =>
    evaluate([{ ...first!, prediction: { critical: step(0, 'invention', null), alternatives } }]).topThree
      .hits;
  expect(at(others[0]!, step(4, 'invention', null))).toBe(1);
  expect(at(...others, step(4, 'invention', null))).toBe(0);
});

it('a false alarm needs medium confidence; an absent answer is none and still counts as a run', () => {
  const alarm = (confidence: number) => ({ critical: { ...step(1, 'invention', null), confidence } });
  const rate = falseAlarms([{ critical: null }, null, alarm(0.5), alarm(0.75), alarm(0.9)]);
  expect([rate.hits, rate.n]).toEqual([2, 5]);
});

it('agreement is the share of equal pairs, and nothing for single runs', () => {
  const list = [step(4, 'invention', null), step(4, 'guardrail', null), step(5, 'invention', null)];
  expect(agreement([list])).toEqual({ repeats: 3, step: 1 / 3, category: 1 / 3 });
  expect(agreement([[null, null]])).toEqual({ repeats: 2, step: 1, category: 1 });
  expect(agreement([[list[0]!]])).toBeNull();
});

it('Wilson intervals are those of the tables', () => {
  expect(rateOf(5, 10).low).toBeCloseTo(0.2366, 4);
  expect(rateOf(5, 10).high).toBeCloseTo(0.7634, 4);
  expect(rateOf(0, 10).low).toBe(0);
  expect(rateOf(0, 10).high).toBeCloseTo(0.2775, 4);
  expect([rateOf(0, 0).low, rateOf(0, 0).high]).toEqual([0, 1]);
});
