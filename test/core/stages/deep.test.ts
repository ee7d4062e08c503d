import { describe, expect, test } from 'vitest';
import { noneModel } from '../../../adapters/models/none.ts';
import { failuresFromConstraints } from '../../../core/constraints/failures-from-constraints.ts';
import { constraintSchema } from '../../../core/diagnosis/constraint.ts';
import { DEFAULT_OPTIONS, type DiagnosisOptions } from '../../../core/diagnosis/options.ts';
import { diagnosisSchema } from '../../../core/diagnosis/schema.ts';
import { BudgetExhaustedError } from '../../../core/errors/errors.ts';
import type { Model } from '../../../core/model/port.ts';
import { makeTokenCounter } from '../../../core/planning/tokens/make-token-counter.ts';
import { verdict } from '../../../core/report-build/verdict.ts';
import { diagnose } from '../../../core/stages/pipeline.ts';
import { scriptedModel } from '../../helpers/scripted-model.ts';
import { EXPLAINED, FOUND, NOTHING, refundSession } from './a-session.ts';

const counter = makeTokenCounter();
const run = (model: Model, options: Partial<DiagnosisOptions>) =>
  diagnose(refundSession(), { ...DEFAULT_OPTIONS, ...options }, { model, counter, clock: { now: () => 0 } });

/** Read by program: what the agent says it refunded must be the price that was looked up. */
const SAME_AMOUNT = {
  name: 'refund-is-the-price',
  targets: ['misinterpretation'],
  kind: 'postcondition',
  each: 'step',
  guard: 'step.role == "assistant" && step.text.contains("refunded")',
  assertion:
    'numbersIn(step.text).all(n, earlier.exists(e, e.results.exists(r, n in pick(r.json, "price"))))',
  hint: 'The amount that is refunded is the price of the booking.',
  severity: 'high',
} as const;
const DYNAMIC = { ...SAME_AMOUNT, rubric: [], spans: ['s3'] };

describe('depth deep', () => {
  test('a violation reaches the log, the judge and the diagnosis', async () => {
    const model = scriptedModel([
      { purpose: 'analyze-chunks', reply: FOUND },
      { purpose: 'constraints-dynamic', reply: { constraints: [DYNAMIC] } },
      { purpose: 'root-cause', contains: 'constraint refund-is-the-price violated (high)', reply: EXPLAINED },
    ]);
    const diagnosis = await run(model, { depth: 'deep' });
    model.assertDone();
    expect(diagnosisSchema.parse(diagnosis)).toEqual(diagnosis);
    expect(diagnosis.validationLog.find((entry) => entry.constraint === 'refund-is-the-price')).toMatchObject(
      {
        origin: 'dynamic',
        verdict: 'violated',
        spanId: 'span-4',
        evidence: [expect.objectContaining({ quote: 'I have refunded 210 dollars to your card.' })],
      },
    );
    expect(Object.keys(diagnosis.usage.byStage)).toContain('constraints-dynamic');
    expect(diagnosis.outcome).toBe('FAILED');
  });

  test('a violation alone is put to the judge, which may see no failure in it', async () => {
    const model = scriptedModel([
      { purpose: 'analyze-chunks', reply: NOTHING },
      { purpose: 'constraints-dynamic', reply: { constraints: [DYNAMIC] } },
      {
        purpose: 'root-cause',
        reply: { analysis: 'fine', criticalSteps: [], rootCauses: [], completion: 'COMPLETE_SUCCESS' },
      },
    ]);
    const diagnosis = await run(model, { depth: 'deep' });
    model.assertDone();
    expect(diagnosis).toMatchObject({ outcome: 'CLEAN', failures: [], criticalStep: null });
    expect(diagnosis.validationLog.some((entry) => entry.verdict === 'violated')).toBe(true);
  });

  test('a budget that ends in the middle leaves a gap, and the outcome says so', async () => {
    const model = scriptedModel([
      { purpose: 'analyze-chunks', reply: NOTHING },
      { purpose: 'constraints-dynamic', reply: new BudgetExhaustedError('spent') },
    ]);
    const diagnosis = await run(model, { depth: 'deep' });
    expect([diagnosis.outcome, diagnosis.coverage.state]).toEqual(['UNKNOWN', 'PARTIAL']);
    expect(diagnosis.coverage.gaps).toEqual([
      expect.objectContaining({
        what: 'constraints that a model writes',
        reason: expect.stringMatching(/budget/i),
      }),
    ]);
    expect(diagnosis.validationLog.length).toBeGreaterThan(0);
  });
});

describe("the team's own constraints need no model", () => {
  const options = { depth: 'checks', constraints: [constraintSchema.parse(SAME_AMOUNT)] } as const;

  test('a broken one is a failure, the critical step, and the exit code', async () => {
    const diagnosis = await run(noneModel, options);
    expect(diagnosis).toMatchObject({
      failures: [
        {
          span_id: 'span-4',
          category: ['hallucination-category-hall-misunderstand'],
          confidence: [0.9],
          source: [{ kind: 'constraint', ref: 'refund-is-the-price' }],
        },
      ],
      criticalStep: { spanId: 'span-4', category: 'misinterpretation', judgedBy: 'checks' },
      rootCauses: [{ failure_span_id: 'span-4', causality: 'PRIMARY_FAILURE' }],
    });
    expect(verdict(diagnosis).decision).toBe('fail');
  });

  test('one named like a check makes no failures of what the check found', () => {
    const constraint = constraintSchema.parse({ ...SAME_AMOUNT, name: 'blocked' });
    const entry = {
      constraint: 'blocked',
      spanId: 'span-4',
      position: 3,
      verdict: 'violated',
      reason: 'r',
      severity: 'high',
      healthyFiringRate: null,
    } as const;
    const made = (origin: 'built-in' | 'user' | 'dynamic') =>
      failuresFromConstraints([constraint], [{ ...entry, origin, evidence: [] }]).length;
    expect([made('user'), made('built-in'), made('dynamic')]).toEqual([1, 0, 0]);
  });

  test('one of low severity is in the log only', async () => {
    const low = constraintSchema.parse({ ...SAME_AMOUNT, severity: 'low' });
    const diagnosis = await run(noneModel, { ...options, constraints: [low] });
    expect(diagnosis.failures).toEqual([]);
    expect(
      diagnosis.validationLog.some(({ origin, verdict: is }) => origin === 'user' && is === 'violated'),
    ).toBe(true);
  });
});

describe('a critical step judged apart', () => {
  const judged = (span: string) => ({
    analysis: 'a',
    criticalSteps: [{ ...EXPLAINED.criticalSteps[0], span }],
  });

  test('votes decide, the explanation takes it over, and its cause is primary', async () => {
    const model = scriptedModel([
      { purpose: 'analyze-chunks', reply: FOUND },
      { purpose: 'judge', reply: judged('s3') },
      { purpose: 'judge', reply: judged('s1') },
      { purpose: 'judge', reply: judged('s3') },
      {
        purpose: 'root-cause',
        contains: 'The critical step has been judged apart',
        reply: {
          ...EXPLAINED,
          criticalSteps: [{ ...EXPLAINED.criticalSteps[0], span: 's0' }],
          rootCauses: EXPLAINED.rootCauses.map((cause) => ({ ...cause, causality: 'TERTIARY_FAILURE' })),
        },
      },
    ]);
    const diagnosis = await run(model, { votes: 3 });
    model.assertDone();
    expect(diagnosis.criticalStep).toMatchObject({ spanId: 'span-4', agreement: 2 / 3 });
    expect(diagnosis.rootCauses).toMatchObject([{ failure_span_id: 'span-4', causality: 'PRIMARY_FAILURE' }]);
  });

  test('another protocol is asked by its own questions', async () => {
    const model = scriptedModel([
      { purpose: 'analyze-chunks', reply: FOUND },
      {
        purpose: 'judge-category',
        reply: { analysis: 'a', kinds: [{ category: 'misinterpretation', confidence: 'high', reason: 'r' }] },
      },
      { purpose: 'judge-step', reply: judged('s3') },
      { purpose: 'root-cause', reply: EXPLAINED },
    ]);
    const diagnosis = await run(model, { protocol: 'category-then-step' });
    model.assertDone();
    expect(diagnosis.criticalStep).toMatchObject({ spanId: 'span-4', agreement: null });
  });

  test('when no vote can be used the explanation judges, and the gap is named', async () => {
    const model = scriptedModel([
      { purpose: 'analyze-chunks', reply: FOUND },
      { purpose: 'judge', reply: 'no', times: 2 },
      { purpose: 'repair', reply: 'no', times: 2 },
      { purpose: 'root-cause', reply: EXPLAINED },
    ]);
    const diagnosis = await run(model, { votes: 2 });
    expect(diagnosis.criticalStep).toMatchObject({ spanId: 'span-4', agreement: null });
    expect(diagnosis.coverage.gaps.map(({ what }) => what)).toEqual([
      'a vote of the judge',
      'a vote of the judge',
    ]);
  });

  test('expected actions say where, the model says what kind', async () => {
    const model = scriptedModel([
      { purpose: 'analyze-chunks', reply: FOUND },
      { purpose: 'root-cause', contains: 'decided by the expected actions', reply: EXPLAINED },
    ]);
    const diagnosis = await run(model, { expectedActions: [{ name: 'refund', arguments: { amount: 120 } }] });
    model.assertDone();
    expect(diagnosis.criticalStep).toMatchObject({
      spanId: 'span-4',
      category: 'misinterpretation',
      judgedBy: 'reference',
    });
  });

  test('expected actions decide without a model, under their own label', async () => {
    const expectedActions = [
      { name: 'get_booking', arguments: { id: 'B-17' } },
      { name: 'refund', arguments: { amount: 120 } },
    ];
    const diagnosis = await run(noneModel, { depth: 'checks', expectedActions });
    expect(diagnosis).toMatchObject({
      criticalStep: { spanId: 'span-4', judgedBy: 'reference' },
      failures: [{ span_id: 'span-4', source: [{ kind: 'user', ref: 'expected-actions' }] }],
    });
  });
});
