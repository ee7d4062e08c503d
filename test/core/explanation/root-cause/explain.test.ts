import { describe, expect, test } from 'vitest';
import { DEFAULT_OPTIONS, type DiagnosisOptions } from '../../../../core/diagnosis/options.ts';
import { type Diagnosis, diagnosisSchema } from '../../../../core/diagnosis/schema.ts';
import { makeTokenCounter } from '../../../../core/planning/tokens/make-token-counter.ts';
import type { Session } from '../../../../core/session/session.ts';
import { diagnose } from '../../../../core/stages/pipeline.ts';
import { type ScriptedEntry, type ScriptedReply, scriptedModel } from '../../../helpers/scripted-model.ts';
import { EXPLAINED, FOUND, refundSession } from '../../stages/a-session.ts';

const counter = makeTokenCounter();
const [finding] = FOUND.failures;
const [cause] = EXPLAINED.rootCauses;
const [step] = EXPLAINED.criticalSteps;
const TWO = {
  failures: [finding, { ...finding, span: 's1', category: 'incorrect-actions-category-clarification' }],
};

async function explained(
  replies: ScriptedReply[],
  more: { detected?: object; session?: Session; options?: Partial<DiagnosisOptions> } = {},
): Promise<Diagnosis> {
  const script: ScriptedEntry[] = [
    { purpose: 'analyze-chunks', reply: more.detected ?? FOUND },
    ...replies.map((reply, i) => ({ purpose: i === 0 ? 'root-cause' : 'repair', reply })),
  ];
  const diagnosis = await diagnose(
    more.session ?? refundSession(),
    { ...DEFAULT_OPTIONS, ...more.options },
    { model: scriptedModel(script), counter, clock: { now: () => 0 } },
  );
  expect(diagnosisSchema.parse(diagnosis)).toEqual(diagnosis);
  // The law: exactly one root cause for each failure, in the same order.
  expect(diagnosis.rootCauses.map((item) => item.failure_span_id)).toEqual(
    diagnosis.failures.map((item) => item.span_id),
  );
  return diagnosis;
}

const withCause = (change: object) => ({ ...EXPLAINED, rootCauses: [{ ...cause, ...change }] });
const withStep = (change: object) => ({ ...EXPLAINED, criticalSteps: [{ ...step, ...change }] });
const notes = (diagnosis: Diagnosis, stage: string) =>
  diagnosis.quarantined.filter((item) => item.stage === stage).map(({ reason }) => reason);

describe('exactly one root cause for each failure', () => {
  test('one is missing: filled by rule, and named as a gap', async () => {
    const diagnosis = await explained([EXPLAINED], { detected: TWO });
    expect(diagnosis.rootCauses).toMatchObject([
      { failure_span_id: 'span-4', causality: 'PRIMARY_FAILURE' },
      {
        failure_span_id: 'span-2',
        location: 'span-2',
        causality: 'UNCLEAR',
        propagation_impact: ['UNCLEAR'],
        root_cause_explanation: expect.stringContaining('The model gave no cause'),
        fix_recommendation: expect.stringMatching(/./),
      },
    ]);
    expect(diagnosis.coverage.gaps).toMatchObject([{ what: 'root causes', spanIds: ['span-2'] }]);
  });

  test('two for one failure: the first stands, impacts are united, the second is kept aside', async () => {
    const second = { ...cause, impact: ['STATE_CORRUPTION'], explanation: 'Something else.' };
    const diagnosis = await explained([{ ...EXPLAINED, rootCauses: [cause, second] }]);
    expect(diagnosis.rootCauses).toMatchObject([
      {
        propagation_impact: ['QUALITY_DEGRADATION', 'STATE_CORRUPTION'],
        root_cause_explanation: expect.stringContaining('another amount'),
      },
    ]);
    expect(notes(diagnosis, 'root-cause')).toEqual([expect.stringMatching(/^second root cause/)]);
  });

  test('one for a span that did not fail, one for an invented span: kept aside', async () => {
    const extra = [
      { ...cause, failure: 's0' },
      { ...cause, failure: 'zz9' },
    ];
    const diagnosis = await explained([{ ...EXPLAINED, rootCauses: [cause, ...extra, 'nonsense'] }]);
    expect(diagnosis.rootCauses).toHaveLength(1);
    expect(notes(diagnosis, 'root-cause')).toEqual([
      'root cause for a span that is not among the failures',
      'root cause: span id was not among the spans shown',
      'root cause is not an object',
    ]);
  });

  test('each recommendation once, with all the failures it answers', async () => {
    const both = [
      { ...cause, failure: 's1', fix: '  Have the agent repeat the amount from the tool  RESULT. ' },
      cause,
    ];
    const diagnosis = await explained([{ ...EXPLAINED, rootCauses: both }], { detected: TWO });
    expect(diagnosis.recommendations).toMatchObject([{ failureSpanIds: ['span-4', 'span-2'] }]);
  });
});

describe('causes come before effects', () => {
  test.each([
    ['after its failure', 's4', /comes after its effect/],
    ['an invented span', 'nowhere', /location of the cause: span id was not among/],
    ['missing', undefined, /location of the cause: no span id given/],
  ])('a location that is %s becomes the failing span, with a note', async (_, location, note) => {
    const diagnosis = await explained([withCause({ location })]);
    expect(diagnosis.rootCauses[0]?.location).toBe('span-4');
    expect(notes(diagnosis, 'root-cause')[0]).toMatch(note);
  });

  test('an earlier location stands', async () => {
    const diagnosis = await explained([withCause({ location: 's2' })]);
    expect(diagnosis.rootCauses[0]?.location).toBe('span-3');
    expect(diagnosis.quarantined).toEqual([]);
  });

  test('an agent span may fail because of its child, which comes after it', async () => {
    const session = refundSession();
    const [root, child] = session.traces[0]?.spans ?? [];
    if (child !== undefined && root !== undefined) child.parentSpanId = root.spanId;
    const diagnosis = await explained(
      [
        {
          ...EXPLAINED,
          criticalSteps: [{ ...step, span: 's0' }],
          rootCauses: [{ ...cause, failure: 's0', location: 's1' }],
        },
      ],
      { session, detected: { failures: [{ ...finding, span: 's0' }] } },
    );
    expect(diagnosis.rootCauses[0]?.location).toBe('span-2');
  });
});

describe('the critical step', () => {
  test('its cause is PRIMARY, whatever was said', async () => {
    const diagnosis = await explained([withCause({ causality: 'TERTIARY_FAILURE' })]);
    expect(diagnosis.rootCauses[0]?.causality).toBe('PRIMARY_FAILURE');
    expect(notes(diagnosis, 'root-cause')[0]).toMatch(
      /TERTIARY_FAILURE of the critical step read as PRIMARY/,
    );
  });

  test('on a span that detection had not listed becomes a failure with its cause', async () => {
    const diagnosis = await explained([
      {
        ...EXPLAINED,
        criticalSteps: [{ ...step, span: 's1', category: 'underspecified-intent' }],
        rootCauses: [cause, { ...cause, failure: 's1', location: 's1' }],
      },
    ]);
    expect(diagnosis.failures.map((item) => [item.span_id, item.category])).toEqual([
      ['span-2', ['incorrect-actions-category-clarification']],
      ['span-4', [finding?.category]],
    ]);
    expect(diagnosis.rootCauses[0]).toMatchObject({
      failure_span_id: 'span-2',
      causality: 'PRIMARY_FAILURE',
    });
  });

  test('on an unknown span: kept aside, the next candidate stands, and a gap says so', async () => {
    const diagnosis = await explained([{ ...EXPLAINED, criticalSteps: [{ ...step, span: 'zz1' }, step] }]);
    expect(diagnosis.criticalStep?.spanId).toBe('span-4');
    expect(notes(diagnosis, 'judge')).toEqual(['critical step: span id was not among the spans shown']);
    expect(diagnosis.coverage.gaps[0]?.what).toBe('a step that the judge named');
  });

  test('with up to three alternatives, each span once', async () => {
    const candidates = ['s3', 's2', 's3', 's1', 's0', 's4'].map((span) => ({ ...step, span }));
    const diagnosis = await explained([{ ...EXPLAINED, criticalSteps: candidates }]);
    expect(diagnosis.criticalStep?.alternatives.map(({ spanId }) => spanId)).toEqual([
      'span-3',
      'span-2',
      'span-1',
    ]);
  });

  test.each([
    ['Misinterpretation of Tool Output / Handoff', 'misinterpretation', 0],
    ['SYSTEM_FAILURE', 'system-failure', 0],
    ['bad luck', 'inconclusive', 1],
  ])('category "%s" is read as %s', async (said, category, count) => {
    const diagnosis = await explained([withStep({ category: said })]);
    expect(diagnosis.criticalStep?.category).toBe(category);
    expect(notes(diagnosis, 'judge')).toHaveLength(count);
  });

  test('evidence on an unknown span is kept aside; a false quote is not shown as one', async () => {
    const evidence = [
      { span: 'zz1', quote: 'x', note: 'y' },
      { span: 's2', quote: 'never said', note: 'look' },
    ];
    const diagnosis = await explained([withStep({ evidence })]);
    expect(diagnosis.criticalStep?.evidence).toEqual([
      { spanId: 'span-3', quote: '', note: 'look [quoted as "never said", not found word for word]' },
    ]);
    expect(notes(diagnosis, 'judge')).toEqual(['evidence: span id was not among the spans shown']);
  });

  test('a run with an unrecovered failure is not called a complete success', async () => {
    const diagnosis = await explained([{ ...EXPLAINED, completion: 'COMPLETE_SUCCESS' }]);
    expect(diagnosis.completionStatus).toBe('UNKNOWN');
  });

  test('two agents at fault: the step carries the agent whose span it is', async () => {
    const session = refundSession();
    const spans = session.traces[0]?.spans ?? [];
    for (const [i, span] of spans.entries()) span.agent = i < 3 ? 'planner' : 'payer';
    const diagnosis = await explained([{ ...EXPLAINED, criticalSteps: [step, { ...step, span: 's1' }] }], {
      session,
    });
    expect(diagnosis.criticalStep?.agent).toBe('payer');
    expect(diagnosis.criticalStep?.alternatives[0]?.agent).toBe('planner');
  });
});

describe('answers that are not as asked', () => {
  const fields: [string, object, Partial<Diagnosis['rootCauses'][number]>][] = [
    ['unknown causality', { causality: 'THE_WORST' }, { causality: 'PRIMARY_FAILURE' }],
    ['causality by its first word', { causality: 'primary' }, { causality: 'PRIMARY_FAILURE' }],
    ['impact as one word', { impact: 'state corruption' }, { propagation_impact: ['STATE_CORRUPTION'] }],
    ['unknown impact', { impact: ['BOOM'] }, { propagation_impact: ['UNCLEAR'] }],
    ['no timing', { timing: null }, { failure_detection_timing: 'SILENT_UNDETECTED' }],
    ['no explanation', { explanation: '' }, { root_cause_explanation: '[the model gave no explanation]' }],
    [
      'no fix',
      { fix: '' },
      { fix_type: 'TOOL_DESCRIPTION_FIX', fix_recommendation: expect.stringMatching(/fields/) as string },
    ],
  ];
  test.each(fields)('%s', async (_, change, want) => {
    const diagnosis = await explained([withCause(change)]);
    expect(diagnosis.rootCauses[0]).toMatchObject(want);
  });

  test('field names of the Strands detectors are read', async () => {
    const diagnosis = await explained([
      {
        ...EXPLAINED,
        rootCauses: [
          {
            failure_span_id: 's3',
            location: 's2',
            causality: 'SECONDARY_FAILURE',
            propagation_impact: ['INCORRECT_PATH'],
            failure_detection_timing: 'ONLY_AT_TASK_END',
            root_cause_explanation: 'why',
            fix_type: 'OTHERS',
            fix_recommendation: 'do it',
          },
        ],
        criticalSteps: [],
      },
    ]);
    expect(diagnosis.rootCauses[0]).toMatchObject({
      location: 'span-3',
      causality: 'SECONDARY_FAILURE',
      failure_detection_timing: 'ONLY_AT_TASK_END',
      fix_recommendation: 'do it',
    });
  });

  test('unusable, then good', async () => {
    const diagnosis = await explained(['I think it went fine.', EXPLAINED]);
    expect(diagnosis.outcome).toBe('FAILED');
    expect(diagnosis.criticalStep?.spanId).toBe('span-4');
  });

  test('half of it twice: what is there is used', async () => {
    const half = { criticalSteps: EXPLAINED.criticalSteps };
    const diagnosis = await explained([half, half]);
    expect(diagnosis.criticalStep?.spanId).toBe('span-4');
    expect(diagnosis.rootCauses[0]?.root_cause_explanation).toContain('The model gave no cause');
  });

  test('unusable twice: failures stand, causes by rule, partial', async () => {
    const diagnosis = await explained(['no', 'no']);
    expect(diagnosis).toMatchObject({
      outcome: 'UNKNOWN',
      outcomeReason: expect.stringMatching(/^model-output-invalid: /),
      failures: [{ span_id: 'span-4' }],
      rootCauses: [{ causality: 'UNCLEAR' }],
      usage: { calls: 3 },
    });
  });
});
