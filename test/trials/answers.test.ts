import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { DEFAULT_OPTIONS, type DiagnosisOptions } from '../../core/diagnosis/options.ts';
import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { ErrorName } from '../../core/errors/error-names.ts';
import { ContextOverflowError } from '../../core/errors/errors.ts';
import { classifyModelFault } from '../../core/model/classify-model-fault.ts';
import type { Model, ModelRequest } from '../../core/model/port.ts';
import { readAnswer } from '../../core/model/read-answer.ts';
import { listPromptParts, writeConverseBody } from '../../core/model/request-body.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import type { Session } from '../../core/session/session.ts';
import { diagnose } from '../../core/stages/pipeline.ts';
import { EXPLAINED, FOUND, NOTHING, refundSession } from '../core/stages/a-session.ts';
import { RUBRIC } from '../helpers/a-rubric.ts';
import { inference, message, said, session, tool, use } from '../helpers/build-session.ts';
import { type ScriptedEntry, type ScriptedReply, scriptedModel } from '../helpers/scripted-model.ts';

/** What models and their services answer, each named after its symptom. */

const counter = makeTokenCounter();
const run = (
  model: Model,
  options: Partial<DiagnosisOptions> = {},
  given: Session = refundSession(),
): Promise<Diagnosis> =>
  diagnose(given, { ...DEFAULT_OPTIONS, ...options }, { model, counter, clock: { now: () => 0 } });

/** One reply for each purpose, as often as it is asked. */
const says = (replies: Record<string, ScriptedReply>): ReturnType<typeof scriptedModel> =>
  scriptedModel(
    Object.entries(replies).map(([purpose, reply]): ScriptedEntry => ({ purpose, reply, times: 99 })),
  );

const fenced = (value: object): string => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;

describe('a verdict is lost because of its wrapping', () => {
  it('every answer of the judge is fenced: all are read, none is asked for again', async () => {
    const model = says({ 'analyze-chunks': fenced(FOUND), 'root-cause': fenced(EXPLAINED) });
    const wrapped = await run(model);
    const plain = await run(says({ 'analyze-chunks': FOUND, 'root-cause': EXPLAINED }));
    expect(model.requests.map(({ purpose }) => purpose)).toEqual(['analyze-chunks', 'root-cause']);
    expect(wrapped).toMatchObject({ outcome: 'FAILED', criticalStep: { spanId: 'span-4' } });
    expect([wrapped.failures, wrapped.rootCauses]).toEqual([plain.failures, plain.rootCauses]);
  });

  it.each([
    ["Sure! {'score': 1}"],
    ['Sure! Here you are:\n```json\n{"score": 1}\n```\nAnything else?'],
    ["```\n{'score': 1,}\n```"],
    ['**Verdict**\n\n{"score": 1}\n\nThe agent did well.'],
    ['{"score": 1}\n```'],
  ])('prose around JSON, fences and single quotes: %j is the verdict that it says', (text) => {
    expect(readAnswer(text, z.object({ score: z.number() }))).toEqual({ ok: true, value: { score: 1 } });
  });
});

describe('an answer without JSON is turned into "all assertions failed"', () => {
  const PROSE = 'The agent did everything that it was asked for, more or less.';

  it('prose in place of findings: not analysed, neither failed nor clean', async () => {
    const diagnosis = await run(says({ 'analyze-chunks': PROSE, repair: PROSE }));
    expect(diagnosis).toMatchObject({
      outcome: 'UNKNOWN',
      outcomeReason: expect.stringMatching(/^model-output-invalid/),
      failures: [],
      criticalStep: null,
    });
  });

  it('prose in place of the explanation: the failures found stand, causes are by rule, and it says so', async () => {
    const diagnosis = await run(says({ 'analyze-chunks': FOUND, 'root-cause': PROSE, repair: PROSE }));
    expect([diagnosis.outcome, diagnosis.coverage.state]).toEqual(['UNKNOWN', 'PARTIAL']);
    expect(diagnosis.failures).toHaveLength(1);
    expect(diagnosis.rootCauses.map(({ source }) => source?.kind)).not.toContain('model');
    expect(diagnosis.coverage.gaps.map(({ reason }) => reason).join()).toContain('model-output-invalid');
  });

  it('prose in place of verdicts on rubrics: not evaluated, never violated', async () => {
    const model = says({
      'constraints-global': { constraints: [] },
      'constraints-dynamic': { constraints: [RUBRIC] },
      'constraints-rubrics': PROSE,
      repair: PROSE,
      'analyze-chunks': NOTHING,
    });
    const { validationLog, failures, outcome } = await run(model, { depth: 'deep' });
    const verdicts = validationLog.filter((entry) => entry.constraint === RUBRIC.name);
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['not-evaluated']);
    expect(failures).toEqual([]);
    expect(outcome).toBe('UNKNOWN');
  });
});

it.each([
  'Input is too long for requested model.',
  'Input is too long for requested model: please shorten it',
  'prompt is too long: 210001 tokens > 200000 maximum',
  'input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000, decrease input length',
  'The model returned the following errors: too many total text bytes: 26214400',
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
  'Request exceeds the maximum context length of the model',
  'The input exceeds the context window of this model',
  'Requested token count exceeds the model’s maximum context length of 32768 tokens',
])('an overflow is not known by its wording, so nothing is split: %j is an overflow', (wording) => {
  const fault = classifyModelFault({ name: 'ValidationException', status: 400, message: wording });
  expect(fault.name).toBe(ErrorName.ContextOverflow);
});

it.each([
  'The provided model identifier is invalid.',
  'Malformed input request: #/messages/0: required key [role] not found',
  'The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower.',
])('another refusal with a 400 is no overflow: %j', (wording) => {
  const fault = classifyModelFault({ name: 'ValidationException', status: 400, message: wording });
  expect(fault.name).not.toBe(ErrorName.ContextOverflow);
});

describe('a trace larger than the window of the judge is recorded as score 0', () => {
  /** Detection instructions take some 2,000 tokens; half of this window leaves about 4,000 for a chunk. */
  const limits = { contextTokens: 12_000, maxOutputTokens: 4000, tokenFactor: 1 };
  const size = (request: ModelRequest): number =>
    request.user.reduce((sum, { text }) => sum + counter.count(text), 0);
  const words = (n: number, word: string): string =>
    Array.from({ length: n }, (_, i) => `${word}${i}`).join(' ');
  const long = session([
    said(message('user', 'Refund booking B-17 to my card please.')),
    ...Array.from({ length: 24 }, (_, i) => inference([], [message('assistant', words(400, `turn${i}w`))])),
    inference([], [message('assistant', 'I have refunded 210 dollars to your card.')]),
  ]);
  const finding = { ...FOUND.failures[0], span: 's25', why: 'wrong' };
  const reply = (request: ModelRequest): object => {
    if (size(request) > limits.contextTokens) return new ContextOverflowError('input is too long');
    if (request.purpose === 'analyze-chunks')
      return request.user.some(({ text }) => text.includes('I have refunded 210'))
        ? { failures: [finding] }
        : NOTHING;
    return {
      ...EXPLAINED,
      criticalSteps: [{ ...EXPLAINED.criticalSteps[0], span: 's25', evidence: [] }],
      rootCauses: [
        { ...EXPLAINED.rootCauses[0], failure: 's25', location: 's25', explanation: 'Wrong amount.' },
      ],
    };
  };

  it('it is analysed in parts that fit, whole, and the failure in it is found and judged', async () => {
    const model = scriptedModel([{ reply, times: 99 }], { limits });
    const diagnosis = await run(model, {}, long);
    expect(Math.max(...model.requests.map(size))).toBeLessThan(limits.contextTokens);
    expect(diagnosis).toMatchObject({
      outcome: 'FAILED',
      coverage: { spansTotal: 26, spansAnalysed: 26, gaps: [] },
      criticalStep: { spanId: 'span-26' },
    });
  });

  it('where no part of it fits, it is not analysed: no verdict about the agent', async () => {
    const model = scriptedModel(
      [{ reply: () => new ContextOverflowError('input is too long'), times: 999 }],
      {
        limits,
      },
    );
    expect(await run(model, {}, long)).toMatchObject({
      outcome: 'UNKNOWN',
      outcomeReason: expect.stringMatching(/^context-overflow/),
      failures: [],
    });
  });
});

describe('half of an emoji makes a store refuse the whole batch', () => {
  /** Every text of a value, keys too. */
  function torn(value: unknown): string[] {
    const found: string[] = [];
    JSON.parse(JSON.stringify(value), (key: string, item: unknown) => {
      for (const text of [key, item])
        if (typeof text === 'string' && !text.isWellFormed()) found.push(`${key}: ${text.slice(0, 80)}`);
      return item;
    });
    return found;
  }

  it('the model answers with one: the diagnosis is well-formed', async () => {
    const why = JSON.stringify({ failures: [{ ...FOUND.failures[0], why: 'It refunded 210 \ud83e' }] });
    const cause = { ...EXPLAINED.rootCauses[0], explanation: 'Another amount \udd16 than the tool gave.' };
    const diagnosis = await run(
      says({ 'analyze-chunks': why, 'root-cause': JSON.stringify({ ...EXPLAINED, rootCauses: [cause] }) }),
    );
    expect(diagnosis.failures[0]?.evidence.join()).toContain('It refunded 210 \ufffd');
    expect(torn(diagnosis)).toEqual([]);
  });

  it.each(['', 'x'])(
    'whatever is cut from a session of emoji is cut between them: texts begin with %j',
    async (odd) => {
      const robots = `${odd}${'🤖'.repeat(3000)}`;
      const failed = `Error: ${robots}`;
      const given = session(
        [
          said(message('user', robots)),
          inference([], [message('assistant', use('c1', robots, { robots }))], {
            name: robots,
            systemPrompt: robots,
          }),
          tool('c1', robots, { robots }, failed, {
            name: robots,
            errors: [{ source: 'status', message: failed }],
          }),
          said(message('assistant', `{"a": ${robots}`)),
        ],
        { agent: robots, goal: robots, unread: [{ where: robots, reason: robots, count: 1 }] },
      );
      const [failure] = FOUND.failures;
      const found = {
        failures: [{ ...failure, span: 's1', quote: robots, why: robots }, { span: robots }, robots],
      };
      const explained = {
        ...EXPLAINED,
        analysis: robots,
        criticalSteps: [{ ...EXPLAINED.criticalSteps[0], span: 's1', reason: robots, evidence: [] }],
        rootCauses: [
          { ...EXPLAINED.rootCauses[0], failure: 's1', location: 's1', explanation: robots, fix: robots },
        ],
      };
      const model = says({ 'analyze-chunks': found, 'root-cause': explained, repair: NOTHING });
      expect(torn(await run(model, {}, given))).toEqual([]);
      expect(
        torn(model.requests.map((request) => [writeConverseBody(request), listPromptParts(request)])),
      ).toEqual([]);
      const prose = says({ 'analyze-chunks': robots, repair: robots, 'root-cause': robots });
      expect(torn(await run(prose, {}, given))).toEqual([]);
      expect(
        torn(prose.requests.map((request) => [writeConverseBody(request), listPromptParts(request)])),
      ).toEqual([]);
    },
  );
});
