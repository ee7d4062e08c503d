import { describe, expect, it } from 'vitest';
import { explicitErrors } from '../../core/checks/explicit-errors.ts';
import { sessionSpans } from '../../core/session/session.ts';
import { toTrajectory } from '../../core/trajectory/to-trajectory.ts';
import {
  agents,
  answer,
  asks,
  at,
  chat,
  fixture,
  flatSpan,
  inferences,
  onlySession,
  spanById,
  toolRun,
  tools,
  user,
} from '../helpers/telemetry.ts';

/** How spans, calls and results hang together; each trial named after its symptom. */

describe('the tree', () => {
  it('parents are cyclic and hang or hide the tree: cut at the earliest start', () => {
    const session = onlySession([
      flatSpan('a', { parent: 'b', start: 5 }),
      flatSpan('b', { parent: 'c', start: 2 }),
      flatSpan('c', { parent: 'a', start: 9 }),
      flatSpan('self', { parent: 'self', start: 20 }),
    ]);
    expect(spanById(session, 'b')).toMatchObject({ parentSpanId: null, flags: ['cycle-cut'] });
    expect(spanById(session, 'a')).toMatchObject({ parentSpanId: 'b', flags: [] });
    expect(spanById(session, 'self')).toMatchObject({ parentSpanId: 'b', flags: ['self-parent'] });
  });

  it('spans whose parent is missing are dropped: they hang under the root', () => {
    const session = onlySession([
      flatSpan('root'),
      flatSpan('lost', { parent: 'nowhere', start: 3 }),
      flatSpan('kid', { parent: 'lost', start: 4 }),
    ]);
    expect(spanById(session, 'lost')).toMatchObject({ parentSpanId: 'root', flags: ['missing-parent'] });
    expect(spanById(session, 'kid')).toMatchObject({ parentSpanId: 'lost', flags: [] });
  });

  it('288 spans whose ultimate ancestor was never exported: the earliest is the root, none is lost', () => {
    const spans = Array.from({ length: 288 }, (_, i) =>
      flatSpan(`n${i}`, { parent: 'ghost', start: 288 - i }),
    );
    const session = onlySession(spans);
    expect(sessionSpans(session)).toHaveLength(288);
    expect(spanById(session, 'n287')).toMatchObject({ parentSpanId: null });
    expect(sessionSpans(session).filter((s) => s.parentSpanId === 'n287')).toHaveLength(287);
  });

  it('child spans end long after their parent', () => {
    const session = onlySession([
      flatSpan('p', { end: 100 }),
      flatSpan('c', { parent: 'p', start: 50, end: 14_700 }),
    ]);
    expect(spanById(session, 'c').flags).toEqual(['outlives-parent']);
  });

  it('clocks drift and a span ends before it starts', () => {
    const session = onlySession([flatSpan('s', { start: 100, end: 40 })]);
    expect(spanById(session, 's')).toMatchObject({
      flags: ['negative-duration'],
      startTimeUnixNano: at(100),
      endTimeUnixNano: at(40),
    });
  });

  it('a child that starts before its parent still comes after it', () => {
    const session = onlySession([
      flatSpan('kid', { parent: 'p', start: 1 }),
      flatSpan('p', { start: 9 }),
      flatSpan('other', { start: 5 }),
    ]);
    expect(sessionSpans(session).map((s) => s.spanId)).toEqual(['other', 'p', 'kid']);
  });

  it('a chain of 12,000 spans does not overflow the stack', () => {
    const spans = Array.from({ length: 12_000 }, (_, i) =>
      flatSpan(`n${i}`, { ...(i > 0 ? { parent: `n${i - 1}` } : {}), start: i }),
    );
    expect(sessionSpans(onlySession(spans))).toHaveLength(12_000);
  });
});

describe('calls and results', () => {
  it('results come in reverse order: paired by id, never by place', () => {
    const history = [
      user('both'),
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'A', name: 'first', input: {} },
          { type: 'tool_use', id: 'B', name: 'second', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'B', content: 'of B', is_error: true },
          { type: 'tool_result', tool_use_id: 'A', content: 'of A' },
        ],
      },
    ];
    const session = onlySession([
      flatSpan('t1', {
        start: 1,
        attributes: toolRun('first', {}, undefined, { 'gen_ai.tool.call.id': 'A' }),
      }),
      flatSpan('t2', {
        start: 2,
        attributes: toolRun('second', {}, undefined, { 'gen_ai.tool.call.id': 'B' }),
      }),
      flatSpan('c', { start: 3, attributes: chat(history, [answer('done')]) }),
    ]);
    expect(
      tools(session).map((t) => [t.toolCall.name, t.toolResult?.content, t.toolResult?.isError]),
    ).toEqual([
      ['first', 'of A', null],
      ['second', 'of B', true],
    ]);
    expect(tools(session)[1]!.errors).toEqual([{ source: 'tool-status', message: 'of B' }]);
    expect(sessionSpans(session).flatMap((s) => s.flags)).toEqual([]);
  });

  it('results without ids: paired by place, and flagged', () => {
    const history = [asks('A', 'find', { q: 1 }), { role: 'tool', content: 'found' }];
    const session = onlySession([flatSpan('c', { attributes: chat(history, [answer('ok')]) })]);
    expect(inferences(session)[0]).toMatchObject({
      flags: ['paired-by-position'],
      input: [{}, { content: [{ toolCallId: 'A', content: 'found' }] }],
    });
  });

  it('one id is used for two calls: paired by id and order, and flagged', () => {
    const history = [
      asks('dup', 'find', { q: 1 }),
      { role: 'tool', tool_call_id: 'dup', content: 'one' },
      asks('dup', 'find', { q: 2 }),
      { role: 'tool', tool_call_id: 'dup', content: 'two' },
    ];
    const session = onlySession([
      flatSpan('t1', {
        start: 1,
        attributes: toolRun('find', { q: 1 }, undefined, { 'gen_ai.tool.call.id': 'dup' }),
      }),
      flatSpan('t2', {
        start: 2,
        attributes: toolRun('find', { q: 2 }, undefined, { 'gen_ai.tool.call.id': 'dup' }),
      }),
      flatSpan('c', { start: 3, attributes: chat(history, [answer('ok')]) }),
    ]);
    expect(tools(session).map((t) => t.toolResult?.content)).toEqual(['one', 'two']);
    for (const tool of tools(session)) expect(tool.flags).toContain('duplicate-call-id');
  });

  it('framework and SDK both have a span for one model call and tokens are counted twice', () => {
    const usage = {
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 3,
      'gen_ai.response.id': 'r1',
    };
    const session = onlySession([
      flatSpan('agent', {
        attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'A' },
        end: 100,
      }),
      flatSpan('outer', {
        parent: 'agent',
        start: 1,
        end: 50,
        attributes: chat([user('Hi')], [answer('Hello')], usage),
      }),
      flatSpan('http', {
        parent: 'outer',
        start: 2,
        end: 49,
        kind: 'CLIENT',
        attributes: { 'http.method': 'POST', 'http.status_code': 200 },
      }),
      flatSpan('inner', {
        parent: 'http',
        start: 3,
        end: 48,
        attributes: { ...usage, 'gen_ai.operation.name': 'chat', 'gen_ai.response.finish_reasons': ['stop'] },
      }),
      flatSpan('elsewhere', {
        parent: 'agent',
        start: 60,
        end: 61,
        attributes: { ...usage, 'gen_ai.operation.name': 'chat' },
      }),
    ]);
    expect(inferences(session)).toMatchObject([
      { spanId: 'outer', usage: { inputTokens: 10, outputTokens: 3 }, agent: 'A' },
    ]);
    expect(spanById(session, 'inner')).toMatchObject({ kind: 'other', flags: ['merged-duplicate'] });
    expect(spanById(session, 'elsewhere')).toMatchObject({ kind: 'other', flags: ['merged-duplicate'] });
  });

  it('an agent that a tool runs calls the model itself: that is no duplicate', () => {
    const session = onlySession([
      flatSpan('c1', { end: 100, attributes: chat([user('Hi')], [asks('t', 'ask', {})]) }),
      flatSpan('t', {
        parent: 'c1',
        start: 10,
        end: 90,
        attributes: toolRun('ask', {}, 'yes', { 'gen_ai.tool.call.id': 't' }),
      }),
      flatSpan('c2', { parent: 't', start: 20, end: 80, attributes: chat([user('sub')], [answer('yes')]) }),
    ]);
    expect(inferences(session)).toHaveLength(2);
  });

  it('a span over several model calls is their sum, not one more', () => {
    const session = onlySession([
      flatSpan('run', {
        end: 100,
        attributes: {
          'openinference.span.kind': 'LLM',
          'llm.token_count.prompt': 30,
          'input.value': 'q',
          'output.value': 'z',
        },
      }),
      flatSpan('c1', {
        parent: 'run',
        start: 1,
        end: 40,
        attributes: chat([user('q')], [answer('x')], { 'gen_ai.usage.input_tokens': 10 }),
      }),
      flatSpan('c2', {
        parent: 'run',
        start: 50,
        end: 90,
        attributes: chat([user('q'), answer('x')], [answer('z')], { 'gen_ai.usage.input_tokens': 20 }),
      }),
    ]);
    expect(inferences(session).map((s) => s.spanId)).toEqual(['c1', 'c2']);
  });

  it('two hand-offs are asked at once, one is ignored: both calls and the refusal are there, the failed one is flagged', () => {
    const session = onlySession(fixture('openai-agents'));
    const [first, second] = inferences(session);
    expect(first!.output[0]!.content.map((b) => (b.type === 'tool_use' ? b.name : b.type))).toEqual([
      'transfer_to_maths',
      'transfer_to_weather',
    ]);
    expect(second!.input.flatMap((m) => m.content)).toContainEqual({
      type: 'tool_result',
      toolCallId: 'h2',
      content: 'Multiple handoffs detected, ignoring this one.',
      isError: null,
    });
    expect(tools(session)).toMatchObject([
      {
        agent: 'coordinator',
        status: 'error',
        toolCall: { name: 'transfer_to_maths', toolCallId: 'h1' },
        toolResult: { content: 'maths' },
      },
    ]);
    const found = explicitErrors.run(toTrajectory(session));
    expect('blind' in found ? [] : found.map(({ evidence }) => evidence[0]?.quote)).toContain(
      'Multiple handoffs detected, ignoring this one.',
    );
  });
});

it('agents are told by name through the tree', () => {
  const session = onlySession(fixture('openai-agents'));
  expect(agents(session).map((a) => a.agent)).toEqual(['coordinator']);
  expect(inferences(session).map((c) => c.agent)).toEqual(['coordinator', 'coordinator']);
});
