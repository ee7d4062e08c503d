import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findingsOf } from '../../../core/detection/salvage.ts';
import { DEFAULT_OPTIONS } from '../../../core/diagnosis/options.ts';
import { type Diagnosis, diagnosisSchema } from '../../../core/diagnosis/schema.ts';
import { makeTokenCounter } from '../../../core/planning/tokens/make-token-counter.ts';
import type { Session } from '../../../core/session/session.ts';
import { diagnose } from '../../../core/stages/pipeline.ts';
import { toTrajectory } from '../../../core/trajectory/to-trajectory.ts';
import { agent, inference, message, said, session, tool, use } from '../../helpers/build-session.ts';
import { scriptedModel } from '../../helpers/scripted-model.ts';
import { EXPLAINED, FOUND, refundSession } from './a-session.ts';

/** What must hold of every diagnosis, whatever a model says. */
function expectLaws(diagnosis: Diagnosis, given: Session): void {
  expect(diagnosisSchema.parse(diagnosis)).toEqual(diagnosis);
  const known = new Set(given.traces.flatMap(({ spans }) => spans.map(({ spanId }) => spanId)));
  const failing = diagnosis.failures.map(({ span_id }) => span_id);
  expect(new Set(failing).size).toBe(failing.length);
  expect(diagnosis.rootCauses.map((cause) => cause.failure_span_id)).toEqual(failing);
  const named = [
    ...failing,
    ...diagnosis.rootCauses.map(({ location }) => location),
    ...diagnosis.spans.map(({ spanId }) => spanId),
    ...(diagnosis.criticalStep?.evidence.map(({ spanId }) => spanId) ?? []),
    ...(diagnosis.criticalStep?.alternatives.map(({ spanId }) => spanId) ?? []),
  ];
  for (const spanId of named) expect(known.has(spanId)).toBe(true);
  const { stepBySpan } = toTrajectory(given);
  for (const cause of diagnosis.rootCauses) {
    const [from, to] = [stepBySpan.get(cause.location), stepBySpan.get(cause.failure_span_id)];
    expect(from?.index ?? 0).toBeLessThanOrEqual(to?.index ?? -1);
  }
  const critical = diagnosis.criticalStep;
  if (critical !== null) {
    const cause = diagnosis.rootCauses.find((item) => item.failure_span_id === critical.spanId);
    expect(cause?.causality).toBe('PRIMARY_FAILURE');
    expect(critical.alternatives.map(({ spanId }) => spanId)).not.toContain(critical.spanId);
  }
  const said = diagnosis.recommendations.map(({ fixType, text }) => `${fixType} ${text}`);
  expect(new Set(said).size).toBe(said.length);
}

const span = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('s0', 's1', 's2', 's3', 's4', '[s3]', 'S1', '@s2', 'span-3') },
  { weight: 1, arbitrary: fc.constantFrom('s99', 'span', '', '__proto__', 'constructor') },
);
const junk = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant(undefined));
/** Mostly what was asked for, at times anything at all. */
const mostly = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 8, arbitrary }, { weight: 1, arbitrary: junk });
const words = fc.constantFrom('low', 'medium', 'high', 'HIGH', 'certain', '0.8');
const finding = mostly(
  fc.record({
    span: mostly(span),
    category: mostly(
      fc.constantFrom(
        'execution-error-category-timeout',
        'hall-usage',
        'other',
        'made-up',
        'toString',
        '__proto__',
      ),
    ),
    confidence: mostly(words),
    quote: mostly(fc.constantFrom('210 dollars', 'never said', '')),
    why: mostly(fc.constantFrom('because [s2]', '')),
  }),
);
const detected = fc.record({ failures: fc.array(finding, { maxLength: 5 }) });
const explained = fc.record({
  analysis: mostly(fc.string({ maxLength: 5 })),
  criticalSteps: fc.array(
    mostly(
      fc.record({
        span: mostly(span),
        category: mostly(fc.constantFrom('invention', 'System Failure', 'nonsense', 'constructor')),
        confidence: mostly(words),
        reason: mostly(fc.constant('because')),
        evidence: mostly(
          fc.array(mostly(fc.record({ span, quote: fc.constant('x'), note: junk })), { maxLength: 2 }),
        ),
      }),
    ),
    { maxLength: 5 },
  ),
  rootCauses: fc.array(
    mostly(
      fc.record({
        failure: mostly(span),
        location: mostly(span),
        causality: mostly(fc.constantFrom('PRIMARY_FAILURE', 'secondary', 'toString')),
        impact: mostly(
          fc.array(fc.constantFrom('TASK_TERMINATION', 'NO_PROPAGATION', 'BOOM'), { maxLength: 3 }),
        ),
        timing: mostly(fc.constantFrom('ONLY_AT_TASK_END', 'never')),
        explanation: mostly(fc.constant('why')),
        fixType: mostly(fc.constantFrom('OTHERS', 'FIX_IT')),
        fix: mostly(fc.constantFrom('repair', 'Repair', 'repair')),
      }),
    ),
    { maxLength: 5 },
  ),
  completion: mostly(fc.constantFrom('COMPLETE_SUCCESS', 'COMPLETE_FAILURE', 'maybe')),
});

const counter = makeTokenCounter();
const clock = { now: () => 0 };

describe('laws of a diagnosis', () => {
  test('hold whatever the model answers', async () => {
    await fc.assert(
      fc.asyncProperty(detected, explained, fc.boolean(), async (findings, explanation, assumeFailed) => {
        const given = refundSession();
        const model = scriptedModel([
          { purpose: 'analyze-chunks', reply: findings },
          { purpose: 'root-cause', reply: explanation },
          { purpose: 'repair', reply: explanation, times: 2 },
        ]);
        const diagnosis = await diagnose(
          given,
          { ...DEFAULT_OPTIONS, assumeFailed },
          { model, counter, clock },
        );
        expectLaws(diagnosis, given);
        // Nothing disappears: what the model reported is a failure, or lies in quarantine with a gap.
        const reported = findingsOf(JSON.parse(JSON.stringify(findings))) ?? [];
        if (diagnosis.outcome === 'CLEAN') expect(reported).toEqual([]);
        if (reported.length > 0) {
          expect(diagnosis.failures.length + diagnosis.quarantined.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 300 },
    );
  });

  const drafts = fc.array(
    fc.oneof(
      fc.string({ maxLength: 8 }).map((text) => said(message('user', text))),
      fc
        .tuple(fc.string({ maxLength: 8 }), fc.constantFrom('search', 'pay'))
        .map(([text, name]) => inference([], [message('assistant', text, use('c1', name, { q: text }))])),
      fc
        .tuple(fc.constantFrom('Error: 404 not found', '{"ok":true}', '', 'timeout'), fc.boolean())
        .map(([content, failed]) =>
          tool('c1', 'search', { q: 'x' }, content, {
            status: failed ? 'error' : 'unset',
            errors: failed ? [{ source: 'exception', message: content }] : [],
          }),
        ),
      fc.string({ maxLength: 5 }).map((text) => agent(text, null)),
    ),
    { maxLength: 12 },
  );

  test('hold without a model, and such a diagnosis is never clean', async () => {
    await fc.assert(
      fc.asyncProperty(drafts, fc.boolean(), async (list, assumeFailed) => {
        const given = session(list);
        const model = scriptedModel([], { spec: 'none' });
        const diagnosis = await diagnose(
          given,
          { ...DEFAULT_OPTIONS, assumeFailed },
          { model, counter, clock },
        );
        expectLaws(diagnosis, given);
        expect(diagnosis.coverage.state).not.toBe('COMPLETE');
        expect(diagnosis.outcome).toBe(diagnosis.criticalStep === null ? 'UNKNOWN' : 'FAILED');
        expect(diagnosis.usage.calls).toBe(0);
        expect(diagnosis.coverage.spansAnalysed).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});

describe('without a model', () => {
  const failing = () =>
    session([
      said(message('user', 'Pay invoice 12.')),
      inference([], [message('assistant', 'Paying.', use('c1', 'pay', { id: 12 }))]),
      tool('c1', 'pay', { id: 12 }, 'Service Unavailable', {
        status: 'error',
        errors: [{ source: 'http', message: 'Service Unavailable', code: 503 }],
      }),
    ]);

  test('an explicit error becomes a failure with a cause by rule, the usual fix, and a critical step', async () => {
    const model = scriptedModel([], { spec: 'none' });
    const diagnosis = await diagnose(failing(), DEFAULT_OPTIONS, { model, counter, clock });
    expect(diagnosis).toMatchObject({
      outcome: 'FAILED',
      coverage: { state: 'PARTIAL' },
      failures: [
        {
          span_id: 'span-3',
          recovered: 'no',
          effect: 'goal-lost',
          // The error, and that the session stops right after it.
          category: [
            'execution-error-category-service-errors',
            'orchestration-related-errors-category-premature-termination',
          ],
          source: [{ kind: 'check' }, { kind: 'check' }],
        },
      ],
      criticalStep: { spanId: 'span-3', category: 'system-failure', judgedBy: 'checks' },
      rootCauses: [
        {
          location: 'span-3',
          causality: 'PRIMARY_FAILURE',
          propagation_impact: ['UNCLEAR'],
          failure_detection_timing: 'IMMEDIATELY_AT_OCCURRENCE',
          root_cause_explanation: expect.stringContaining('No model looked for the cause'),
          fix_recommendation: expect.stringContaining('Retry'),
          source: { kind: 'check' },
        },
      ],
      completionStatus: 'UNKNOWN',
    });
    expect(diagnosis.coverage.gaps.map(({ reason }) => reason)).toEqual([
      'no-model: the model is "none"',
      'no-model: the model is "none"',
    ]);
  });

  test('check findings stand beside those of the model', async () => {
    const model = scriptedModel([
      { failures: [{ ...FOUND.failures[0], span: 's1', quote: 'Paying.' }] },
      { ...EXPLAINED, criticalSteps: [], rootCauses: [] },
    ]);
    const diagnosis = await diagnose(failing(), DEFAULT_OPTIONS, { model, counter, clock });
    expect(diagnosis.failures.map((item) => [item.span_id, item.source[0]?.kind])).toEqual([
      ['span-2', 'model'],
      ['span-3', 'check'],
    ]);
    // The judge was told of the check.
    expect(model.requests[1]?.user[1]?.text).toContain('check explicit-error');
  });
});
