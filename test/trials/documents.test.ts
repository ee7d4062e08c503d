import { describe, expect, it } from 'vitest';
import { noneModel } from '../../adapters/models/none.ts';
import { DEFAULT_OPTIONS } from '../../core/diagnosis/options.ts';
import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { readSessions } from '../../core/formats/registry.ts';
import { diagnose } from '../../core/pipeline.ts';
import { type Session, sessionSpans } from '../../core/session/model.ts';
import { makeTokenCounter } from '../../core/tokens/make-token-counter.ts';
import { inferences, tools } from '../helpers/telemetry.ts';

/** What people's files hold, each named after its symptom. */

const counter = makeTokenCounter();
const checked = (session: Session): Promise<Diagnosis> =>
  diagnose(session, DEFAULT_OPTIONS, { model: noneModel, counter, clock: { now: () => 0 } });
const reportOf = (diagnosis: Diagnosis, check: string) =>
  diagnosis.checks.find(({ checkId }) => checkId === check);

function read(value: object | string): { session: Session; unread: unknown } {
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
    const { session } = read(lines(log));
    expect(reportOf(await checked(session), 'unknown-tool')).toMatchObject({
      state: 'blind',
      reason: expect.stringContaining('which tools exist'),
    });
    // The same log with the tools: now it can be judged.
    const tool = (name: string) => ({ type: 'function', function: { name, parameters: {} } });
    const whole = log.map((record) => ({ ...record, tools: [tool('get_weather')] }));
    const report = reportOf(await checked(read(lines(whole)).session), 'unknown-tool');
    expect(report?.findings.map(({ summary }) => summary)).toEqual([expect.stringContaining('get_time')]);
  });

  it('the answer stands beside the messages: neither it nor the tool run is lost, and the log is one session', () => {
    const { session, unread } = read(lines(log));
    expect(session.agent).toBe('forecaster');
    expect(inferences(session)).toMatchObject([
      { output: [{ content: [{ type: 'tool_use', toolCallId: 'c1', arguments: { city: 'Oslo' } }] }] },
      { output: [{ content: [{ type: 'text', text: 'It is 12:00.' }] }], usage: { inputTokens: 60 } },
    ]);
    expect(tools(session)).toMatchObject([
      { toolCall: { name: 'get_time' }, toolResult: { content: ran.result } },
    ]);
    expect(unread).toMatchObject([{ count: 1 }]);
    expect(inferences(read(log[0]!).session)[0]?.output).toHaveLength(1);
  });
});

it('an exported trace has input null, output null and metadata "{}": a session without content, and not analysed for that reason', async () => {
  const { session } = read({
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
  expect(await checked(session)).toMatchObject({
    outcome: 'NOT_ANALYSED',
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
    const { session } = read([run]);
    expect(sessionSpans(session).map((span) => span.sourcePosition)).toEqual([0, 1, 2, 3, 4, 5]);
    const [tool] = tools(session);
    expect(tool).toMatchObject({ toolCall: { arguments: { id: 'B1' } }, status: 'unset' });
    const diagnosis = await checked(session);
    expect(reportOf(diagnosis, 'explicit-error')?.findings).toMatchObject([
      { spanId: tool?.spanId, category: 'execution-error-category-resource-not-found' },
    ]);
    expect(JSON.stringify([session, diagnosis])).not.toMatch(/secret_gold|reward/);
  });

  it('the user says ###STOP###: it is the end of the talk, and no run ended abruptly there', async () => {
    const diagnosis = await checked(read([run]).session);
    const last = sessionSpans(read([run]).session).at(-1)?.spanId;
    for (const { findings } of diagnosis.checks)
      expect(findings.map((finding) => finding.spanId)).not.toContain(last);
    expect(reportOf(diagnosis, 'abrupt-end')?.findings ?? []).toEqual([]);
  });
});

it('the second tool_use of an answer is cut, input {} with stop_reason max_tokens: a cut answer, not a call without arguments', async () => {
  const { session } = read([
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
  const diagnosis = await checked(session);
  expect(reportOf(diagnosis, 'output-cut')?.findings).toMatchObject([
    { category: 'execution-error-category-resource-exhaustion', weight: 'failure' },
  ]);
  expect(reportOf(diagnosis, 'arguments-break-schema')?.findings).toEqual([]);
  expect(diagnosis.criticalStep?.category).toBe('system-failure');
});
