import { describe, expect, test } from 'vitest';
import { SessionInvalidError } from '../../../core/errors/errors.ts';
import {
  analyzeRootCause,
  detectFailures,
  diagnoseSession,
  type Model,
  readSessions,
  toStrandsJson,
} from '../../../core/index.ts';
import { hashRequest } from '../../../core/model/request-body.ts';
import { scriptedModel } from '../../helpers/scripted-model.ts';
import { EXPLAINED, FOUND, NOTHING, refundSession } from './a-session.ts';

const now = new Date('2026-03-01T10:00:00Z');

describe('library', () => {
  test('from the text of a file to a diagnosis with what the package exports', async () => {
    const text = JSON.stringify([
      { role: 'user', content: 'Refund B-17.' },
      { role: 'assistant', content: 'Done.' },
    ]);
    const { sessions } = readSessions({ text, source: 'refund.json' });
    const diagnosis = await diagnoseSession(sessions[0]!, { model: scriptedModel([NOTHING]), now });
    expect(diagnosis).toMatchObject({ sessionId: 'refund', outcome: 'CLEAN' });
  });

  test('a caller without types is told what is missing, before a model is asked', async () => {
    const model = scriptedModel([]);
    const given = { model } as unknown as Parameters<typeof diagnoseSession>[1];
    await expect(diagnoseSession(refundSession(), given)).rejects.toThrow('a valid Date as `now`');
    const bare = 'the text of a file' as unknown as Parameters<typeof readSessions>[0];
    expect(() => readSessions(bare)).toThrow('expected {text, source} or {document, source}, found string');
  });

  test('detectFailures says what it found and what it looked at', async () => {
    const detection = await detectFailures(refundSession(), { model: scriptedModel([FOUND]) });
    expect(detection).toMatchObject({
      session_id: 'session-1',
      failures: [{ span_id: 'span-4', confidence: [0.9] }],
      outcome: 'UNKNOWN',
      outcomeReason: expect.stringMatching(/^not-judged: /),
      coverage: { spansTotal: 5, spansAnalysed: 5 },
      calls: [{ purpose: 'analyze-chunks' }],
    });
    const clean = await detectFailures(refundSession(), { model: scriptedModel([NOTHING]) });
    expect(clean.outcome).toBe('CLEAN');
  });

  test('the confidence threshold filters', async () => {
    const low = { failures: [{ ...FOUND.failures[0], confidence: 'low' }] };
    const all = await detectFailures(refundSession(), { model: scriptedModel([low]) });
    expect(all.failures).toHaveLength(1);
    const sure = await detectFailures(refundSession(), { model: scriptedModel([low]), confidence: 'medium' });
    expect(sure).toMatchObject({ failures: [], outcome: 'CLEAN' });
  });

  test('a custom taxonomy and guidelines reach the prompt, and only its categories are known', async () => {
    const model = scriptedModel([
      {
        failures: [
          { ...FOUND.failures[0], category: 'wrong-amount' },
          { ...FOUND.failures[0], category: 'hallucination-category-hall-misunderstand' },
        ],
      },
    ]);
    const detection = await detectFailures(refundSession(), {
      model,
      taxonomy: [{ id: 'wrong-amount', parent: 'money', meaning: 'another amount than the tool gave' }],
      guidelines: 'Refunds need the exact amount.',
    });
    const prompt = model.requests[0]?.user[0]?.text ?? '';
    expect(prompt).toContain('- wrong-amount: another amount than the tool gave');
    expect(prompt).toContain('Refunds need the exact amount.');
    expect(prompt).not.toContain('hall-misunderstand');
    expect(detection.failures).toMatchObject([{ category: ['wrong-amount'] }]);
    expect(detection.quarantined[0]?.reason).toMatch(/^unknown category/);
  });

  test('a session that is none is refused by name, not by a crash somewhere inside', async () => {
    const broken = { ...refundSession(), traces: [{ traceId: 't', sessionId: 's', spans: [{ spanId: 1 }] }] };
    const given = { model: scriptedModel([]), now };
    for (const call of [
      () => diagnoseSession(broken as never, given),
      () => detectFailures(broken as never, given),
      () => analyzeRootCause(broken as never, [], given),
    ]) {
      await expect(call()).rejects.toThrow(SessionInvalidError);
      await expect(call()).rejects.toThrow(/the session is not as expected: traces\.0\.spans\.0/);
    }
  });

  test('any object that can be asked is a model', async () => {
    const mine: Model = {
      spec: 'mine',
      limits: { contextTokens: 200_000, maxOutputTokens: 8000, tokenFactor: 1 },
      ask: async (request) => ({
        text: '{"failures":[]}',
        usage: {
          inputTokens: 1,
          outputTokens: 1,
          cacheReadTokens: 0,
          cacheWriteTokens: 0,
          costUsd: null,
          calls: 1,
        },
        model: 'mine',
        outputMode: 'text',
        requestHash: hashRequest('mine', request),
        cached: false,
        durationMs: 7,
      }),
    };
    const diagnosis = await diagnoseSession(refundSession(), { model: mine, now });
    expect(diagnosis).toMatchObject({
      outcome: 'CLEAN',
      createdAt: '2026-03-01T10:00:00.000Z',
      usage: { costUsd: null, calls: 1, durationMs: 7 },
      provenance: { model: 'mine' },
    });
  });

  test('analyzeRootCause takes the failures of the Strands detectors', async () => {
    const analysis = await analyzeRootCause(
      refundSession(),
      [{ span_id: 'span-4', category: ['other'], confidence: [0.75], evidence: ['wrong amount'] }],
      { model: scriptedModel([EXPLAINED]) },
    );
    expect(analysis).toMatchObject({
      rootCauses: [{ failure_span_id: 'span-4', causality: 'PRIMARY_FAILURE' }],
      criticalStep: { spanId: 'span-4' },
      completionStatus: 'COMPLETE_FAILURE',
      gaps: [],
    });
  });

  test('failures of another session are refused by name', async () => {
    const foreign = [{ span_id: 'elsewhere', category: ['other'], confidence: [0.5], evidence: ['x'] }];
    const asked = analyzeRootCause(refundSession(), foreign, { model: scriptedModel([]) });
    await expect(asked).rejects.toBeInstanceOf(SessionInvalidError);
    await expect(asked).rejects.toThrow(/elsewhere/);
  });

  test("Strands' own JSON has their names and nothing else", async () => {
    const diagnosis = await diagnoseSession(refundSession(), {
      model: scriptedModel([FOUND, EXPLAINED]),
      now,
    });
    const exported = toStrandsJson(diagnosis);
    expect(Object.keys(exported)).toEqual(['session_id', 'failures', 'root_causes', 'recommendations']);
    expect(Object.keys(exported.failures[0] ?? {})).toEqual([
      'span_id',
      'category',
      'confidence',
      'evidence',
    ]);
    expect(Object.keys(exported.root_causes[0] ?? {})).toEqual([
      'failure_span_id',
      'location',
      'causality',
      'propagation_impact',
      'failure_detection_timing',
      'completion_status',
      'root_cause_explanation',
      'fix_type',
      'fix_recommendation',
    ]);
    expect(exported.recommendations).toEqual(['Have the agent repeat the amount from the tool result.']);
  });
});
