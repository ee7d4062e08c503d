import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatFixtures } from '../../../../bench/formats/fixtures.ts';
import { runChecks } from '../../../../core/checks/registry.ts';
import { ENVELOPES } from '../../../../core/reading/envelopes/index.ts';
import { readSessions } from '../../../../core/reading/registry.ts';
import { TRANSCRIPTS } from '../../../../core/reading/transcripts/index.ts';
import { type Session, sessionSpans } from '../../../../core/session/session.ts';
import { toTrajectory } from '../../../../core/trajectory/to-trajectory.ts';
import { sharedPath } from '../../../helpers/shared-data.ts';

/** Logs of agents that are no plain chat: what their own shape says beyond the words. */

const read = (document: unknown, source = 'run.json'): Session => {
  const { sessions } = readSessions({ text: JSON.stringify(document), source });
  expect(sessions).toHaveLength(1);
  return sessions[0]!;
};
const failures = (session: Session) =>
  runChecks(toTrajectory(session)).flatMap(({ findings }) =>
    findings.filter(({ weight }) => weight === 'failure').map(({ spanId, category }) => [spanId, category]),
  );

/** Files of the second trials: a copy of ours stands beside each in these tests, so that they do not depend on them. */
const trials = sharedPath('trials-2');
const trial = (name: string): Session => {
  const file = readdirSync(trials!).find((entry) => entry.startsWith(name))!;
  const { sessions } = readSessions({ text: readFileSync(path.join(trials!, file), 'utf8'), source: file });
  return sessions[0]!;
};

const call = (id: string, name: string, args: object) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});

it('answers, grades and labels beside a run never come into its session', async () => {
  for (const fixture of await formatFixtures()) {
    const text = readFileSync(fixture.path, 'utf8');
    const { sessions, unread } = readSessions({ text, source: fixture.file });
    expect(JSON.stringify([sessions, unread]), fixture.file).not.toContain('SECRET-');
  }
});

it('of the formats that know a fixture one is surest', async () => {
  for (const fixture of await formatFixtures()) {
    const text = readFileSync(fixture.path, 'utf8');
    let document: unknown;
    try {
      document = JSON.parse(text);
    } catch {
      continue;
    }
    const sure = [...TRANSCRIPTS, ...ENVELOPES]
      .map((format) => format.recognise(document as never))
      .flatMap((seen) => (seen.match === 'yes' ? [seen.sure] : []))
      .sort((a, b) => b - a);
    expect(sure[0] !== undefined && sure[0] !== sure[1], `${fixture.file}: ${sure.join(' ')}`).toBe(true);
  }
});

describe('SWE-agent', () => {
  const history = (...more: object[]) => [
    { role: 'system', content: 'You work in a shell.', agent: 'primary' },
    { role: 'user', content: 'Here is how it is done: open, edit, submit.', agent: 'primary', is_demo: true },
    { role: 'user', content: 'ISSUE: totals are wrong.', agent: 'primary' },
    ...more,
  ];
  const act = {
    role: 'assistant',
    content: 'Look.\n```\nopen a.py\n```',
    action: 'open a.py\n',
    agent: 'primary',
  };
  const run = (exit_status: string | null, ...more: object[]) =>
    read({ environment: 'swe_main', trajectory: [], history: history(...more), info: { exit_status } });

  it('the goal is the issue and not the demonstration', () => {
    const session = run('submitted', act);
    expect(session.format).toBe('swe-agent');
    expect(toTrajectory(session).goal).toBe('ISSUE: totals are wrong.');
  });
  it("an action in the agent's text is a call, and what the user seems to say after it its result", () => {
    const session = run('submitted', act, { role: 'user', content: 'Error: no file a.py', agent: 'primary' });
    expect(toTrajectory(session).exchanges).toMatchObject([
      { name: 'open', arguments: { command: 'open a.py\n' }, result: 'Error: no file a.py' },
    ]);
  });
  it.each([
    ['submitted', []],
    [null, []],
    ['exit_forfeit', []],
    ['exit_cost', ['execution-error-category-resource-exhaustion']],
    ['submitted (exit_context)', ['execution-error-category-resource-exhaustion']],
    ['exit_api', ['execution-error-category-service-errors']],
  ])('a run that ended by %j', (status, categories) => {
    const session = run(status, act, { role: 'user', content: '1:x', agent: 'primary' });
    expect(failures(session).map(([, category]) => category)).toEqual(categories);
  });
  it('results find their call by id, whatever their order', () => {
    const calls = [call('c1', 'open', { path: 'app.py' }), call('c2', 'find_file', { file_name: 'util.py' })];
    const session = read({
      trajectory: [],
      history: [
        { role: 'user', content: 'Fix app.py.', agent: 'main' },
        { role: 'assistant', content: 'Both.', agent: 'main', tool_calls: calls },
        { role: 'tool', content: 'Error: no file named util.py', agent: 'main', tool_call_ids: ['c2'] },
        { role: 'tool', content: '1:import utl', agent: 'main', tool_call_ids: ['c1'] },
        { role: 'assistant', content: 'I give up.', agent: 'main' },
      ],
      info: { exit_status: 'submitted' },
    });
    expect(toTrajectory(session).exchanges.map(({ name, result }) => [name, result])).toEqual([
      ['open', '1:import utl'],
      ['find_file', 'Error: no file named util.py'],
    ]);
    expect(failures(session).map(([spanId]) => spanId)).toEqual(['m2']);
  });
  it('each attempt of a retrying agent is a session', () => {
    const attempt = { trajectory: [], history: history(act), info: { exit_status: 'submitted' } };
    const { sessions } = readSessions({
      text: JSON.stringify({ attempts: [attempt, attempt] }),
      source: 'x.traj',
    });
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['x#attempt-0', 'x#attempt-1']);
  });
  it.skipIf(trials === null)('the files of the second trials', () => {
    expect(toTrajectory(trial('pub-02')).goal).toMatch(/^ISSUE/);
    expect(failures(trial('pub-03')).map(([spanId]) => spanId)).toEqual(['m3']);
  });
});

describe('mini-SWE-agent', () => {
  const say = (id: string, command: string) => ({
    role: 'assistant',
    content: 'Next.',
    tool_calls: [call(id, 'bash', { command })],
    extra: { actions: [{ command, tool_call_id: id }] },
  });
  const result = (id: string, returncode: number, output: string) => ({
    role: 'tool',
    tool_call_id: id,
    content: `<returncode>${returncode}</returncode>\n<output>\n${output}\n</output>`,
    extra: { returncode },
  });
  const run = (exit_status: string, ...messages: object[]) =>
    read({
      info: { mini_version: '2.0.0', exit_status },
      messages: [{ role: 'user', content: 'Fix it.' }, ...messages],
      trajectory_format: 'mini-swe-agent-1.1',
    });
  const exit = (exit_status: string, content: string) => ({ role: 'exit', content, extra: { exit_status } });

  it('a run that was handed in is clean, and its end is no agent', () => {
    const session = run(
      'Submitted',
      say('c1', 'ls'),
      result('c1', 0, 'a'),
      say('c2', 'git diff'),
      exit('Submitted', 'diff'),
    );
    expect(runChecks(toTrajectory(session)).flatMap(({ findings }) => findings)).toEqual([]);
    expect(sessionSpans(session).filter(({ agent }) => agent === 'exit')).toEqual([]);
  });
  it('a return code is an exit code; a limit is what ended the run', () => {
    const session = run(
      'LimitsExceeded',
      say('c1', 'make'),
      result('c1', 2, 'boom'),
      exit('LimitsExceeded', ''),
    );
    expect(sessionSpans(session)[2]!.errors).toEqual([{ source: 'exit-code', code: 2, message: 'boom' }]);
    expect(failures(session)).toContainEqual(['m3', 'execution-error-category-resource-exhaustion']);
  });
  it('in text mode too, and without anything around the messages', () => {
    const session = read([
      { role: 'user', content: 'Fix it.' },
      { role: 'assistant', content: '```mswea_bash_command\nmake\n```' },
      { role: 'user', content: '<returncode>1</returncode>\n<output>\nKeyError: 7\n</output>' },
      { role: 'assistant', content: 'All good.' },
    ]);
    expect(session.format).toBe('mini-swe-agent');
    expect(toTrajectory(session).exchanges).toMatchObject([
      { name: 'bash', arguments: { command: 'make' }, isError: true },
    ]);
  });
  it('a person who interrupts is no fault', () => {
    const session = run(
      'UserInterruption',
      say('c1', 'ls'),
      result('c1', 0, 'a'),
      exit('UserInterruption', ''),
    );
    expect(failures(session)).toEqual([]);
  });
  it.skipIf(trials === null)('the files of the second trials', () => {
    expect(failures(trial('pub-04'))).toEqual([]);
    expect(failures(trial('pub-05'))).toContainEqual(['m6', 'execution-error-category-resource-exhaustion']);
    expect(sessionSpans(trial('pub-06'))[3]!.errors).toMatchObject([{ source: 'exit-code', code: 1 }]);
  });
});

describe('OpenHands', () => {
  const event = (id: number, more: object) => ({
    id,
    timestamp: '2026-01-01T10:00:00',
    source: 'agent',
    message: '',
    ...more,
  });
  it('the acts of a delegate are its own until it hands back', () => {
    const session = read([
      event(0, { action: 'message', source: 'user', args: { content: 'Do it.' } }),
      event(1, { action: 'system', args: { content: 's', agent_class: 'Lead' } }),
      event(2, { action: 'delegate', args: { agent: 'Browser', inputs: {} } }),
      event(3, { action: 'browse', args: { url: 'u' } }),
      event(4, { observation: 'browse', cause: 3, content: 'page', extras: {} }),
      event(5, { observation: 'delegate', cause: 2, content: 'found', extras: {} }),
      event(6, { action: 'message', args: { content: 'Done.' } }),
    ]);
    expect(sessionSpans(session).map(({ name, agent }) => [name, agent])).toEqual([
      ['user', null],
      ['system', null],
      ['chat', 'Lead'],
      ['chat', 'Browser'],
      ['browse', 'Browser'],
      ['delegate', 'Lead'],
      ['chat', 'Lead'],
    ]);
  });
  it('a person who rejects an act is no fault of the tool, and a command that still runs has no exit code', () => {
    const session = read([
      event(0, { action: 'run', args: { command: 'rm -r /' } }),
      event(1, { observation: 'user_rejected', cause: 0, content: 'no', extras: {} }),
      event(2, { action: 'run', args: { command: 'sleep 99' } }),
      event(3, {
        observation: 'run',
        cause: 2,
        content: '',
        extras: { metadata: { exit_code: -1 } },
        success: false,
      }),
    ]);
    expect(sessionSpans(session).filter(({ errors }) => errors.length > 0)).toEqual([]);
    expect(sessionSpans(session)[1]).toMatchObject({ toolResult: { isError: null } });
    expect(sessionSpans(session)[3]!.flags).toEqual(['in-progress']);
  });
  it('an event of a kind that is not known is counted', () => {
    const events = [
      { kind: 'MessageEvent', id: 'a', source: 'user', llm_message: { role: 'user', content: 'hi' } },
      { kind: 'TeleportEvent', id: 'b', source: 'agent' },
    ];
    expect(readSessions({ document: events, source: 'e.json' }).unread).toEqual([
      { where: 'e.json', reason: 'event of an unknown kind: TeleportEvent', count: 1 },
    ]);
  });
});

describe('AutoGen 0.4', () => {
  const event = (type: string, content: unknown, more: object = {}) => ({
    source: 'shop',
    type,
    content,
    models_usage: null,
    metadata: {},
    ...more,
  });
  it('a call and its answer are events, and the answer says that it failed', () => {
    const session = read([
      event('TextMessage', 'Cancel A17.', { source: 'user' }),
      event('ToolCallRequestEvent', [{ id: 'c1', name: 'cancel', arguments: '{"id":"A17"}' }]),
      event('ToolCallExecutionEvent', [
        { call_id: 'c1', name: 'cancel', content: 'order service unavailable', is_error: true },
      ]),
      event('TextMessage', 'A17 is cancelled.'),
    ]);
    expect(session.format).toBe('autogen-events');
    expect(failures(session)).toEqual([['m2', 'execution-error-category-service-errors']]);
  });
  it('of parallel calls only the one that failed has failed', () => {
    const session = read([
      event('ToolCallRequestEvent', [
        { id: 'c1', name: 'a', arguments: '{}' },
        { id: 'c2', name: 'b', arguments: '{}' },
      ]),
      event('ToolCallExecutionEvent', [
        { call_id: 'c1', content: 'fine', is_error: false },
        { call_id: 'c2', content: 'service unavailable', is_error: true },
      ]),
    ]);
    expect(toTrajectory(session).exchanges.map(({ name, isError }) => [name, isError])).toEqual([
      ['a', false],
      ['b', true],
    ]);
  });
  it('code that ended with another code than 0 is an error of the executor', () => {
    const session = read([
      event('TextMessage', 'Run it.', { source: 'user' }),
      {
        source: 'executor',
        type: 'CodeExecutionEvent',
        result: { exit_code: 1, output: 'ZeroDivisionError' },
      },
    ]);
    expect(sessionSpans(session)[1]).toMatchObject({ agent: 'executor', errors: [{ code: 1 }] });
  });
  it.skipIf(trials === null)('the file of the second trials', () => {
    expect(failures(trial('pub-13')).map(([spanId]) => spanId)).toEqual(['m2']);
  });
});

describe('tau2-bench', () => {
  const fixture = path.resolve(import.meta.dirname, '../../../fixtures/formats/tau2-bench/results.json');
  const { sessions } = readSessions({ text: readFileSync(fixture, 'utf8'), source: 'run.json' });
  it("the simulated user's own tools are never the agent's", () => {
    const tools = sessionSpans(sessions[0]!).filter(({ kind }) => kind === 'execute_tool');
    expect(tools.map(({ name, agent }) => [name, agent])).toEqual([
      ['get_line', null],
      ['toggle_airplane_mode', 'user'],
    ]);
  });
  it('an agent that greets first has lost no goal; a run that reached its limit says so', () => {
    expect(failures(sessions[0]!).map(([, category]) => category)).not.toContain(
      'orchestration-related-errors-category-goal-deviation',
    );
    expect(failures(sessions[1]!)).toContainEqual(['m5', 'execution-error-category-resource-exhaustion']);
  });
  it('a simulation alone is not taken for one of the first tau-bench', () => {
    const alone = { id: 's', task_id: '1', reward_info: { reward: 1 }, termination_reason: 'user_stop' };
    expect(read({ ...alone, messages: [{ role: 'user', content: 'hi' }] }).format).toBe('tau2-bench');
    expect(
      read({ ...alone, termination_reason: undefined, messages: [{ role: 'user', content: 'hi' }] }).format,
    ).toBe('tau-bench');
  });
});

describe('Inspect', () => {
  it('a tool that a person did not approve has not failed', () => {
    const session = read({
      id: 1,
      epoch: 1,
      target: '',
      output: {},
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: '', tool_calls: [{ id: 'c', function: 'rm', arguments: {} }] },
        { role: 'tool', content: '', tool_call_id: 'c', error: { type: 'approval', message: 'rejected' } },
      ],
    });
    expect(sessionSpans(session)[2]).toMatchObject({ name: 'rm', errors: [], toolResult: { isError: null } });
  });
  it('a log without samples is refused with what to do', () => {
    const log = { version: 2, status: 'error', eval: { task: 't', model: 'm', created: '' }, samples: [] };
    expect(() => read(log)).toThrow(/without samples .*inspect log dump/);
  });
});

describe('numbers that JSON does not have', () => {
  it.each(['NaN', 'Infinity', '-Infinity'])('%s is unknown, and in words it stays', (number) => {
    const text = `[{"role": "user", "content": "is it \\"${number}\\"?", "score": ${number}}]`;
    const [session] = readSessions({ text, source: 'a.json' }).sessions;
    expect(toTrajectory(session!).goal).toBe(`is it "${number}"?`);
  });
});

describe('logs that labels count in steps', () => {
  const event = (source: string, message: string) => ({ source, message, type: 'AgentEvent' });
  it('a mark begins a step, a number seen before goes on with its step, and no span shares an id', () => {
    const session = read([
      event('human', 'alarm'),
      event('A (Step-2)', 'two'),
      event('B', 'still two'),
      event('A', 'Step-3 three'),
      event('A (Step-2)', 'two again'),
    ]);
    const spans = sessionSpans(session);
    expect(spans.map(({ sourcePosition }) => sourcePosition)).toEqual([0, 1, 1, 2, 1]);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(5);
  });
  it('the normal form keeps its indices, gaps and all, whether they begin at 1 or at 0', () => {
    const positions = (...indices: number[]) =>
      sessionSpans(
        read({
          trajectory_id: 't',
          instruction: 'i',
          steps: indices.map((index) => ({
            index,
            substeps: [{ sub_index: 1, role: 'user', content: 'x' }],
          })),
        }),
      ).map(({ sourcePosition }) => sourcePosition);
    expect(positions(1, 2, 5)).toEqual([0, 1, 4]);
    expect(positions(0, 1, 4)).toEqual([0, 1, 4]);
  });
});

describe('text logs', () => {
  const mast = (trajectory: string) => ({
    mas_name: 'X',
    benchmark_name: 'B',
    trace_id: 1,
    trace: { trajectory },
  });
  it('a log that fits no shape is one note, and it is said that it was not split', () => {
    const { sessions, unread } = readSessions({
      text: JSON.stringify([mast('free words')]),
      source: 'm.json',
    });
    expect(sessionSpans(sessions[0]!)).toHaveLength(1);
    expect(unread).toEqual([
      { where: 'mast-X-B-1', reason: 'a log of no known shape: read whole, not split', count: 1 },
    ]);
  });
  it('the code that ran and broke is the error of who ran it', () => {
    const log =
      '---------- user ----------\ngo\n---------- MagenticOneOrchestrator ----------\nrun it\n---------- ComputerTerminal ----------\nThe script ran, then exited with Unix exit code: 2\nOutput:\nboom\n';
    const [session] = readSessions({ text: log, source: 'console_log.txt' }).sessions;
    expect(sessionSpans(session!).at(-1)).toMatchObject({ agent: 'ComputerTerminal', errors: [{ code: 2 }] });
  });
  it('prose that is no log is refused as before', () => {
    expect(() =>
      readSessions({ text: 'Dear all,\nResponse from the team follows.', source: 'a.txt' }),
    ).toThrow(/neither JSON/);
  });
});

describe('ATIF and smolagents', () => {
  it("a sub-agent's turns stand behind the call that started it, under its own name", () => {
    const fixture = path.resolve(import.meta.dirname, '../../../fixtures/formats/atif/trajectory.json');
    const { sessions, unread } = readSessions({ text: readFileSync(fixture, 'utf8'), source: 'a.json' });
    expect(sessionSpans(sessions[0]!).map(({ name, agent }) => [name, agent])).toEqual([
      ['system', null],
      ['user', null],
      ['chat', 'lead'],
      ['bash', 'lead'],
      ['user', null],
      ['chat', 'reader'],
      ['delegate', 'lead'],
      ['chat', 'lead'],
    ]);
    expect(unread).toMatchObject([{ reason: 'steps that repeat earlier ones after a summary' }]);
  });
  it('steps that a run may take are a limit', () => {
    const fixture = path.resolve(
      import.meta.dirname,
      '../../../fixtures/formats/smolagents-memory/run-result.json',
    );
    const [session] = readSessions({ text: readFileSync(fixture, 'utf8'), source: 'a.json' }).sessions;
    expect(failures(session!)).toContainEqual(['m2.1', 'execution-error-category-resource-exhaustion']);
  });
});

describe('Codex session files', () => {
  const line = (type: string, payload: object) => ({ timestamp: '2026-01-01T10:00:00.000Z', type, payload });
  const item = (more: object) => line('response_item', more);
  it('a call that stands in events alone is read once, and events never repeat the items', () => {
    const user = { type: 'UserMessage', id: 'u', content: [{ type: 'text', text: 'go' }] };
    const completed = line('event_msg', { type: 'item_completed', item: user });
    const message = item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] });
    expect(sessionSpans(read([completed, completed]))).toHaveLength(2);
    expect(sessionSpans(read([completed, message]))).toHaveLength(1);
  });
  it.each([
    ['Exit code: 3\nWall time: 1\nOutput:\nboom', 3],
    ['Chunk ID: 1\nWall time: 0.1\nProcess exited with code 4\nOutput:\nboom', 4],
    [JSON.stringify({ output: 'boom', metadata: { exit_code: 5 } }), 5],
    ['boom', undefined],
  ])('what a shell ended with: %j', (output, code) => {
    const session = read([
      item({ type: 'function_call', name: 'shell', call_id: 'c', arguments: '{}' }),
      item({ type: 'function_call_output', call_id: 'c', output }),
    ]);
    expect(sessionSpans(session)[1]!.errors).toEqual(
      code === undefined ? [] : [{ source: 'exit-code', code, message: 'boom' }],
    );
  });
  it('a command that a person declined has not failed; a patch that did not apply has', () => {
    const session = read([
      item({ type: 'function_call', name: 'shell', call_id: 'c', arguments: '{}' }),
      line('event_msg', { type: 'exec_command_end', call_id: 'c', status: 'declined', exit_code: -1 }),
      item({ type: 'function_call_output', call_id: 'c', output: 'declined' }),
      item({ type: 'custom_tool_call', name: 'apply_patch', call_id: 'd', input: '*** Begin Patch' }),
      line('event_msg', { type: 'patch_apply_end', call_id: 'd', success: false }),
      item({ type: 'custom_tool_call_output', call_id: 'd', output: 'failed' }),
    ]);
    expect(toTrajectory(session).exchanges.map(({ isError }) => isError)).toEqual([null, true]);
  });
  it.skipIf(trials === null)('the file of the second trials', () => {
    const session = trial('pub-15');
    expect(toTrajectory(session).goal).toBe('Run the tests and fix what breaks.');
    expect(sessionSpans(session)[1]).toMatchObject({ name: 'shell', errors: [{ code: 2 }] });
  });
});

describe('opencode, Amp and Copilot CLI', () => {
  it('what was undone or rewound is left out, and it is said', () => {
    const file = path.resolve(import.meta.dirname, '../../../fixtures/formats/opencode/export.json');
    const { unread } = readSessions({ text: readFileSync(file, 'utf8'), source: 'o.json' });
    expect(unread).toEqual([{ where: 'o.json', reason: 'messages that were undone', count: 1 }]);
    const event = (id: string, type: string, data: Record<string, string | string[]>) => ({
      id,
      type,
      data,
      timestamp: '2026-01-01T10:00:00Z',
    });
    const copilot = readSessions({
      document: [
        event('a', 'user.message', { content: 'one' }),
        event('b', 'assistant.message', { content: 'wrong', toolRequests: [] }),
        event('c', 'session.snapshot_rewind', { upToEventId: 'a' }),
        event('d', 'assistant.message', { content: 'right', toolRequests: [] }),
      ],
      source: 'c.jsonl',
    });
    expect(sessionSpans(copilot.sessions[0]!)).toHaveLength(2);
    expect(copilot.unread).toMatchObject([{ reason: 'events that were rewound', count: 1 }]);
  });
  it('a tool that never came back has no result, and a person who declines is no failure', () => {
    const file = path.resolve(import.meta.dirname, '../../../fixtures/formats/amp/thread.json');
    const [session] = readSessions({ text: readFileSync(file, 'utf8'), source: 'a.json' }).sessions;
    expect(toTrajectory(session!).exchanges.map(({ name, isError }) => [name, isError])).toEqual([
      ['Bash', true],
      ['Read', null],
    ]);
  });
  it.skipIf(trials === null)('the file of the second trials: a text beside the role is read', () => {
    const session = trial('pub-22');
    expect(session.format).toBe('amp');
    expect(toTrajectory(session).goal).toBe('Cancel order A17.');
  });
});

describe('exports of other products are refused by name, with the export that is read', () => {
  it.each([
    [
      'CrewAI task log',
      [{ timestamp: 't', task_name: 'a', task: 'b', agent: 'c', status: 'started' }],
      /OTLP/,
    ],
    ['output of a CrewAI crew', { raw: 'x', tasks_output: [], token_usage: {} }, /OTLP/],
    [
      'LlamaIndex instrumentation',
      [{ class_name: 'LLMChatEndEvent', id_: '1', span_id: 's', timestamp: 't' }],
      /OpenInference/,
    ],
    [
      'LlamaIndex chat store',
      { store: { k: [{ role: 'user', additional_kwargs: {}, blocks: [] }] } },
      /OpenInference/,
    ],
    [
      'Haystack pipeline',
      { components: {}, connections: [], metadata: {} },
      /HAYSTACK_CONTENT_TRACING_ENABLED/,
    ],
    [
      'AgentOps',
      {
        trace: { trace_id: 't', root_span_name: 'r' },
        spans: [{ span_id: 's', span_name: 'n', span_attributes: {}, trace_id: 't', start_time: 1 }],
      },
      /collector/,
    ],
    [
      'Helicone',
      { data: [{ request_id: 'r', request_created_at: 't', prompt_tokens: 1 }], error: null },
      /--include-body/,
    ],
    [
      'Braintrust',
      {
        events: [
          {
            span_id: 's',
            root_span_id: 'r',
            span_parents: null,
            _xact_id: '1',
            input: 'a',
            output: 'b',
            expected: 'c',
          },
        ],
      },
      /OTLP/,
    ],
    [
      'Datadog LLM Observability',
      {
        data: [{ type: 'span', attributes: { ml_app: 'a', span_kind: 'llm', trace_id: 't', span_id: 's' } }],
      },
      /OTLP/,
    ],
    [
      'smolagents agent',
      { class: 'CodeAgent', tools: [], managed_agents: {}, prompt_templates: {} },
      /get_full_steps/,
    ],
    ['tau2-bench results folder', { info: {}, tasks: [], simulation_index: [] }, /simulations/],
  ])('%s', (name, document, advice) => {
    expect(() => read(document)).toThrow(new RegExp(name));
    expect(() => read(document)).toThrow(advice);
  });
});

describe('Logfire and Weave', () => {
  const row = (more: object) => ({
    trace_id: '0af7651916cd43dd8448eb211c80319c',
    span_id: 'b7ad6b7169203331',
    parent_span_id: null,
    span_name: 'run',
    kind: 'span',
    start_timestamp: '2026-01-01T10:00:00Z',
    end_timestamp: '2026-01-01T10:00:01Z',
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'a' },
    ...more,
  });
  it('a span that was still open and then ended is one', () => {
    const pending = { span_id: 'b7ad6b7169203399', parent_span_id: 'b7ad6b7169203331', kind: 'pending_span' };
    expect(sessionSpans(read([row(pending), row({})]))).toHaveLength(1);
    expect(sessionSpans(read([row(pending)]))).toMatchObject([{ spanId: 'b7ad6b7169203331' }]);
  });
  it('rows without attributes say which columns are wanted', () => {
    expect(() => read([row({ attributes: undefined })])).toThrow(/SELECT \* FROM records/);
  });
});
