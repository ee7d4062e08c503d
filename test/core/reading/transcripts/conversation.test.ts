import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSessions } from '../../../../core/reading/registry.ts';
import {
  type Session,
  sessionSchema,
  sessionSpans,
  type ToolSpan,
} from '../../../../core/session/session.ts';

const read = (document: unknown, source = 'chat.json'): Session =>
  readSessions({ text: JSON.stringify(document), source }).sessions[0]!;
const tools = (session: Session): ToolSpan[] =>
  sessionSpans(session).filter((span): span is ToolSpan => span.kind === 'execute_tool');
const call = (id: string | undefined, name: string, args: unknown) => ({
  ...(id === undefined ? {} : { id }),
  type: 'function',
  function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
});

describe('pairing of results with calls', () => {
  it('results in reverse order stay with the call they name', () => {
    const [first, second] = tools(
      read([
        { role: 'assistant', tool_calls: [call('a', 'read', { n: 1 }), call('b', 'write', { n: 2 })] },
        { role: 'tool', tool_call_id: 'b', content: 'written' },
        { role: 'tool', tool_call_id: 'a', content: 'was read' },
      ]),
    );
    expect([first!.toolCall.name, first!.toolResult?.content]).toEqual(['write', 'written']);
    expect([second!.toolCall.name, second!.toolCall.arguments]).toEqual(['read', { n: 1 }]);
    expect(first!.flags).toEqual([]);
    expect(first!.parentSpanId).toBe('m0');
  });
  it('a repeated id is paired by order and flagged', () => {
    const spans = tools(
      read([
        { role: 'assistant', tool_calls: [call('x', 'go', { n: 1 }), call('x', 'go', { n: 2 })] },
        { role: 'tool', tool_call_id: 'x', content: 'one' },
        { role: 'tool', tool_call_id: 'x', content: 'two' },
        { role: 'tool', tool_call_id: 'x', content: 'three' },
      ]),
    );
    expect(spans.map((span) => span.toolCall.arguments)).toEqual([{ n: 1 }, { n: 2 }, { n: 2 }]);
    expect(spans.every((span) => span.flags.includes('duplicate-call-id'))).toBe(true);
  });
  it('without ids a result goes to the oldest open call of its name, flagged', () => {
    const [span] = tools(
      read([
        {
          role: 'assistant',
          tool_calls: [call(undefined, 'read', { n: 1 }), call(undefined, 'write', { n: 2 })],
        },
        { role: 'tool', name: 'write', content: 'written' },
      ]),
    );
    expect(span!.toolCall.arguments).toEqual({ n: 2 });
    expect(span!.flags).toEqual(['paired-by-position']);
  });
  it('a result whose id no call has is not given to another call', () => {
    const [span] = tools(
      read([
        { role: 'assistant', tool_calls: [call('a', 'read', {})] },
        { role: 'tool', tool_call_id: 'stranger', name: 'write', content: 'done' },
      ]),
    );
    expect([span!.toolCall.name, span!.toolCall.arguments]).toEqual(['write', null]);
    expect(span!.flags).toEqual(['content-absent']);
  });
});

describe('arguments', () => {
  const argumentsOf = (text: string) =>
    tools(
      read([
        { role: 'assistant', tool_calls: [call('a', 'run', text)] },
        { role: 'tool', tool_call_id: 'a', content: '' },
      ]),
    )[0]!.toolCall;

  it('JSON text is parsed and not kept twice', () => {
    expect(argumentsOf('{"cmd": "ls"}')).toEqual({ name: 'run', toolCallId: 'a', arguments: { cmd: 'ls' } });
  });
  it('a raw newline inside a string is repaired, with the text kept', () => {
    const raw = '{"cmd": "git commit -m \nfix"}';
    expect(argumentsOf(raw)).toMatchObject({ arguments: { cmd: 'git commit -m \nfix' }, argumentsRaw: raw });
  });
  it('double-encoded arguments are decoded, with the text kept', () => {
    const raw = JSON.stringify(JSON.stringify({ city: 'X' }));
    expect(argumentsOf(raw)).toMatchObject({ arguments: { city: 'X' }, argumentsRaw: raw });
  });
  it('the call that had to be repaired is flagged', () => {
    const session = read([{ role: 'assistant', tool_calls: [call('a', 'run', "{'cmd': True}")] }]);
    expect(sessionSpans(session)[0]).toMatchObject({
      flags: ['arguments-repaired'],
      output: [{ content: [{ arguments: { cmd: true } }] }],
    });
  });
  it('hopeless text stays as it is', () => {
    expect(argumentsOf('drop table')).toMatchObject({ arguments: 'drop table' });
  });
});

describe('one span a raw message', () => {
  const message = fc.oneof(
    fc.record({ role: fc.constantFrom('system', 'user', 'assistant'), content: fc.string() }),
    fc.record({ role: fc.constant('assistant'), content: fc.constant(null) }),
    fc.record({ role: fc.constant('tool'), tool_call_id: fc.constantFrom('a', 'b'), content: fc.string() }),
    fc.record({
      role: fc.constant('assistant'),
      tool_calls: fc.array(
        fc.constantFrom('a', 'b').map((id) => call(id, 'go', {})),
        { minLength: 1 },
      ),
    }),
  );
  it('any list of chat messages gives valid, uniquely named spans with every position in order', () => {
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 30 }), (messages) => {
        const session = read(messages);
        const spans = sessionSpans(session);
        expect(sessionSchema.safeParse(session).success).toBe(true);
        expect(spans.map((span) => span.sourcePosition)).toEqual(messages.map((_, index) => index));
        expect(new Set(spans.map((span) => span.spanId)).size).toBe(spans.length);
      }),
    );
  });
  it('a message with two results and a text is three spans at one position', () => {
    const session = read([
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 't1', name: 'a', input: {} },
          { type: 'tool_use', id: 't2', name: 'b', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't2', content: 'no', is_error: true },
          { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'yes' }] },
          { type: 'text', text: 'and now?' },
        ],
      },
    ]);
    expect(sessionSpans(session).map((span) => [span.spanId, span.kind, span.sourcePosition])).toEqual([
      ['m0', 'inference', 0],
      ['m1', 'execute_tool', 1],
      ['m1.1', 'execute_tool', 1],
      ['m1.2', 'message', 1],
    ]);
    expect(tools(session).map((span) => [span.toolCall.name, span.toolResult?.isError])).toEqual([
      ['b', true],
      ['a', null],
    ]);
  });
});

it('images are carried by size and digest, not by their bytes', () => {
  const data = 'A'.repeat(4000);
  const session = read([
    { role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }] },
  ]);
  expect(JSON.stringify(session)).not.toContain('AAAAAAAA');
  expect(sessionSpans(session)[0]).toMatchObject({
    message: { content: [{ type: 'media', mediaType: 'image/png', byteLength: 3000 }] },
  });
});

it('tool definitions of any request style are read once', () => {
  const schema = { type: 'object', properties: {} };
  const tool = (session: Session) => {
    const [span] = sessionSpans(session);
    return span?.kind === 'inference' ? span.tools : undefined;
  };
  const messages = [{ role: 'assistant', content: 'hi' }];
  const expected = [{ name: 't', description: 'd', parameters: schema }];
  for (const tools of [
    [{ type: 'function', function: { name: 't', description: 'd', parameters: schema } }],
    [{ name: 't', description: 'd', input_schema: schema }],
    [{ toolSpec: { name: 't', description: 'd', inputSchema: { json: schema } } }],
  ]) {
    expect(tool(read({ messages, tools }))).toEqual(expected);
  }
});

it('items of the Responses API stand among messages', () => {
  const session = read([
    { role: 'user', content: 'weather?' },
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'ask the tool' }] },
    { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'weather', arguments: '{"city": "Oslo"}' },
    { type: 'function_call_output', call_id: 'c1', output: 'rain' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It rains.' }] },
  ]);
  expect(session.format).toBe('openai-responses');
  expect(sessionSpans(session)).toMatchObject([
    { kind: 'message' },
    { kind: 'inference', output: [{ content: [{ type: 'reasoning', text: 'ask the tool' }] }] },
    { kind: 'inference', output: [{ content: [{ type: 'tool_use', toolCallId: 'c1', name: 'weather' }] }] },
    {
      kind: 'execute_tool',
      toolCall: { arguments: { city: 'Oslo' } },
      toolResult: { content: 'rain' },
      flags: [],
    },
    { kind: 'inference', output: [{ content: [{ type: 'text', text: 'It rains.' }] }] },
  ]);
});
