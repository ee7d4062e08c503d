import { describe, expect, it } from 'vitest';
import { readSessions } from '../../../../core/reading/registry.ts';
import { sessionSpans } from '../../../../core/session/session.ts';

const lines = (...entries: unknown[]): string => entries.map((entry) => JSON.stringify(entry)).join('\n');
const read = (text: string, source = 'log.jsonl') => readSessions({ text, source }).sessions;
const spans = (text: string) => {
  const sessions = read(text);
  expect(sessions).toHaveLength(1);
  return sessionSpans(sessions[0]!);
};

describe('Claude Code transcripts', () => {
  const at = (second: number) => `2026-03-14T10:00:0${second}.000Z`;
  const assistant = (id: string, second: number, ...content: unknown[]) => ({
    type: 'assistant',
    sessionId: 'cc-1',
    timestamp: at(second),
    message: { id, role: 'assistant', model: 'm', stop_reason: 'tool_use', content },
  });
  const user = (second: number, content: unknown) => ({
    type: 'user',
    sessionId: 'cc-1',
    timestamp: at(second),
    message: { role: 'user', content },
  });
  const text = lines(
    { type: 'summary', summary: 'earlier work' },
    user(0, 'fix the test'),
    assistant('msg_1', 1, { type: 'thinking', thinking: 'look first' }),
    assistant('msg_1', 1, { type: 'text', text: 'I look.' }),
    assistant('msg_1', 1, { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'npm test' } }),
    user(2, [{ type: 'tool_result', tool_use_id: 't1', content: 'Exit code 1', is_error: true }]),
    assistant('msg_2', 3, { type: 'tool_use', id: 't2', name: 'Edit', input: {} }),
    user(4, [
      {
        type: 'tool_result',
        tool_use_id: 't2',
        is_error: true,
        content: "The user doesn't want to proceed with this tool use.",
      },
    ]),
  );
  it('blocks of one answer on several lines are one model call', () => {
    expect(spans(text).map((span) => [span.kind, span.sourcePosition])).toEqual([
      ['message', 1],
      ['inference', 2],
      ['execute_tool', 5],
      ['inference', 6],
      ['execute_tool', 7],
    ]);
    expect(spans(text)[1]).toMatchObject({
      responseId: 'msg_1',
      output: [{ content: [{ type: 'reasoning' }, { type: 'text' }, { type: 'tool_use', name: 'Bash' }] }],
    });
  });
  it('the session is named by its lines and timed by them', () => {
    expect(read(text)[0]!.sessionId).toBe('cc-1');
    expect(spans(text)[0]!.startTimeUnixNano).toBe('1773482400000000000');
  });
  it('a failed tool is an error, a rejected permission is not', () => {
    expect(spans(text)[2]).toMatchObject({ toolResult: { isError: true } });
    expect(spans(text)[4]).toMatchObject({ toolResult: { isError: null } });
  });
  it('a run that ended with an error says so', () => {
    const ended = `${text}\n${JSON.stringify({ type: 'result', session_id: 'cc-1', subtype: 'error_max_turns', is_error: true })}`;
    expect(spans(ended).at(-1)).toMatchObject({ status: 'error', errors: [{ type: 'error_max_turns' }] });
  });
  it('two sessions in one file are told apart', () => {
    const other = JSON.stringify({ ...user(5, 'hello'), sessionId: 'cc-2' });
    expect(read(`${text}\n${other}`).map((session) => session.sessionId)).toEqual(['cc-1', 'cc-2']);
  });
});

describe('Codex', () => {
  const item = (type: string, more: object) => ({ type: 'item.completed', item: { type, ...more } });
  const text = lines(
    { type: 'thread.started', thread_id: 'th-1' },
    { type: 'turn.started' },
    item('reasoning', { id: 'i0', text: 'think' }),
    {
      type: 'item.started',
      item: { id: 'i1', type: 'command_execution', command: 'npm test', status: 'in_progress' },
    },
    item('command_execution', {
      id: 'i1',
      command: 'npm test',
      aggregated_output: 'boom\nfailed',
      exit_code: 2,
      status: 'failed',
    }),
    {
      type: 'item.started',
      item: { id: 'i2', type: 'command_execution', command: 'sleep 9', status: 'in_progress' },
    },
    item('agent_message', { id: 'i3', text: 'It fails.' }),
    { type: 'turn.failed', error: { message: 'stream disconnected' } },
  );
  it('started and completed are one step; a non-zero exit code is an error', () => {
    expect(read(text)[0]!.sessionId).toBe('th-1');
    const [reasoning, command, hanging, answer, failure] = spans(text);
    expect(reasoning).toMatchObject({ output: [{ content: [{ type: 'reasoning', text: 'think' }] }] });
    expect(command).toMatchObject({
      kind: 'execute_tool',
      sourcePosition: 3,
      toolCall: { name: 'shell', arguments: { command: 'npm test' } },
      toolResult: { isError: true },
      errors: [{ source: 'exit-code', code: 2, message: 'failed' }],
    });
    expect(hanging!.flags).toEqual(['in-progress']);
    expect(answer).toMatchObject({ kind: 'inference' });
    expect(failure).toMatchObject({ status: 'error', errors: [{ message: 'stream disconnected' }] });
  });
  it('a step that never ended has no result', () => {
    expect(spans(text)[2]).toMatchObject({ kind: 'execute_tool', toolResult: null });
  });
  it('session files pair calls with outputs by call_id', () => {
    const payload = (value: object) => ({
      timestamp: '2026-03-14T10:00:00Z',
      type: 'response_item',
      payload: value,
    });
    const recorded = lines(
      { type: 'session_meta', payload: { id: 'cx-7' } },
      payload({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] }),
      payload({ type: 'function_call', name: 'shell', call_id: 'c1', arguments: '{"command":["ls"]}' }),
      payload({
        type: 'function_call_output',
        call_id: 'c1',
        output: JSON.stringify({ output: 'no such dir', metadata: { exit_code: 2 } }),
      }),
    );
    expect(read(recorded)[0]!.sessionId).toBe('cx-7');
    expect(spans(recorded).at(-1)).toMatchObject({
      toolCall: { name: 'shell', arguments: { command: ['ls'] } },
      toolResult: { content: 'no such dir', isError: true },
      errors: [{ source: 'exit-code', code: 2 }],
    });
  });
});

describe('Exgentic trajectories', () => {
  const line = (event: string, step: number, more: object) => ({ event, session_id: 'ex-1', step, ...more });
  const action = (name: string, id: string, args: object, validation: object = { valid: true }) => ({
    action: { name, id, arguments: args, validation },
  });
  const text = lines(
    line('observation', 0, {
      observation: { result: { sender: 'user', message: 'cancel it' }, invoking_actions: [] },
    }),
    line('action', 1, action('get_order', 'a1', { id: 'W1' })),
    line('observation', 1, {
      observation: { result: '{"state": "sent"}', invoking_actions: [{ name: 'get_order', id: 'a1' }] },
    }),
    line('action', 2, action('cancel', 'a2', {}, { valid: false, error: 'id is missing' })),
    line('action', 3, action('message', 'a3', { content: 'It is sent already.' })),
    line('observation', 3, { observation: null }),
  );
  it('messages, calls and results keep the place of their line', () => {
    expect(spans(text).map((span) => [span.kind, span.sourcePosition])).toEqual([
      ['message', 0],
      ['inference', 1],
      ['execute_tool', 2],
      ['inference', 3],
      ['inference', 4],
    ]);
    expect(spans(text)[2]).toMatchObject({
      toolCall: { name: 'get_order', arguments: { id: 'W1' } },
      flags: [],
    });
  });
  it('an action that the harness refused is an error', () => {
    expect(spans(text)[3]).toMatchObject({ errors: [{ type: 'invalid-action', message: 'id is missing' }] });
  });
});

describe('recorded model calls', () => {
  const request = {
    messages: [{ role: 'user', content: 'two tools, please' }],
    tools: [{ name: 't', input_schema: {} }],
  };
  it('an answer cut at the token limit keeps its stop reason and the cut call', () => {
    const [span] = spans(
      JSON.stringify([
        {
          body: request,
          status: 200,
          response: {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'u1', name: 't', input: {} }],
            stop_reason: 'max_tokens',
            usage: { input_tokens: 9, output_tokens: 100 },
          },
        },
      ]),
    );
    expect(span).toMatchObject({
      kind: 'inference',
      finishReasons: ['max_tokens'],
      output: [{ content: [{ type: 'tool_use', name: 't', arguments: {} }] }],
      tools: [{ name: 't' }],
      usage: { inputTokens: 9, outputTokens: 100 },
    });
  });
  it('an HTTP 400 is an error of the call', () => {
    const [span] = spans(
      JSON.stringify([{ body: request, status: 400, response: { message: 'bad model id' } }]),
    );
    expect(span).toMatchObject({
      status: 'error',
      errors: [{ source: 'http', code: 400, message: 'bad model id' }],
    });
  });
  it('Bedrock invocation logs and Converse answers are read', () => {
    const converse = [{ role: 'user', content: [{ text: 'hi' }] }];
    const [span] = spans(
      JSON.stringify({
        modelId: 'm',
        input: { inputBodyJson: { messages: converse, system: [{ text: 'be kind' }] } },
        output: {
          outputBodyJson: {
            output: { message: { role: 'assistant', content: [{ text: 'hello' }] } },
            stopReason: 'end_turn',
          },
        },
      }),
    );
    expect(span).toMatchObject({
      systemPrompt: 'be kind',
      model: 'm',
      finishReasons: ['end_turn'],
      output: [{ content: [{ type: 'text', text: 'hello' }] }],
    });
  });
});
