import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../core/base/json.ts';
import { DEFAULT_OPTIONS } from '../../core/diagnosis/options.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { readSessions } from '../../core/reading/registry.ts';
import { type Session, type Span, sessionSpans } from '../../core/session/session.ts';
import { diagnose } from '../../core/stages/pipeline.ts';
import { EXPLAINED, FOUND } from '../core/stages/a-session.ts';
import { inference, message, said, session, tool } from '../helpers/build-session.ts';
import { scriptedModel } from '../helpers/scripted-model.ts';
import { inferences, tools } from '../helpers/telemetry.ts';
import { diagnoseWithoutModel, reportOf } from '../helpers/without-model.ts';

/** What people's files hold, each named after its symptom. */

const counter = makeTokenCounter();

function readOne(value: object | string): { session: Session; unread: unknown } {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const { sessions, unread } = readSessions({ text, source: 'file.json' });
  expect(sessions).toHaveLength(1);
  return { session: sessions[0]!, unread };
}

describe('the event log of AutoGen', () => {
  const use = (id: string, name: string, args: string) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name, arguments: args } }],
  });
  const question = [
    { role: 'system', content: 'You know the weather.' },
    { role: 'user', name: 'user', content: 'Is it cold in Oslo?' },
  ];
  const called = (message: object, messages: object[], more: object = {}) => ({
    type: 'LLMCall',
    messages,
    response: { id: 'r', model: 'm-1', choices: [{ index: 0, finish_reason: 'stop', message }] },
    prompt_tokens: 60,
    completion_tokens: 15,
    agent_id: 'forecaster/7f3a',
    ...more,
  });
  const ran = {
    type: 'ToolCall',
    tool_name: 'get_time',
    arguments: { city: 'Oslo' },
    result: 'Error: there is no such tool',
    agent_id: 'forecaster/7f3a',
  };
  const wrong = use('c1', 'get_time', '{"city":"Oslo"}');
  const log = [
    called(wrong, question),
    ran,
    called({ role: 'assistant', content: 'It is 12:00.' }, [
      ...question,
      wrong,
      { role: 'tool', tool_call_id: 'c1', content: ran.result },
    ]),
    { type: 'Message', payload: '{}', kind: 'DIRECT' },
  ];
  const lines = (records: object[]): string => records.map((record) => JSON.stringify(record)).join('\n');

  it('model calls have no tools, so "wrong tool" cannot be judged: the check says that it is blind, not that nothing is wrong', async () => {
    const { session } = readOne(lines(log));
    expect(reportOf(await diagnoseWithoutModel(session), 'unknown-tool')).toMatchObject({
      state: 'blind',
      reason: expect.stringContaining('which tools exist'),
    });
    // The same log with the tools: now it can be judged.
    const tool = (name: string) => ({ type: 'function', function: { name, parameters: {} } });
    const whole = log.map((record) => ({ ...record, tools: [tool('get_weather')] }));
    const report = reportOf(await diagnoseWithoutModel(readOne(lines(whole)).session), 'unknown-tool');
    expect(report?.findings.map(({ summary }) => summary)).toEqual([expect.stringContaining('get_time')]);
  });

  it('the answer stands beside the messages: neither it nor the tool run is lost, and the log is one session', () => {
    const { session, unread } = readOne(lines(log));
    expect(session.agent).toBe('forecaster');
    expect(inferences(session)).toMatchObject([
      { output: [{ content: [{ type: 'tool_use', toolCallId: 'c1', arguments: { city: 'Oslo' } }] }] },
      { output: [{ content: [{ type: 'text', text: 'It is 12:00.' }] }], usage: { inputTokens: 60 } },
    ]);
    expect(tools(session)).toMatchObject([
      { toolCall: { name: 'get_time' }, toolResult: { content: ran.result } },
    ]);
    expect(unread).toMatchObject([{ count: 1 }]);
    expect(inferences(readOne(log[0]!).session)[0]?.output).toHaveLength(1);
  });
});

it('an exported trace has input null, output null and metadata "{}": a session without content, and not analysed for that reason', async () => {
  const { session } = readOne({
    trace: { id: 't', name: 'chat', sessionId: null, input: null, output: null, metadata: '{}' },
    observations: [
      { id: 'o', traceId: 't', type: 'SPAN', name: 'run', input: null, output: null, metadata: '{}' },
      {
        id: 'g',
        traceId: 't',
        parentObservationId: 'o',
        type: 'GENERATION',
        name: 'llm',
        input: null,
        output: null,
        metadata: '{}',
      },
    ],
  });
  expect(sessionSpans(session).map((span) => span.spanId)).toEqual(expect.arrayContaining(['o', 'g']));
  expect(inferences(session)[0]?.flags).toContain('content-absent');
  expect(await diagnoseWithoutModel(session)).toMatchObject({
    outcome: 'UNKNOWN',
    outcomeReason: expect.stringMatching(/^no-content/),
  });
});

describe('a run of tau-bench that failed', () => {
  const run = {
    task_id: 7,
    trial: 0,
    reward: 0.0,
    info: {
      task: { actions: [{ name: 'secret_gold_call', kwargs: {} }], instruction: 'You want B1 cancelled.' },
    },
    traj: [
      { role: 'system', content: 'Help travellers. Cancel only with consent.' },
      { role: 'user', content: 'Cancel booking B1.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'get_booking', arguments: '{"id":"B1"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', name: 'get_booking', content: 'Error: booking B1 not found' },
      { role: 'assistant', content: 'It is cancelled.' },
      { role: 'user', content: '###STOP###' },
    ],
  };

  it('reward 0.0 and no error anywhere: the text "Error: …" of a tool is found, and the reward is not told', async () => {
    const { session } = readOne([run]);
    expect(sessionSpans(session).map((span) => span.sourcePosition)).toEqual([0, 1, 2, 3, 4, 5]);
    const [tool] = tools(session);
    expect(tool).toMatchObject({ toolCall: { arguments: { id: 'B1' } }, status: 'unset' });
    const diagnosis = await diagnoseWithoutModel(session);
    expect(reportOf(diagnosis, 'explicit-error')?.findings).toMatchObject([
      { spanId: tool?.spanId, category: 'execution-error-category-resource-not-found' },
    ]);
    expect(JSON.stringify([session, diagnosis])).not.toMatch(/secret_gold|reward/);
  });

  it('the user says ###STOP###: it is the end of the talk, and no run ended abruptly there', async () => {
    const diagnosis = await diagnoseWithoutModel(readOne([run]).session);
    const last = sessionSpans(readOne([run]).session).at(-1)?.spanId;
    for (const { findings } of diagnosis.checks)
      expect(findings.map((finding) => finding.spanId)).not.toContain(last);
    expect(reportOf(diagnosis, 'abrupt-end')?.findings ?? []).toEqual([]);
  });
});

it('the second tool_use of an answer is cut, input {} with stop_reason max_tokens: a cut answer, not a call without arguments', async () => {
  const { session } = readOne([
    {
      body: {
        messages: [{ role: 'user', content: 'Weather in Rome, and 6 * 7?' }],
        tools: [
          { name: 'weather', input_schema: { type: 'object', required: ['city'] } },
          { name: 'sum', input_schema: { type: 'object', required: ['formula'] } },
        ],
      },
      status: 200,
      response: {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Both at once.' },
          { type: 'tool_use', id: 'u1', name: 'weather', input: { city: 'Rome' } },
          { type: 'tool_use', id: 'u2', name: 'sum', input: {} },
        ],
        stop_reason: 'max_tokens',
      },
    },
  ]);
  const diagnosis = await diagnoseWithoutModel(session);
  expect(reportOf(diagnosis, 'output-cut')?.findings).toMatchObject([
    { category: 'execution-error-category-resource-exhaustion', weight: 'failure' },
  ]);
  expect(reportOf(diagnosis, 'arguments-break-schema')?.findings).toEqual([]);
  expect(diagnosis.criticalStep?.category).toBe('system-failure');
});

describe('cyclic parents hang or hide the tree', () => {
  const words = Array.from({ length: 400 }, (_, i) => `w${i}`).join(' ');
  /** Our own normal form, as somebody else may have written it: every span is its own ancestor. */
  const ring = (() => {
    const given = session([
      said(message('user', words)),
      ...Array.from({ length: 20 }, (_, i) => inference([], [message('assistant', `${i} ${words}`)])),
      tool('c1', 'pay', {}, 'Error: no', { status: 'error', errors: [{ source: 'status', message: 'no' }] }),
    ]);
    const turn = (spans: Span[]): Span[] =>
      spans.map((span, i) => ({ ...span, parentSpanId: spans[(i + 1) % spans.length]?.spanId ?? null }));
    return { ...given, traces: given.traces.map((trace) => ({ ...trace, spans: turn(trace.spans) })) };
  })();

  it('in a session of our own form: it is diagnosed to the end, also where its ancestors are asked for', async () => {
    const given = readSessions({ document: ring as unknown as JsonValue, source: 'ring.json' }).sessions[0]!;
    expect(sessionSpans(given)).toHaveLength(22);
    expect((await diagnoseWithoutModel(given)).failures.map((failure) => failure.span_id)).toEqual([
      'span-22',
    ]);
    const limits = { contextTokens: 12_000, maxOutputTokens: 4000, tokenFactor: 1 };
    const finding = { ...FOUND.failures[0], span: 's21', quote: 'Error: no', why: 'refused' };
    const cause = { ...EXPLAINED.rootCauses[0], failure: 's21', location: 's21', explanation: 'Refused.' };
    const model = scriptedModel(
      [
        { purpose: 'analyze-chunks', contains: 'Error: no', reply: { failures: [finding] }, times: 99 },
        { purpose: 'analyze-chunks', reply: { failures: [] }, times: 99 },
        {
          reply: {
            ...EXPLAINED,
            criticalSteps: [{ ...EXPLAINED.criticalSteps[0], span: 's21', evidence: [] }],
            rootCauses: [cause],
          },
          times: 99,
        },
      ],
      { limits },
    );
    const diagnosis = await diagnose(given, DEFAULT_OPTIONS, { model, counter, clock: { now: () => 0 } });
    expect(model.requests.filter(({ purpose }) => purpose === 'analyze-chunks').length).toBeGreaterThan(2);
    expect(diagnosis).toMatchObject({ outcome: 'FAILED', criticalStep: { spanId: 'span-22' } });
  });

  it('in an export: cut, flagged, and no observation is lost, nor one whose parent is missing', () => {
    const observation = (id: string, parentObservationId: string) => ({
      id,
      traceId: 't',
      parentObservationId,
      type: 'SPAN',
      name: id,
      input: { of: id },
      output: { of: id },
    });
    const { session } = readOne({
      trace: { id: 't', name: 'run', input: 'hi', output: 'ho' },
      observations: [
        observation('a', 'b'),
        observation('b', 'a'),
        observation('c', 'c'),
        observation('d', 'ghost'),
      ],
    });
    const flags = Object.fromEntries(sessionSpans(session).map((span) => [span.spanId, span.flags]));
    expect(flags).toEqual({ t: [], a: ['cycle-cut'], b: [], c: ['self-parent'], d: ['missing-parent'] });
    expect(sessionSpans(session).filter((span) => span.parentSpanId === null)).toHaveLength(1);
  });
});

it('base64 images of tens of MB stand in the input of an export: their size and digest are kept, not their bytes', () => {
  const data = Buffer.alloc(12_000_000, 'bytes of a picture').toString('base64');
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
  const { session } = readOne({
    trace: { id: 't', name: 'run', input: null, output: null },
    observations: [
      {
        id: 'g',
        traceId: 't',
        type: 'GENERATION',
        name: 'llm',
        input: { messages: [{ role: 'user', content: [{ type: 'text', text: 'Look' }, image] }] },
        output: { role: 'assistant', content: 'A cat.' },
      },
    ],
  });
  expect(inferences(session)[0]?.input[0]?.content).toMatchObject([
    { type: 'text', text: 'Look' },
    { type: 'media', mediaType: 'image/png', byteLength: 12_000_000, digest: expect.any(String) },
  ]);
  expect(JSON.stringify(session).length).toBeLessThan(3000);
});
