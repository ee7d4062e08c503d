import { describe, expect, it } from 'vitest';
import { readSessions } from '../../../../core/reading/registry.ts';
import { type Session, type Span, sessionSpans } from '../../../../core/session/session.ts';

const read = (document: unknown): Session[] => [
  ...readSessions({ text: JSON.stringify(document), source: 'export.json' }).sessions,
];
const only = (document: unknown): Span[] => {
  const sessions = read(document);
  expect(sessions).toHaveLength(1);
  return sessionSpans(sessions[0]!);
};

describe('Strands Session JSON', () => {
  const info = (id: string, start: string, parent: string | null = null) => ({
    trace_id: 't1',
    span_id: id,
    parent_span_id: parent,
    session_id: 's1',
    start_time: `2026-03-14T10:00:${start}+00:00`,
    end_time: `2026-03-14T10:00:${start}+00:00`,
  });
  const document = {
    session_id: 's1',
    traces: [
      {
        trace_id: 't1',
        session_id: 's1',
        spans: [
          {
            span_type: 'execute_tool',
            span_info: info('tool', '03', 'agent'),
            metadata: {},
            tool_call: { name: 'lookup', arguments: { id: 7 }, tool_call_id: 'c1' },
            tool_result: { content: '', error: '403 Forbidden', tool_call_id: 'c1' },
          },
          {
            span_type: 'inference',
            span_info: info('call', '02', 'agent'),
            metadata: {},
            messages: [
              { role: 'user', content: [{ content_type: 'text', text: 'find 7' }] },
              {
                role: 'assistant',
                content: [
                  { content_type: 'tool_use', name: 'lookup', arguments: { id: 7 }, tool_call_id: 'c1' },
                ],
              },
            ],
          },
          {
            span_type: 'invoke_agent',
            span_info: info('agent', '01'),
            metadata: { agent_name: 'finder' },
            user_prompt: 'find 7',
            agent_response: 'I could not.',
            available_tools: [{ name: 'lookup', description: 'by id', parameters: { type: 'object' } }],
          },
        ],
      },
    ],
  };
  it('spans come in order of time, whatever the order in the file', () => {
    expect(only(document).map((span) => [span.spanId, span.kind, span.parentSpanId])).toEqual([
      ['agent', 'invoke_agent', null],
      ['call', 'inference', 'agent'],
      ['tool', 'execute_tool', 'agent'],
    ]);
  });
  it('the answer is the output, what came before it the input', () => {
    expect(only(document)[1]).toMatchObject({
      input: [{ role: 'user' }],
      output: [{ role: 'assistant', content: [{ type: 'tool_use', name: 'lookup', arguments: { id: 7 } }] }],
    });
  });
  it('the error of a result is an error of its span and stands in the result', () => {
    expect(only(document)[2]).toMatchObject({
      status: 'error',
      errors: [{ source: 'tool-status', message: '403 Forbidden' }],
      toolResult: { content: '403 Forbidden', isError: true },
    });
  });
  it('camel case is accepted', () => {
    const camel = JSON.parse(
      JSON.stringify(document).replaceAll(
        /"([a-z]+(?:_[a-z]+)+)":/g,
        (_, key: string) => `"${key.replaceAll(/_([a-z])/g, (_m, letter: string) => letter.toUpperCase())}":`,
      ),
    );
    expect(only(camel)).toEqual(only(document));
  });
  it('a span of an unknown type is counted, a session of nothing else refused', () => {
    const odd = structuredClone(document) as { traces: { spans: unknown[] }[] };
    odd.traces[0]!.spans.push({ span_type: 'dream', span_info: info('x', '09') });
    expect(readSessions({ document: odd as never, source: 'x' }).unread).toMatchObject([
      { reason: 'a span of type dream' },
    ]);
    expect(() => read({ session_id: 's', traces: [{ trace_id: 't', spans: [] }] })).toThrow(/without a span/);
  });
});

describe('Langfuse export', () => {
  const observation = (id: string, type: string, second: string, more: object) => ({
    id,
    traceId: 'tr',
    type,
    name: id,
    startTime: `2026-03-14T10:00:${second}.000Z`,
    endTime: `2026-03-14T10:00:${second}.500Z`,
    parentObservationId: null,
    level: 'DEFAULT',
    statusMessage: null,
    input: null,
    output: null,
    metadata: '{}',
    ...more,
  });
  const document = {
    trace: {
      id: 'tr',
      name: 'desk',
      sessionId: 'conv-9',
      timestamp: '2026-03-14T10:00:00Z',
      input: 'hi',
      output: 'bye',
      metadata: '{}',
    },
    observations: [
      observation('tool', 'SPAN', '03', { input: { city: 'Rome' }, output: { temp: 20 } }),
      observation('gen', 'GENERATION', '01', {
        model: 'm',
        usageDetails: { input: 11, output: 3 },
        input: [{ role: 'user', content: 'hi' }],
        output: { role: 'assistant', content: 'let me look' },
      }),
      observation('broken', 'SPAN', '05', { level: 'ERROR', statusMessage: '504 upstream timed out' }),
    ],
  };
  const spans = only(document);
  const byName = new Map(spans.map((span) => [span.name, span]));
  it('the session id is the trace’s, and the trace is the root', () => {
    expect(read(document)[0]!.sessionId).toBe('conv-9');
    expect(spans.map((span) => span.name)).toEqual(['desk', 'gen', 'tool', 'broken']);
    expect(byName.get('desk')).toMatchObject({
      kind: 'invoke_agent',
      userPrompt: 'hi',
      agentResponse: 'bye',
    });
  });
  it('a generation is a model call with its messages and tokens', () => {
    expect(byName.get('gen')).toMatchObject({
      kind: 'inference',
      model: 'm',
      input: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      output: [{ role: 'assistant', content: [{ type: 'text', text: 'let me look' }] }],
      usage: { inputTokens: 11, outputTokens: 3 },
    });
  });
  it('a leaf with input and output is a tool call; level ERROR is an error', () => {
    expect(byName.get('tool')).toMatchObject({
      kind: 'execute_tool',
      toolCall: { name: 'tool', arguments: { city: 'Rome' } },
      toolResult: { content: '{"temp":20}' },
    });
    expect(byName.get('broken')).toMatchObject({
      status: 'error',
      errors: [{ message: '504 upstream timed out' }],
    });
  });
  it('an export without any input and output is still a session, not a refusal', () => {
    const bare = {
      trace: { ...document.trace, input: null, output: null },
      observations: [observation('gen', 'GENERATION', '01', {})],
    };
    expect(only(bare).map((span) => span.kind)).toEqual(['other', 'inference']);
  });
});

describe('LangSmith runs', () => {
  const stamp = (n: number, id: string) => `20260314T10000${n}000000Z${id}`;
  const document = {
    post: [
      {
        id: 'root',
        run_type: 'chain',
        name: 'agent',
        trace_id: 'root',
        dotted_order: stamp(1, 'root'),
        start_time: 1773482401000,
        inputs: { input: 'weather?' },
        outputs: {},
        session_id: 'the-project',
        extra: { metadata: { thread_id: 'conv-1' } },
      },
      {
        id: 'llm',
        run_type: 'llm',
        name: 'Chat',
        trace_id: 'root',
        parent_run_id: 'root',
        dotted_order: `${stamp(1, 'root')}.${stamp(2, 'llm')}`,
        start_time: 1773482402000,
        inputs: { messages: [{ role: 'user', content: 'weather?' }] },
        outputs: {},
      },
      {
        id: 'tool',
        run_type: 'tool',
        name: 'forecast',
        trace_id: 'root',
        parent_run_id: 'root',
        dotted_order: `${stamp(1, 'root')}.${stamp(3, 'tool')}`,
        start_time: 1773482403000,
        inputs: { city: 'Rome' },
        outputs: {},
      },
    ],
    patch: [
      {
        dotted_order: `${stamp(1, 'root')}.${stamp(2, 'llm')}`,
        trace_id: 'root',
        end_time: 1773482402500,
        outputs: {
          choices: [{ message: { role: 'assistant', content: 'one moment' }, finish_reason: 'length' }],
          usage: { prompt_tokens: 5, completion_tokens: 2 },
        },
      },
      {
        id: 'tool',
        dotted_order: `${stamp(1, 'root')}.${stamp(3, 'tool')}`,
        trace_id: 'root',
        end_time: 1773482403500,
        error: 'TimeoutError: 10 s',
      },
      {
        id: 'root',
        dotted_order: stamp(1, 'root'),
        trace_id: 'root',
        end_time: 1773482404000,
        outputs: { output: 'no idea' },
      },
    ],
  };
  it('post and patch are one run, also when the patch has no id; the conversation is not the project', () => {
    expect(read(document)[0]!.sessionId).toBe('conv-1');
    expect(only(document).map((span) => [span.name, span.kind, span.parentSpanId])).toEqual([
      ['agent', 'invoke_agent', null],
      ['Chat', 'inference', 'root'],
      ['forecast', 'execute_tool', 'root'],
    ]);
  });
  it('messages, finish reason and tokens of a model run', () => {
    expect(only(document)[1]).toMatchObject({
      input: [{ role: 'user', content: [{ type: 'text', text: 'weather?' }] }],
      output: [{ role: 'assistant', content: [{ type: 'text', text: 'one moment' }] }],
      finishReasons: ['length'],
      usage: { inputTokens: 5, outputTokens: 2 },
    });
  });
  it('the error of a run is an error of its span', () => {
    expect(only(document)[2]).toMatchObject({
      status: 'error',
      errors: [{ message: 'TimeoutError: 10 s' }],
      toolCall: { name: 'forecast', arguments: { city: 'Rome' } },
    });
  });
});
