import { expect, it } from 'vitest';
import { readSessions } from '../../../../core/reading/registry.ts';
import { sessionSpans } from '../../../../core/session/session.ts';

const read = (...records: object[]) =>
  readSessions({ text: records.map((record) => JSON.stringify(record)).join('\n'), source: 'log.jsonl' });
const user = (text: string) => ({ role: 'user', content: [{ text }] });
const assistant = (text: string) => ({ role: 'assistant', content: [{ text }] });
const record = (second: number, messages: object[], extra: object = {}) => ({
  schemaType: 'ModelInvocationLog',
  timestamp: `2026-01-01T00:00:0${second}Z`,
  requestId: `q${second}`,
  operation: 'Converse',
  modelId: 'm',
  input: { inputBodyJson: { messages }, inputTokenCount: 7 },
  output: {
    outputBodyJson: { output: { message: assistant('ok') }, stopReason: 'end_turn' },
    outputTokenCount: 2,
  },
  ...extra,
});

it('a body in an object of its own is named with its place, and the call is counted with its tokens', () => {
  const { sessions, unread } = read(
    record(1, [user('hi')], {
      input: { inputBodyS3Path: 's3://logs/data/q1_input.json.gz', inputTokenCount: 90000 },
    }),
  );
  expect(sessionSpans(sessions[0]!)).toMatchObject([
    { kind: 'inference', usage: { inputTokens: 90000, outputTokens: 2 }, flags: ['content-not-arrived'] },
  ]);
  expect(unread).toMatchObject([
    { reason: expect.stringContaining('s3://logs/data/q1_input.json.gz'), count: 1 },
  ]);
});

it('a call that goes on with the messages of another is of its session; another beginning is another session', () => {
  const first = [user('one')];
  const { sessions } = read(
    record(2, [...first, assistant('ok'), user('more')]),
    record(1, first),
    record(3, [user('two')]),
  );
  expect(sessions.map((session) => sessionSpans(session).length)).toEqual([2, 1]);
});

it('the session that the request or the caller names wins', () => {
  const { sessions } = read(
    record(1, [user('one')], { requestMetadata: { sessionId: 's-1' } }),
    record(2, [user('two')], { requestMetadata: { sessionId: 's-1' } }),
    record(3, [user('three')], {
      identity: { arn: 'arn:aws:sts::111111111111:assumed-role/r/BedrockAgentCore-0f0f0f0f-aa' },
    }),
  );
  expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['s-1', 'BedrockAgentCore-0f0f0f0f-aa']);
});

it.each([
  [
    'Anthropic',
    [
      { type: 'message_start', message: { id: 'msg_1', model: 'c', usage: { input_tokens: 5 } } },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
      },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"a"' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: ': 1}' } },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 3 } },
    ],
  ],
  [
    'Converse',
    [
      { messageStart: { role: 'assistant' } },
      { contentBlockStart: { start: { toolUse: { toolUseId: 't', name: 'f' } }, contentBlockIndex: 0 } },
      { contentBlockDelta: { delta: { toolUse: { input: '{"a": 1}' } }, contentBlockIndex: 0 } },
      { messageStop: { stopReason: 'tool_use' } },
    ],
  ],
])('a stream of %s events is one answer', (_name, events) => {
  const { sessions } = read(record(1, [user('go')], { output: { outputBodyJson: events } }));
  expect(sessionSpans(sessions[0]!)).toMatchObject([
    {
      output: [{ content: [{ type: 'tool_use', toolCallId: 't', name: 'f', arguments: { a: 1 } }] }],
      finishReasons: ['tool_use'],
    },
  ]);
});

it('native bodies of text models are a prompt and an answer; embeddings are counted, not read', () => {
  const { sessions, unread } = read(
    record(1, [], {
      input: { inputBodyJson: { inputText: 'Tell' } },
      output: { outputBodyJson: { results: [{ outputText: 'Told', completionReason: 'LENGTH' }] } },
    }),
    record(2, [], {
      input: { inputBodyJson: { inputText: 'x' } },
      output: { outputBodyJson: { embedding: [0.1] } },
    }),
  );
  expect(sessionSpans(sessions[0]!)).toMatchObject([
    {
      input: [{ content: [{ text: 'Tell' }] }],
      output: [{ content: [{ text: 'Told' }] }],
      finishReasons: ['length'],
    },
  ]);
  expect(unread).toMatchObject([{ reason: 'a call for embeddings', count: 1 }]);
});
