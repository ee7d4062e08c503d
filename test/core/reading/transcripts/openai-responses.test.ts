import { describe, expect, it } from 'vitest';
import { readSessions } from '../../../../core/reading/registry.ts';
import { type Session, sessionSpans } from '../../../../core/session/session.ts';

const read = (document: unknown) => readSessions({ text: JSON.stringify(document), source: 'log.json' });
const users = (session: Session) =>
  sessionSpans(session).flatMap((span) => (span.kind === 'message' ? span.message.content : []));
const answer = (id: string, text: string, extra: object = {}) => ({
  id,
  object: 'response',
  status: 'completed',
  model: 'm',
  output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }],
  ...extra,
});

describe('calls of the Responses API', () => {
  it('belong together by the response that they continue; the same words said twice are said twice', () => {
    const request = (text: string, previous?: string) => ({
      model: 'm',
      input: [{ role: 'user', content: text }],
      ...(previous === undefined ? {} : { previous_response_id: previous }),
    });
    const { sessions } = read([
      { request: request('yes'), response: answer('resp_1', 'Sure?') },
      { request: request('other'), response: answer('resp_9', 'Hello') },
      {
        request: request('yes', 'resp_1'),
        response: answer('resp_2', 'Done', { previous_response_id: 'resp_1' }),
      },
    ]);
    expect(sessions.map((session) => users(session).length)).toEqual([2, 1]);
  });
  it('of a batch are sessions of their own', () => {
    const line = (id: string) => ({
      id: `batch_${id}`,
      custom_id: id,
      response: { status_code: 200, request_id: 'r', body: answer(`resp_${id}`, 'ok') },
      error: null,
    });
    expect(read([line('a'), line('b')]).sessions.map(({ sessionId }) => sessionId)).toEqual(['a', 'b']);
  });
  it('that ended early, failed or were refused say so', () => {
    const incomplete = answer('resp_1', 'Nordwind is a', {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
    const failed = {
      id: 'resp_2',
      object: 'response',
      status: 'failed',
      output: [],
      error: { code: 'server_error', message: 'down' },
    };
    const spans = read([incomplete, failed]).sessions.flatMap(sessionSpans);
    expect(spans).toMatchObject([
      { kind: 'inference', finishReasons: ['max_output_tokens'] },
      { kind: 'inference', errors: [{ type: 'server_error', message: 'down' }] },
    ]);
  });
  it('of a stream are read from its last event, of a broken stream from its finished items', () => {
    const delta = { type: 'response.output_text.delta', sequence_number: 1, delta: 'H' };
    const done = { type: 'response.completed', sequence_number: 2, response: answer('resp_1', 'Hi') };
    const item = {
      type: 'response.output_item.done',
      sequence_number: 3,
      item: { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    };
    expect(sessionSpans(read([delta, done, item]).sessions[0]!)).toMatchObject([
      { output: [{ content: [{ text: 'Hi' }] }] },
      { output: [{ content: [{ type: 'tool_use', name: 'f' }] }] },
    ]);
  });
});

it('a page of items, newest first, is read in order; an unknown item is named and costs itself alone', () => {
  const { sessions, unread } = read({
    object: 'list',
    has_more: false,
    data: [
      { type: 'quantum_call', id: 'q1' },
      {
        type: 'shell_call_output',
        call_id: 's1',
        output: [{ stdout: '', stderr: 'no', outcome: { type: 'exit', exit_code: 2 } }],
      },
      { type: 'shell_call', id: 'x', call_id: 's1', action: { commands: ['make'] } },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Build it' }] },
    ],
  });
  expect(sessionSpans(sessions[0]!)).toMatchObject([
    { kind: 'message' },
    { kind: 'inference' },
    { kind: 'execute_tool', toolCall: { name: 'shell' }, toolResult: { isError: true } },
  ]);
  expect(unread).toMatchObject([{ reason: expect.stringContaining('quantum_call'), count: 1 }]);
});

it('a request for embeddings is no session', () => {
  expect(() => read({ model: 'm', input: ['a', 'b'] })).toThrow(/no known format/);
});
