import { describe, expect, test } from 'vitest';
import { measurePromptTokens } from '../../bench/corpus/prompt-tokens.ts';
import { readCorpora } from '../../bench/corpus/read-corpus.ts';
import { strandsJson } from '../../bench/corpus/strands-json.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { inference, message, session, tool, use } from '../helpers/build-session.ts';
import { sharedPath } from '../helpers/shared-data.ts';

describe('prompt tokens against indented Strands JSON', () => {
  test.for([
    ['agentrx-tau', 0.4],
    ['agentrx-magentic', 0.65],
  ] as const)('on %s are at most the promised share', { timeout: 120_000 }, ([name, share], context) => {
    const folder = sharedPath('bench', 'dev');
    if (folder === null) return context.skip();
    const corpus = readCorpora(folder).filter((one) => one.name === name);
    const [row] = measurePromptTokens(corpus, makeTokenCounter());
    expect(row?.sessions).toBeGreaterThan(10);
    expect(row?.share).toBeLessThanOrEqual(share);
  });

  test('the yardstick is a Strands session: its names, its ids, its times', () => {
    const made = session([
      inference([message('user', 'q')], [message('assistant', use('c', 'f', { n: 1 }))], {
        startTimeUnixNano: '1767225600123456789',
      }),
      tool('c', 'f', { n: 1 }, 'r'),
    ]);
    const parsed = JSON.parse(strandsJson(made));
    const [first, second] = parsed.traces[0].spans;
    expect(Object.keys(first.span_info)).toEqual([
      'trace_id',
      'span_id',
      'session_id',
      'parent_span_id',
      'start_time',
      'end_time',
    ]);
    expect(first.span_info.trace_id).toMatch(/^[0-9a-f]{32}$/);
    expect(first.span_info.span_id).toMatch(/^[0-9a-f]{16}$/);
    expect(first.span_info.start_time).toBe('2026-01-01T00:00:00.123456+00:00');
    expect(first.messages.map((m: { role: string }) => m.role)).toEqual(['user', 'assistant']);
    expect(second).toMatchObject({
      span_type: 'execute_tool',
      tool_call: { name: 'f', arguments: { n: 1 }, tool_call_id: 'c' },
      tool_result: { content: 'r', error: null, tool_call_id: 'c' },
    });
  });

  test('a folder that is not there is a configuration fault', () => {
    expect(() => readCorpora('no/such/folder')).toThrow(
      expect.objectContaining({ name: 'ConfigurationInvalidError' }),
    );
  });
});
