import { describe, expect, it } from 'vitest';
import { UnusableAnswerError } from '../../../core/model/answer-defect.ts';
import { NO_USAGE } from '../../../core/model/port.ts';
import { acceptCompletion, readCompletion } from '../../../core/model/read-completion.ts';

const meta = {
  usage: NO_USAGE,
  model: 'm',
  outputMode: 'text' as const,
  requestHash: 'h',
  cached: false,
  durationMs: 0,
};

describe('a response in any convention', () => {
  it.each([
    [
      'Converse, text beside reasoning',
      {
        output: {
          message: {
            content: [{ reasoningContent: { reasoningText: { text: 'hm' } } }, { text: 'a' }, { text: 'b' }],
          },
        },
        stopReason: 'end_turn',
        usage: { inputTokens: 3, outputTokens: 4, cacheReadInputTokens: 5, cacheWriteInputTokens: 6 },
      },
      {
        text: 'ab',
        stop: 'end_turn',
        tokens: { inputTokens: 3, outputTokens: 4, cacheReadTokens: 5, cacheWriteTokens: 6 },
      },
    ],
    [
      'Converse, tool',
      {
        output: { message: { content: [{ text: 'Now' }, { toolUse: { input: { a: 1 } } }] } },
        stopReason: 'tool_use',
      },
      { text: '{"a":1}', stop: 'tool_use', tokens: null },
    ],
    [
      'Anthropic, thinking and tool',
      {
        content: [
          { type: 'thinking', thinking: 'x' },
          { type: 'tool_use', name: 't', input: { a: 1 } },
        ],
        stop_reason: 'tool_use',
        usage: { input_tokens: 1, output_tokens: 2, cache_creation_input_tokens: null },
      },
      {
        text: '{"a":1}',
        stop: 'tool_use',
        tokens: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 },
      },
    ],
    [
      'chat, content parts',
      {
        choices: [
          {
            message: {
              content: [
                { type: 'text', text: 'a' },
                { type: 'text', text: 'b' },
              ],
            },
            finish_reason: 'stop',
          },
        ],
      },
      { text: 'ab', stop: 'stop', tokens: null },
    ],
    ['a string', 'ab', { text: 'ab', stop: null, tokens: null }],
  ])('%s', (_, value, expected) => {
    expect(readCompletion(value)).toMatchObject(expected);
  });

  it.each([null, 7, [], {}, { output: {} }, { choices: [] }, { content: 'x' }, { error: 'x' }])(
    'refuses %j',
    (value) => {
      expect(() => readCompletion(value)).toThrow(/neither a Converse response/);
      expect(() => readCompletion(value)).toThrow(UnusableAnswerError);
    },
  );

  it('a tool call cut at the token limit is cut, though its input is an object', () => {
    // As a real model left its second call: arguments `{}` and stop reason max_tokens.
    const completion = readCompletion({
      content: [{ type: 'tool_use', name: 'calculate', input: {} }],
      stop_reason: 'max_tokens',
      usage: { input_tokens: 435, output_tokens: 100 },
    });
    expect(() => acceptCompletion(completion, meta)).toThrow(expect.objectContaining({ defect: 'cut' }));
  });
});
