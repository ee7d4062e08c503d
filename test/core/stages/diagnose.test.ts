import { describe, expect, test } from 'vitest';
import { DEFAULT_OPTIONS, type DiagnosisOptions } from '../../../core/diagnosis/options.ts';
import { diagnosisSchema } from '../../../core/diagnosis/schema.ts';
import { ModelAccessError, ModelThrottledError } from '../../../core/errors/errors.ts';
import type { Model } from '../../../core/model/port.ts';
import { makeTokenCounter } from '../../../core/planning/tokens/make-token-counter.ts';
import { verdict } from '../../../core/report-build/verdict.ts';
import type { Session } from '../../../core/session/session.ts';
import { diagnose, type Progress } from '../../../core/stages/pipeline.ts';
import { message, said, session, tool } from '../../helpers/build-session.ts';
import { scriptedModel } from '../../helpers/scripted-model.ts';
import { EXPLAINED, FOUND, NOTHING, refundSession } from './a-session.ts';

const counter = makeTokenCounter();
const clock = { now: () => Date.UTC(2026, 2, 1) };
const run = (given: Session, model: Model, options: Partial<DiagnosisOptions> = {}) =>
  diagnose(given, { ...DEFAULT_OPTIONS, ...options }, { model, counter, clock });

describe('a session in, a diagnosis out', () => {
  test('failures found: span, category, cause, critical step and fix all name real spans', async () => {
    const model = scriptedModel([FOUND, EXPLAINED]);
    const diagnosis = await run(refundSession(), model);
    model.assertDone();
    expect(diagnosisSchema.parse(diagnosis)).toEqual(diagnosis);
    expect(diagnosis).toMatchObject({
      outcome: 'FAILED',
      outcomeReason: null,
      completionStatus: 'COMPLETE_FAILURE',
      coverage: { spansTotal: 5, spansAnalysed: 5, gaps: [] },
      failures: [
        {
          span_id: 'span-4',
          category: ['hallucination-category-hall-misunderstand'],
          confidence: [0.9],
          evidence: ['"I have refunded 210 dollars" — The tool said 120 at [span-3].'],
        },
      ],
      rootCauses: [
        {
          failure_span_id: 'span-4',
          location: 'span-4',
          causality: 'PRIMARY_FAILURE',
          root_cause_explanation: 'The agent stated another amount than [span-3] gave.',
        },
      ],
      criticalStep: {
        spanId: 'span-4',
        position: 3,
        category: 'misinterpretation',
        confidence: 0.9,
        reason: 'It reads 120 at [span-3] as 210.',
        evidence: [{ spanId: 'span-3', quote: '"price": 120' }],
        judgedBy: 'model',
      },
      recommendations: [{ fixType: 'SYSTEM_PROMPT_FIX', failureSpanIds: ['span-4'] }],
      quarantined: [],
    });
    expect(diagnosis.spans.map(({ spanId }) => spanId)).toEqual(['span-3', 'span-4']);
    expect(Object.keys(diagnosis.usage.byStage)).toEqual(['analyze-chunks', 'root-cause']);
    expect(diagnosis.provenance.calls.map((call) => call.promptVersion)).toEqual([
      'detect-2',
      'explain-2+judge-2',
    ]);
    expect(verdict(diagnosis).decision).toBe('fail');
  });

  test('nothing found with full coverage is clean, and the judge is not paid', async () => {
    const model = scriptedModel([NOTHING]);
    const diagnosis = await run(refundSession(), model);
    model.assertDone();
    expect(diagnosis).toMatchObject({ outcome: 'CLEAN', criticalStep: null, failures: [] });
    expect(verdict(diagnosis).decision).toBe('pass');
  });

  test('a session known to have failed is judged though nothing was found, and the step becomes a failure', async () => {
    const diagnosis = await run(refundSession(), scriptedModel([NOTHING, EXPLAINED]), { assumeFailed: true });
    expect(diagnosis.outcome).toBe('FAILED');
    expect(diagnosis.criticalStep?.spanId).toBe('span-4');
    expect(diagnosis.failures).toMatchObject([
      { span_id: 'span-4', category: ['hallucination-category-hall-misunderstand'] },
    ]);
    expect(diagnosis.rootCauses).toMatchObject([{ failure_span_id: 'span-4', causality: 'PRIMARY_FAILURE' }]);
  });

  test('all failures recovered: failures stand, there is no critical step', async () => {
    const diagnosis = await run(
      refundSession(),
      scriptedModel([FOUND, { ...EXPLAINED, criticalSteps: [], completion: 'COMPLETE_SUCCESS' }]),
    );
    expect(verdict(diagnosis).decision).toBe('pass');
    expect(diagnosis).toMatchObject({
      outcome: 'FLAWED',
      criticalStep: null,
      completionStatus: 'COMPLETE_SUCCESS',
    });
  });

  test('equal inputs and answers give equal ids; another answer gives another', async () => {
    const first = await run(refundSession(), scriptedModel([FOUND, EXPLAINED]));
    const again = await diagnose(refundSession(), DEFAULT_OPTIONS, {
      model: scriptedModel([FOUND, EXPLAINED]),
      counter,
      clock: { now: () => Date.UTC(2030, 1, 1) },
    });
    const other = await run(refundSession(), scriptedModel([NOTHING]));
    expect(again).toEqual({ ...first, createdAt: again.createdAt });
    expect(other.diagnosisId).not.toBe(first.diagnosisId);
  });

  test('progress counts chunks and ends', async () => {
    const seen: Progress[] = [];
    await diagnose(refundSession(), DEFAULT_OPTIONS, {
      model: scriptedModel([NOTHING]),
      counter,
      clock,
      onProgress: (progress) => seen.push(progress),
    });
    expect(seen.filter(({ stage }) => stage === 'analyze-chunks')).toEqual([
      { stage: 'analyze-chunks', done: 1, total: 1 },
    ]);
    expect(seen.at(-1)).toEqual({ stage: 'root-cause', done: 1, total: 1 });
  });
});

describe('"could not look" is a result', () => {
  const refusing = scriptedModel([]);

  test('no model: partial, with the names of what was not looked for', async () => {
    const diagnosis = await run(refundSession(), { ...refusing, spec: 'none' });
    expect([diagnosis.outcome, diagnosis.coverage.state]).toEqual(['UNKNOWN', 'PARTIAL']);
    expect(diagnosis.outcomeReason).toMatch(/^no-model: /);
    expect(diagnosis.coverage.spansAnalysed).toBe(0);
    expect(diagnosis.coverage.gaps.map(({ what }) => what).join()).toContain('misread results');
    expect(verdict(diagnosis).decision).toBe('unknown');
  });

  test('depth "checks" asks no model even if there is one', async () => {
    const diagnosis = await run(refundSession(), refusing, { depth: 'checks' });
    expect(diagnosis.outcomeReason).toBe('no-model: depth is "checks"');
  });

  test('no content: not analysed', async () => {
    const silent = session([said(message('user')), tool(null, 'search', {}, null)]);
    const diagnosis = await run(silent, refusing);
    expect(diagnosis.outcomeReason).toMatch(/^no-content: /);
    expect([diagnosis.outcome, diagnosis.coverage.state]).toEqual(['UNKNOWN', 'NONE']);
    expect(verdict(diagnosis).decision).toBe('unknown');
  });

  test('no spans: not analysed', async () => {
    const diagnosis = await run(session([]), refusing);
    expect(diagnosis).toMatchObject({
      outcome: 'UNKNOWN',
      coverage: { state: 'NONE' },
      outcomeReason: 'no-spans: the session has no spans',
    });
  });

  test('unread parts of the input keep a session from reading as clean', async () => {
    const given = { ...refundSession(), unread: [{ where: 'line 7', reason: 'not JSON', count: 2 }] };
    const diagnosis = await run(given, scriptedModel([NOTHING]));
    expect([diagnosis.outcome, diagnosis.coverage.state]).toEqual(['UNKNOWN', 'PARTIAL']);
    expect(diagnosis.coverage.gaps).toMatchObject([
      { what: '2 unread parts of the input at line 7', reason: 'not JSON' },
    ]);
    expect(diagnosis.quarantined).toMatchObject([{ stage: 'read', reason: 'not JSON' }]);
  });

  test('content that the producer cut keeps a session from reading as clean', async () => {
    const given = session([
      said(message('user', 'Find it.')),
      tool('c', 'search', { q: 'it' }, 'resul', { flags: ['content-truncated'] }),
    ]);
    const diagnosis = await run(given, scriptedModel([NOTHING]));
    expect([diagnosis.outcome, diagnosis.coverage.state]).toEqual(['UNKNOWN', 'PARTIAL']);
    expect(diagnosis.outcomeReason).toMatch(/^content-truncated/);
    expect(diagnosis.coverage.gaps[0]?.spanIds).toEqual(['span-2']);
  });

  test('throttled to the end in detection: not analysed, with the reason and the spans', async () => {
    const diagnosis = await run(refundSession(), scriptedModel([new ModelThrottledError('slow down')]));
    expect(diagnosis).toMatchObject({
      outcome: 'UNKNOWN',
      outcomeReason: 'model-throttled: slow down',
      coverage: { state: 'NONE', spansAnalysed: 0 },
    });
    expect(diagnosis.coverage.gaps[0]?.spanIds).toHaveLength(5);
  });

  test('throttled to the end in the explanation: failures stand, causes by rule, partial', async () => {
    const diagnosis = await run(
      refundSession(),
      scriptedModel([FOUND, new ModelThrottledError('slow down')]),
    );
    expect(diagnosis).toMatchObject({
      outcome: 'UNKNOWN',
      coverage: { state: 'PARTIAL', spansAnalysed: 5 },
      outcomeReason: 'model-throttled: slow down',
      failures: [{ span_id: 'span-4' }],
      rootCauses: [{ failure_span_id: 'span-4', causality: 'UNCLEAR', propagation_impact: ['UNCLEAR'] }],
    });
    expect(diagnosis.coverage.gaps.map(({ what }) => what).join()).toContain('root causes');
  });

  test('a configuration fault ends the run by name', async () => {
    await expect(
      run(refundSession(), scriptedModel([new ModelAccessError('no access')])),
    ).rejects.toBeInstanceOf(ModelAccessError);
  });
});
