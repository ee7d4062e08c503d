import { describe, expect, test } from 'vitest';
import { DEFAULT_OPTIONS } from '../../../../core/diagnosis/options.ts';
import { ContextOverflowError } from '../../../../core/errors/errors.ts';
import { pruneTo, windowsOf } from '../../../../core/explanation/root-cause/tiers.ts';
import type { ModelRequest } from '../../../../core/model/port.ts';
import { makeTokenCounter } from '../../../../core/planning/tokens/make-token-counter.ts';
import type { Session } from '../../../../core/session/session.ts';
import { diagnose } from '../../../../core/stages/pipeline.ts';
import { toTrajectory } from '../../../../core/trajectory/to-trajectory.ts';
import { inference, message, other, said, session } from '../../../helpers/build-session.ts';
import { type ScriptedReply, scriptedModel } from '../../../helpers/scripted-model.ts';

const counter = makeTokenCounter();
const SMALL = { contextTokens: 40_000, maxOutputTokens: 4000, tokenFactor: 1 };
const words = (n: number, word: string): string =>
  Array.from({ length: n }, (_, i) => `${word}${i}`).join(' ');

const chat = (turns: number, wordsEach: number): Session =>
  session([
    said(message('user', 'Please work through the list.')),
    ...Array.from({ length: turns }, (_, i) =>
      inference([], [message('assistant', words(wordsEach, `turn${i}w`))]),
    ),
  ]);

/** Reports a failure at each of the spans, in whatever chunk shows it. */
const finds =
  (...aliases: string[]): ScriptedReply =>
  (request: ModelRequest) => ({
    failures: aliases
      .filter((alias) => request.user.some(({ text }) => text.includes(`\n@${alias} `)))
      .map((span) => ({
        span,
        category: 'task-instruction-category-non-compliance',
        confidence: 'high',
        quote: '',
        why: 'it is wrong',
      })),
  });

const causeOf = (failure: string, location = failure) => ({
  failure,
  location,
  causality: 'UNCLEAR',
  impact: ['INCORRECT_PATH'],
  timing: 'ONLY_AT_TASK_END',
  explanation: `why ${failure}`,
  fixType: 'OTHERS',
  fix: `repair ${failure}`,
});
const stepAt = (span: string) => ({
  span,
  category: 'plan-adherence',
  confidence: 'high',
  reason: `lost at ${span}`,
  evidence: [],
});
const answer = (critical: string, ...failures: string[]) => ({
  analysis: '',
  criticalSteps: [stepAt(critical)],
  rootCauses: failures.map((failure) => causeOf(failure)),
  completion: 'COMPLETE_FAILURE',
});

const run = (given: Session, script: Parameters<typeof scriptedModel>[0]) => {
  const model = scriptedModel(script, { limits: SMALL });
  return diagnose(given, DEFAULT_OPTIONS, { model, counter, clock: { now: () => 0 } }).then((diagnosis) => ({
    diagnosis,
    model,
    asked: (purpose: string) => model.requests.filter((request) => request.purpose === purpose),
  }));
};

describe('tier two: pruned to what surrounds the failing spans', () => {
  test('a session too long for one call is explained from its excerpt', async () => {
    const { diagnosis, asked } = await run(chat(30, 300), [
      { purpose: 'analyze-chunks', reply: finds('s20'), times: 50 },
      { purpose: 'root-cause', reply: answer('s20', 's20') },
    ]);
    expect(diagnosis.outcome).toBe('FAILED');
    expect(diagnosis.rootCauses).toMatchObject([
      { failure_span_id: 'span-21', causality: 'PRIMARY_FAILURE' },
    ]);
    const [request] = asked('root-cause');
    const text = request?.user.map((part) => part.text).join('') ?? '';
    expect(text).toContain('You see an excerpt');
    expect(text).toContain('@s15 ');
    expect(text).not.toContain('@s5 ');
  });

  test('an estimate that fits and overflows all the same falls to the next tier', async () => {
    const { diagnosis, asked } = await run(chat(14, 40), [
      { purpose: 'analyze-chunks', reply: finds('s12'), times: 5 },
      { purpose: 'root-cause', reply: new ContextOverflowError('too long') },
      { purpose: 'root-cause', reply: answer('s12', 's12') },
    ]);
    expect(asked('root-cause')).toHaveLength(2);
    expect(diagnosis).toMatchObject({ outcome: 'FAILED', criticalStep: { spanId: 'span-13' } });
  });

  test('keeps ancestors, ten descendants and the steps before, and never nothing', () => {
    const drafts = [
      other({}, { spanId: 'root' }),
      ...Array.from({ length: 20 }, (_, i) => inference([], [], { spanId: `x${i}`, parentSpanId: 'root' })),
      inference([], [], { spanId: 'bad', parentSpanId: 'x1' }),
      ...Array.from({ length: 15 }, (_, i) => inference([], [], { spanId: `d${i}`, parentSpanId: 'bad' })),
    ];
    const trajectory = toTrajectory(session(drafts));
    const kept = pruneTo(trajectory, ['bad'])?.map((index) => trajectory.steps[index]?.spanId);
    expect(kept).toContain('root');
    expect(kept).toContain('x1');
    expect(kept?.filter((id) => id?.startsWith('d'))).toEqual(Array.from({ length: 10 }, (_, i) => `d${i}`));
    expect(kept).toContain('x19');
    expect(kept).not.toContain('x5');
    expect(pruneTo(trajectory, ['invented', 'too'])).toBeNull();
    expect(pruneTo(trajectory, [])).toBeNull();
  });
});

describe('tier three: windows, then one answer of them', () => {
  const everywhere = ['s2', 's14', 's28'];
  const windows = [
    { purpose: 'root-cause', contains: '@s2 ', reply: answer('s2', 's2') },
    { purpose: 'root-cause', contains: '@s14 ', reply: answer('s14', 's14') },
    { purpose: 'root-cause', contains: '@s28 ', reply: answer('s28', 's28') },
  ];

  test('failures all over a long session', async () => {
    const { diagnosis, asked } = await run(chat(30, 300), [
      { purpose: 'analyze-chunks', reply: finds(...everywhere), times: 50 },
      ...windows,
      { purpose: 'root-cause-merge', reply: answer('s14', ...everywhere) },
    ]);
    expect(asked('root-cause')).toHaveLength(3);
    const merge =
      asked('root-cause-merge')[0]
        ?.user.map(({ text }) => text)
        .join('') ?? '';
    expect(merge).toContain('why s28');
    expect(merge).toContain('@s7 ');
    expect(diagnosis).toMatchObject({
      outcome: 'FAILED',
      criticalStep: { spanId: 'span-15' },
      rootCauses: [{ location: 'span-15' }, { location: 'span-3' }, { location: 'span-29' }],
      coverage: { gaps: [] },
    });
  });

  test('the joining call fails: joined by rule, earliest critical step, with a gap', async () => {
    const { diagnosis } = await run(chat(30, 300), [
      { purpose: 'analyze-chunks', reply: finds(...everywhere), times: 50 },
      ...windows,
      { purpose: 'root-cause-merge', reply: 'no idea' },
      { purpose: 'repair', reply: 'no idea' },
    ]);
    expect(diagnosis.criticalStep?.spanId).toBe('span-3');
    expect(diagnosis.rootCauses.map((cause) => cause.root_cause_explanation)).toEqual([
      'why s2',
      'why s14',
      'why s28',
    ]);
    expect(diagnosis.coverage.gaps[0]?.what).toMatch(/one judgement over all windows/);
  });

  test('a window that fails leaves its failures explained by rule, and a gap', async () => {
    const { diagnosis } = await run(chat(30, 300), [
      { purpose: 'analyze-chunks', reply: finds(...everywhere), times: 50 },
      ...windows.slice(0, 2),
      { purpose: 'root-cause', contains: '@s28 ', reply: 'no idea' },
      { purpose: 'repair', reply: 'no idea' },
      { purpose: 'root-cause-merge', reply: answer('s2', 's2', 's14') },
    ]);
    expect(diagnosis.rootCauses[2]?.root_cause_explanation).toContain('The model gave no cause');
    expect(diagnosis.coverage.gaps.map(({ what }) => what)).toEqual([
      'the cause of failures in a window of the session',
      'root causes',
    ]);
  });

  test('windows hold all steps, in order, each at least five and a third of them', () => {
    for (const turns of [0, 3, 5, 13, 100]) {
      const trajectory = toTrajectory(chat(turns, 1));
      const windows = windowsOf(trajectory);
      expect(windows.flat()).toEqual(trajectory.steps.map(({ index }) => index));
      expect(windows.length).toBeLessThanOrEqual(3);
      for (const window of windows.slice(0, -1)) {
        expect(window.length).toBe(Math.max(5, Math.ceil(trajectory.steps.length / 3)));
      }
    }
  });
});
