import { describe, expect, it } from 'vitest';
import { explicitErrors } from '../../core/checks/explicit-errors.ts';
import { missingResults } from '../../core/checks/missing-results.ts';
import { schemaBreaches } from '../../core/checks/schema-breaches.ts';
import { canonicalJson } from '../../core/contracts/hash.ts';
import type { JsonObject } from '../../core/contracts/json.ts';
import { decodeLogEventMessage } from '../../core/formats/decode-log-event.ts';
import { examineTelemetry } from '../../core/formats/doctor.ts';
import { assembleSessions } from '../../core/session/assemble.ts';
import { sessionSpans } from '../../core/session/model.ts';
import { toTrajectory } from '../../core/session/to-trajectory.ts';
import {
  agents,
  at,
  chat,
  fixture,
  flatSpan,
  inferences,
  onlySession,
  parsed,
  recordsOf,
  sessionsOf,
  spanById,
  toolRun,
  tools,
  unpack,
} from '../helpers/telemetry.ts';

/** Public reports of people who read such telemetry, each named after its symptom. */

const user = (content: string) => ({ role: 'user', parts: [{ type: 'text', content }] });
const answer = (content: string) => ({
  role: 'assistant',
  parts: [{ type: 'text', content }],
  finish_reason: 'stop',
});
const call = (id: string, name: string, args: JsonObject) => ({
  role: 'assistant',
  parts: [{ type: 'tool_call', id, name, arguments: args }],
});

describe('log events', () => {
  const record = JSON.stringify(flatSpan('s1', { attributes: chat([user('x'.repeat(300_000))], []) }));

  it('inner quotes are not escaped and JSON.parse throws: that record alone is unread, with the reason', () => {
    const broken = '{"id":"1","details":{"input":"{"Comment": "Insert"}"}}';
    const { records, unread } = unpack({
      logEvents: [record, broken, record].map((message, i) => ({
        id: `${i}`.padStart(56, '3'),
        timestamp: 1,
        message,
      })),
    });
    expect(records).toHaveLength(2);
    expect(unread).toEqual([{ where: 'aws-flat', count: 1, reason: expect.stringContaining('bad-json') }]);
  });

  it('a stdout line over the limit arrives cut in two: neither half is read alone, the pair is', () => {
    const [first, second] = [record.slice(0, 262_119), record.slice(262_119)];
    expect(decodeLogEventMessage(first)).toMatchObject({ reason: expect.stringMatching(/^cut-json/) });
    expect(decodeLogEventMessage(second)).toMatchObject({ reason: expect.stringMatching(/^(not|bad)-json/) });
    expect(decodeLogEventMessage(first + second)).toHaveLength(1);
  });

  it('text stands in front of the JSON', () => {
    expect(decodeLogEventMessage(`2026-01-01T10:00:00Z [INFO] span {exporter}: ${record}`)).toHaveLength(1);
  });

  it('the same record is delivered more than once: it counts once', () => {
    const once = [
      flatSpan('s1', {
        attributes: chat([user('Hi')], [answer('Hello')], { 'gen_ai.usage.input_tokens': 5 }),
      }),
    ];
    expect(canonicalJson(sessionsOf([...once, ...once], once))).toBe(canonicalJson(sessionsOf(once)));
  });
});

describe('spans of AWS', () => {
  it('each X-Ray span arrives twice, at start and when done: one span, the completed record wins', () => {
    const session = onlySession(fixture('xray-twice'));
    expect(sessionSpans(session)).toHaveLength(2);
    expect(spanById(session, '2200000000000001')).toMatchObject({
      name: 'flow',
      endTimeUnixNano: at(90),
      status: 'error',
      flags: [],
      errors: expect.arrayContaining([
        expect.objectContaining({ source: 'exception', type: 'S3.AccessDeniedException' }),
      ]),
    });
    expect(spanById(session, '2200000000000002')).toMatchObject({
      name: 'ListBuckets',
      flags: ['in-progress'],
    });
    expect(session.service).toBe('flow');
    expect(session.unread).toEqual([
      expect.objectContaining({ count: 2, reason: expect.stringContaining('no span with agent content') }),
    ]);
  });

  it('most log records lack the session id: it is inherited through the trace, whichever comes first', () => {
    const logs = fixture('agentcore-split-logs');
    const spans = fixture('agentcore-split-spans');
    expect(onlySession(logs, spans).sessionId).toBe('9d0f5f1e-parcel-session');
    expect(canonicalJson(onlySession(spans, logs))).toBe(canonicalJson(onlySession(logs, spans)));
  });

  it('spans carry no tool arguments or results: they come from the runtime log group, by span id', () => {
    const [tool] = tools(onlySession(fixture('agentcore-split-spans'), fixture('agentcore-split-logs')));
    expect(tool!.toolCall.arguments).toEqual({ parcel: '77' });
    expect(tool!.toolResult!.content).toBe('Error: carrier API answered 503');
  });

  it('spans come without their log records: said as not arrived, never as an empty conversation', () => {
    const session = onlySession(fixture('agentcore-split-spans'));
    for (const span of [...inferences(session), ...tools(session)])
      expect(span.flags).toContain('content-not-arrived');
    expect(examineTelemetry(recordsOf(fixture('agentcore-split-spans'))).findings).toContainEqual(
      expect.objectContaining({
        code: 'spans-without-logs',
        severity: 'blocks',
        advice: expect.stringContaining('/aws/bedrock-agentcore/runtimes/parcels-AB12-DEFAULT'),
      }),
    );
  });

  it('spans appear minutes after the logs: the late delivery gives the session of a tidy one', () => {
    const [spans, logs] = [
      recordsOf(fixture('agentcore-split-spans')),
      recordsOf(fixture('agentcore-split-logs')),
    ];
    const early = assembleSessions(logs).sessions;
    expect(early).toHaveLength(1);
    expect(canonicalJson(assembleSessions([...logs, ...spans]))).toBe(
      canonicalJson(assembleSessions([...spans, ...logs])),
    );
  });
});

describe('content', () => {
  it('a plain-text tool output became JSON-quoted text, and session.id is on the root only', () => {
    const session = onlySession([
      flatSpan('root', {
        attributes: {
          'openinference.span.kind': 'AGENT',
          'session.id': 'S',
          'input.value': 'read it',
          'output.value': 'ok',
        },
      }),
      flatSpan('t', {
        parent: 'root',
        attributes: {
          'openinference.span.kind': 'TOOL',
          'tool.name': 'read',
          'input.value': '{"path":"a"}',
          'output.value': '"file\\ncontents"',
        },
      }),
    ]);
    expect(session.sessionId).toBe('S');
    expect(tools(session)[0]!.toolResult!.content).toBe('file\ncontents');
  });

  it('arguments are encoded twice', () => {
    const session = onlySession([
      flatSpan('t', { attributes: toolRun('weather', '"{\\"city\\":\\"X\\"}"', 'ok') }),
    ]);
    expect(tools(session)[0]!.toolCall).toMatchObject({
      arguments: { city: 'X' },
      argumentsRaw: '"{\\"city\\":\\"X\\"}"',
    });
  });

  it('NaN stands in JSON attribute text and JSON.parse throws', () => {
    const session = onlySession([
      flatSpan('t', { attributes: toolRun('score', '{"score": NaN, "n": 1}', 'ok') }),
    ]);
    expect(tools(session)[0]).toMatchObject({
      toolCall: { arguments: { score: 'NaN', n: 1 }, argumentsRaw: '{"score": NaN, "n": 1}' },
      flags: ['arguments-repaired'],
    });
  });

  it('NaN and Infinity stand in values of any span: the span is read, the text is kept', () => {
    const value = '{"score": NaN, "loss": -Infinity, "best": Infinity, "n": 2}';
    const session = onlySession([
      flatSpan('t', {
        attributes: {
          'openinference.span.kind': 'TOOL',
          'tool.name': 'score',
          'input.value': value,
          'output.value': value,
        },
      }),
      flatSpan('c', { start: 5, attributes: chat([user(value)], [call('A', 'score', { note: value })]) }),
    ]);
    expect(tools(session)[0]).toMatchObject({
      toolCall: { arguments: { score: 'NaN', loss: '-Infinity', best: 'Infinity', n: 2 } },
      toolResult: { content: value },
    });
    expect(inferences(session)[0]).toMatchObject({ input: [{ content: [{ type: 'text', text: value }] }] });
  });

  it('a raw newline stands in tool arguments and the whole history is poisoned', () => {
    const session = onlySession([
      flatSpan('t', { attributes: toolRun('sh', '{"cmd":"git commit -m \'a\nb\'"}', 'ok') }),
    ]);
    expect(tools(session)[0]!.toolCall.arguments).toEqual({ cmd: "git commit -m 'a\nb'" });
  });

  it('a lone surrogate makes the whole batch fail to store', () => {
    const text =
      `[${JSON.stringify(flatSpan('s', { name: 'NAME', attributes: toolRun('t', 'ARGS', 'cut emoji') }))}]`
        .replace('NAME', 'n\\ud83e')
        .replace('ARGS', '{\\"x\\":\\"\\ud83e\\"}')
        .replace('cut emoji', 'cut emoji \\ud83e');
    const session = onlySession(parsed(text));
    expect(JSON.stringify(session).isWellFormed()).toBe(true);
    expect(JSON.stringify(session)).not.toMatch(/\\ud83e/i);
    expect(tools(session)[0]!.toolResult!.content).toBe('cut emoji \ufffd');
  });

  it('base64 images of megabytes stand in the input', () => {
    const data = Buffer.alloc(3_000_000, 'no text, but bytes \u0001\u00ff').toString('base64');
    const session = onlySession([
      flatSpan('s', {
        attributes: chat(
          [
            {
              role: 'user',
              content: [
                { type: 'text', text: 'Look' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
              ],
            },
          ],
          [answer('A cat')],
        ),
      }),
      flatSpan('t', { attributes: toolRun('screenshot', '{}', { image: `data:image/png;base64,${data}` }) }),
    ]);
    expect(JSON.stringify(session).length).toBeLessThan(5000);
    expect(inferences(session)[0]!.input[0]!.content[1]).toMatchObject({
      type: 'media',
      mediaType: 'image/png',
      byteLength: 3_000_000,
    });
    expect(tools(session)[0]!.toolResult!.content).toContain('image/png, 3000000 bytes, sha256 ');
  });

  it.each([
    ['gen_ai.prompt.10001.content', 'gen_ai.prompt.0.content'],
    ['llm.input_messages.0.message.10001.content', 'llm.input_messages.0.message.content'],
    ['llm.input_messages.999999999.message.content', 'llm.input_messages.0.message.content'],
  ])('an index far past the length makes huge sparse arrays: %s', (far, near) => {
    const session = onlySession([flatSpan('s', { attributes: { [near]: 'kept', [far]: 'unsafe' } })]);
    expect(inferences(session)[0]).toMatchObject({ input: [{ content: [{ text: 'kept' }] }] });
    expect(inferences(session)[0]!.flags).toContain('index-capped');
  });

  it('more entries than the cap in all, each index small', () => {
    const attributes = Object.fromEntries(
      Array.from({ length: 12_000 }, (_, i) => [`gen_ai.prompt.${i % 9000}.k${i}`, 'x']),
    );
    const session = onlySession([
      flatSpan('s', { attributes: { ...attributes, 'gen_ai.request.model': 'm' } }),
    ]);
    expect(sessionSpans(session)[0]!.flags).toContain('index-capped');
  });

  it('keys that reach prototypes are refused in flattened attributes', () => {
    const session = onlySession([
      flatSpan('s', {
        attributes: {
          'llm.input_messages.0.message.content': 'kept',
          'llm.input_messages.0.__proto__.polluted': 'yes',
        },
      }),
    ]);
    expect(inferences(session)[0]!.flags).toContain('index-capped');
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
  });
});

it('an integer beyond 2^53 keeps its digits and still fits an integer schema', () => {
  const document = parsed(
    JSON.stringify([
      flatSpan('c', {
        attributes: chat([user('x')], [call('A', 'find', { order: 'BIG' })], {
          'gen_ai.tool.definitions': DEFINITION,
        }),
      }),
    ]).replace('\\"BIG\\"', '9007199254740993'),
  );
  const session = onlySession(document);
  expect(JSON.stringify(inferences(session)[0]!.output)).toContain('"9007199254740993"');
  expect(schemaBreaches.run(toTrajectory(session))).toEqual([]);
});

const DEFINITION = JSON.stringify([
  { name: 'find', parameters: { type: 'object', properties: { order: { type: 'integer' } } } },
]);

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

describe('sessions', () => {
  it('one trace for every call, no session id, base64 ids: one session, joined by the history', () => {
    const session = onlySession(fixture('traceloop-one-trace-a-call'));
    expect(session.sessionId).toBe('71aa00000000000000000000000000e1');
    expect(session.traces).toHaveLength(3);
    expect(tools(session)).toMatchObject([
      {
        toolCall: { arguments: { id: '5' }, toolCallId: 'c1' },
        toolResult: { content: '{"id": "5", "state": "open"}' },
      },
    ]);
  });

  it('two users of one service start alike: their traces stay two sessions', () => {
    const other = flatSpan('y', {
      trace: 't2',
      start: 100,
      attributes: chat([user('Approve order 5')], [answer('No.')]),
    });
    expect(
      sessionsOf([
        flatSpan('x', { trace: 't1', attributes: chat([user('Approve order 5')], [answer('Yes.')]) }),
        other,
      ]),
    ).toHaveLength(2);
  });

  it('the CLI changes session.id in the middle of a trace: one session, the second id flagged', () => {
    const session = onlySession([
      flatSpan('root', {
        start: 0,
        attributes: { ...chat([user('a')], [answer('b')]), 'session.id': 'mine' },
      }),
      flatSpan('kid', { parent: 'root', start: 5, attributes: { 'session.id': 'cli-123' } }),
    ]);
    expect(session.sessionId).toBe('mine');
    expect(spanById(session, 'kid').flags).toEqual(['second-session-id']);
    expect(spanById(session, 'root').flags).toEqual([]);
  });

  it('a better key beats one nearer to the root', () => {
    const session = onlySession([
      flatSpan('root', { attributes: { 'gen_ai.conversation.id': 'conversation' } }),
      flatSpan('kid', { parent: 'root', attributes: { 'session.id': 'session' } }),
    ]);
    expect(session.sessionId).toBe('session');
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
    const history = [call('A', 'find', { q: 1 }), { role: 'tool', content: 'found' }];
    const session = onlySession([flatSpan('c', { attributes: chat(history, [answer('ok')]) })]);
    expect(inferences(session)[0]).toMatchObject({
      flags: ['paired-by-position'],
      input: [{}, { content: [{ toolCallId: 'A', content: 'found' }] }],
    });
  });

  it('one id is used for two calls: paired by id and order, and flagged', () => {
    const history = [
      call('dup', 'find', { q: 1 }),
      { role: 'tool', tool_call_id: 'dup', content: 'one' },
      call('dup', 'find', { q: 2 }),
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
      flatSpan('c1', { end: 100, attributes: chat([user('Hi')], [call('t', 'ask', {})]) }),
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

describe('failures without an ERROR status', () => {
  const toolCall = (name: string, args: string, result?: string): JsonObject => ({
    'ai.operationId': 'ai.toolCall',
    'ai.toolCall.name': name,
    'ai.toolCall.id': name,
    'ai.toolCall.args': args,
    ...(result === undefined ? {} : { 'ai.toolCall.result': result }),
  });

  it('a tool threw but its span is no error: the missing result is said, the text comes from the next call', () => {
    const [tool] = tools(onlySession(fixture('vercel-ai')));
    expect(tool).toMatchObject({ status: 'unset', toolResult: { content: 'locked', isError: true } });
    expect(tool!.errors.map((e) => e.source)).toContain('tool-status');
  });

  it('a tool threw, its span is no error, and no call came after it: the missing result is found', () => {
    const session = onlySession([
      flatSpan('run', { scope: 'ai', attributes: { 'ai.operationId': 'ai.generateText' }, end: 90 }),
      flatSpan('first', {
        parent: 'run',
        scope: 'ai',
        start: 1,
        end: 10,
        attributes: toolCall('first', '{"id":1}', '"ok"'),
      }),
      flatSpan('second', {
        parent: 'run',
        scope: 'ai',
        start: 20,
        end: 30,
        attributes: toolCall('second', '{"id":2}'),
      }),
    ]);
    const [, second] = tools(session);
    expect(second).toMatchObject({ toolCall: { name: 'second' }, status: 'unset', toolResult: null });
    const found = missingResults.run(toTrajectory(session));
    expect('blind' in found ? found : found.map(({ spanId }) => spanId)).toEqual(['second']);
  });

  it('a throttled model call says so in an exception event', () => {
    const message =
      'An error occurred (ThrottlingException) when calling the Converse operation (reached max retries: 4): Too many requests';
    const session = onlySession([
      flatSpan('c', {
        attributes: chat([user('Hi')], []),
        events: [
          {
            name: 'exception',
            timeUnixNano: at(5),
            attributes: { 'exception.type': 'ThrottlingException', 'exception.message': message },
          },
        ],
      }),
    ]);
    expect(inferences(session)[0]!.errors).toEqual([
      { source: 'exception', type: 'ThrottlingException', message },
    ]);
    expect(explicitErrors.run(toTrajectory(session))).toMatchObject([
      { spanId: 'c', category: 'execution-error-category-rate-limiting', criticalCategory: 'system-failure' },
    ]);
  });

  it('the second tool_use is cut: empty input with stop reason max_tokens', () => {
    const session = onlySession([
      flatSpan('c', {
        attributes: chat([user('Hi')], [{ ...call('A', 'calculate', {}), finish_reason: 'max_tokens' }]),
      }),
    ]);
    expect(inferences(session)[0]!.errors).toEqual([
      { source: 'finish-reason', type: 'max_tokens', message: 'the model stopped with max_tokens' },
    ]);
  });

  it('an HTTP failure shows only on a client span below the tool', () => {
    const session = onlySession([
      flatSpan('t', { end: 50, attributes: toolRun('fetch', {}, 'nothing') }),
      flatSpan('h', {
        parent: 't',
        start: 1,
        end: 40,
        kind: 'CLIENT',
        name: 'GET /orders',
        attributes: { 'http.response.status_code': 503 },
      }),
    ]);
    expect(tools(session)[0]!.errors).toEqual([
      { source: 'http', code: 503, message: 'HTTP 503 from GET /orders (span h)' },
    ]);
  });

  it.each([
    ['{"exit_code": 2, "stderr": "boom"}', { source: 'exit-code', code: 2, message: 'boom' }],
    ['{"stdout": "", "stderr": "no such file"}', { source: 'exit-code', message: 'no such file' }],
    [
      'Exit code 127\nmake: not found',
      { source: 'exit-code', code: 127, message: 'Exit code 127\nmake: not found' },
    ],
  ])('a command failed: %s', (result, error) => {
    expect(tools(onlySession([flatSpan('t', { attributes: toolRun('sh', {}, result) })]))[0]!.errors).toEqual(
      [error],
    );
  });

  it.each([
    '{"exit_code": 0, "stderr": "warning"}',
    '{"stdout": "17", "stderr": "warning: slow"}',
    'Exit code 0',
  ])('a command did not fail: %s', (result) => {
    expect(tools(onlySession([flatSpan('t', { attributes: toolRun('sh', {}, result) })]))[0]!.errors).toEqual(
      [],
    );
  });

  it('the user rejected a permission: no fault of the tool', () => {
    const history = [
      call('A', 'rm', {}),
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'A',
            is_error: true,
            content: "The user doesn't want to proceed with this tool use.",
          },
        ],
      },
    ];
    const session = onlySession([flatSpan('c', { attributes: chat(history, [answer('ok')]) })]);
    expect(inferences(session)[0]!.errors).toEqual([]);
  });

  it('an error line of the application stands in the log of the span', () => {
    const session = onlySession([
      flatSpan('s', { attributes: { 'http.route': '/invocations' } }),
      {
        traceId: 'trace-1',
        spanId: 's',
        timeUnixNano: at(4),
        scope: { name: 'app' },
        severityText: 'ERROR',
        body: 'Invocation failed: KeyError',
        attributes: {},
      },
    ]);
    expect(spanById(session, 's').errors).toEqual([
      { source: 'exception', message: 'Invocation failed: KeyError' },
    ]);
  });
});

describe('what is not there is told apart', () => {
  const one = (attributes: JsonObject, extra: Partial<Parameters<typeof flatSpan>[1]> = {}) =>
    inferences(
      onlySession([
        flatSpan('s', { attributes: { 'gen_ai.operation.name': 'chat', ...attributes }, ...extra }),
      ]),
    )[0]!.flags;

  it('switched off by policy', () => expect(one({})).toEqual(['content-absent']));
  it('of an agent span that is all there is', () =>
    expect(
      agents(onlySession([flatSpan('a', { attributes: { 'gen_ai.operation.name': 'invoke_agent' } })]))[0]!
        .flags,
    ).toEqual(['content-absent']));
  it('redacted', () =>
    expect(one(chat([user('[REDACTED]')], [answer('<redacted>')]))).toEqual(['content-redacted']));
  it('truncated', () =>
    expect(one(chat([user('long text ...[truncated]')], [answer('ok')]))).toEqual(['content-truncated']));
  it('shortened by the tool itself, as the model saw it: nothing of the telemetry is missing', () => {
    const session = onlySession([
      flatSpan('t', { attributes: toolRun('cat', {}, 'many lines ...[truncated]') }),
    ]);
    expect(tools(session)[0]!.flags).toEqual([]);
  });
  it('JSON that breaks off', () =>
    expect(
      one({ 'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"half a wo' }),
    ).toEqual(['content-truncated']));
  it('not arrived yet', () =>
    expect(one({}, { resource: { 'aws.log.group.names': '/aws/x' } })).toEqual(['content-not-arrived']));
  it('dropped by the exporter', () => {
    const session = onlySession([
      { ...flatSpan('s', { attributes: { 'gen_ai.operation.name': 'chat' } }), droppedAttributesCount: 4 },
    ]);
    expect(inferences(session)[0]!.flags).toEqual(['content-lost']);
  });
});

it('model calls carry no tool definitions, so "wrong tool" cannot be judged: the doctor says so', () => {
  const records = recordsOf([
    flatSpan('c', { attributes: { ...chat([user('Hi')], [call('A', 'find', {})]), 'session.id': 'S' } }),
  ]);
  expect(examineTelemetry(records).findings.map((f) => f.code)).toEqual(['no-tool-definitions']);
});

it('agents are told by name through the tree', () => {
  const session = onlySession(fixture('openai-agents'));
  expect(agents(session).map((a) => a.agent)).toEqual(['coordinator']);
  expect(inferences(session).map((c) => c.agent)).toEqual(['coordinator', 'coordinator']);
});
