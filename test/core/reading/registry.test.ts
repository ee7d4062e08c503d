import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SessionInvalidError } from '../../../core/errors/errors.ts';
import { listFormats, readSessions } from '../../../core/reading/registry.ts';
import { suggestExports, suggestedIds } from '../../../core/reading/suggest-exports.ts';
import { sessionSchema, sessionSpans } from '../../../core/session/session.ts';

const chat = [
  { role: 'user', content: 'hi' },
  { role: 'assistant', content: 'bye' },
];
const read = (text: string, source = 'in.json') => readSessions({ text, source });

describe('the same session in other wrappings', () => {
  const expected = read(JSON.stringify(chat)).sessions;
  it.each([
    ['a byte order mark', `\uFEFF${JSON.stringify(chat)}`],
    ['one message a line', chat.map((message) => JSON.stringify(message)).join('\n')],
    ['blank lines and CRLF', chat.map((message) => JSON.stringify(message)).join('\r\n\r\n')],
    ['indentation', JSON.stringify(chat, null, 4)],
  ])('%s', (_name, text) => {
    expect(read(text).sessions).toEqual(expected);
  });
  it('an already parsed document', () => {
    expect(readSessions({ document: chat, source: 'in.json' }).sessions).toEqual(expected);
  });
});

describe('several sessions in one input', () => {
  it('a list, a map and lines of sessions each give distinct ids', () => {
    const one = { messages: chat };
    const ids = (text: string) => read(text).sessions.map((session) => session.sessionId);
    expect(ids(JSON.stringify([one, one]))).toEqual(['in#0', 'in#1']);
    expect(ids(JSON.stringify({ good: one, bad: one }))).toEqual(['in#good', 'in#bad']);
    expect(ids([one, one].map((item) => JSON.stringify(item)).join('\n'))).toEqual(['in#0', 'in#1']);
  });
  it('sessions that name the same id are kept apart', () => {
    const one = { session_id: 's', messages: chat };
    const { sessions } = read(JSON.stringify([one, one]));
    expect(sessions.map((session) => session.sessionId)).toEqual(['s', 's-2']);
    expect(sessions[1]!.traces[0]!.sessionId).toBe('s-2');
  });
  it('what is no session beside sessions is counted, not lost', () => {
    const { sessions, unread } = read(JSON.stringify([{ messages: chat }, { weather: 'fine' }, 7]));
    expect(sessions).toHaveLength(1);
    expect(unread).toEqual([{ where: 'in.json', reason: 'entries of no known format', count: 2 }]);
  });
});

describe('refusals say what was found and what to do', () => {
  it.each([
    ['nothing', '', /empty/],
    ['white space', ' \n\t', /empty/],
    ['prose', 'Dear all,\nthe agent failed.', /neither JSON .* nor JSON lines/s],
    ['a cut file', '[{"role": "user", "content": "hi"', /neither JSON/],
    ['a number', '42', /no known format.*a single number/],
    ['an empty list', '[]', /an empty list/],
    ['an unknown object', '{"weather": {"today": "fine"}}', /an object with weather/],
    ['a chat without messages', '{"messages": []}', /an object with messages/],
    [
      'a Strands result without spans',
      '{"traces": [], "sessionId": "s", "format": "x", "goal": null, "agent": null, "service": null, "unread": []}',
      /no session in this input/,
    ],
    [
      'a diagnosis',
      '{"schemaVersion": 1, "diagnosisId": "x", "outcome": "PARTIAL"}',
      /this is a Rootspan diagnosis/,
    ],
    [
      'labels',
      '[{"trajectory_id": 1, "failures": [], "root_cause": {}}]',
      /this is a list of AgentRx labels/,
    ],
    ['batch requests', '{"recordId": "x", "modelInput": {}}', /this is a batch exchange file/],
    ['an HTTP archive', '{"log": {"version": "1.2", "entries": []}}', /this is an HTTP archive/],
  ])('%s', (_name, text, message) => {
    expect(() => read(text)).toThrow(SessionInvalidError);
    expect(() => read(text)).toThrow(message);
    expect(() => read(text)).toThrow(/^in\.json: /);
  });
});

describe('hostile input', () => {
  it('keys that reach prototypes are left out, and it is said', () => {
    const text =
      '{"messages": [{"role": "user", "content": "hi", "__proto__": {"role": "system"}, "constructor": 1}]}';
    const { sessions, unread } = read(text);
    expect(sessionSpans(sessions[0]!)).toHaveLength(1);
    expect(unread).toMatchObject([{ reason: expect.stringContaining('prototypes') }]);
  });
  it('lone surrogates become the replacement character', () => {
    const { sessions } = read('[{"role": "user", "content": "cut emoji \\ud83e"}]');
    expect(JSON.stringify(sessions)).toContain('cut emoji \uFFFD');
  });
  it('nesting beyond all reason is refused, not a crash', () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    expect(() => read(deep)).toThrow(SessionInvalidError);
  });
  it('nanosecond times beyond 2^53 stay exact', () => {
    const { sessions } = read(
      '[{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"t": 1785532828134675001}}}]}]',
    );
    expect(JSON.stringify(sessions)).toContain('"1785532828134675001"');
  });
  it('any JSON either reads into valid sessions or is refused by our own error', () => {
    const shaped = fc.oneof(
      fc.json(),
      fc.record({ messages: fc.jsonValue() }).map((value) => JSON.stringify(value)),
      fc
        .array(
          fc.record({
            role: fc.constantFrom('user', 'assistant', 'tool', 'X'),
            content: fc.jsonValue(),
            tool_calls: fc.jsonValue(),
            name: fc.jsonValue(),
          }),
        )
        .map((value) => JSON.stringify(value)),
      fc
        .record({
          history: fc.jsonValue(),
          traj: fc.jsonValue(),
          traces: fc.jsonValue(),
          item: fc.jsonValue(),
        })
        .map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(shaped, (text) => {
        try {
          for (const session of read(text).sessions)
            expect(sessionSchema.safeParse(session).error).toBeUndefined();
        } catch (error) {
          expect(error).toBeInstanceOf(SessionInvalidError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

it('our own normal form reads back as itself', () => {
  const [session] = read(JSON.stringify(chat)).sessions;
  expect(read(JSON.stringify(session)).sessions).toEqual([session]);
});

it('every format says how it is known, under an id of its own', () => {
  const ids = listFormats().map(({ family, id }) => `${family}/${id}`);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { title, knownBy, from, checkedOn } of listFormats())
    for (const text of [title, knownBy, from, checkedOn]) expect(text.trim()).not.toBe('');
});

describe('telemetry beside other things', () => {
  const span = (id: string, name: string) => ({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: id,
    parentSpanId: null,
    name,
    kind: 'INTERNAL',
    startTimeUnixNano: '1785532828134675001',
    endTimeUnixNano: '1785532828134675002',
    scope: { name: 'any', version: '1' },
    attributes: {
      'session.id': 'conv-1',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.arguments': '{"a": 1}',
      'gen_ai.tool.call.result': 'done',
    },
    status: { code: 'UNSET' },
  });
  const [a, b] = [span('b7ad6b7169203331', 'read'), span('b7ad6b7169203332', 'write')];
  const names = (text: string) =>
    read(text).sessions.map((session) => [session.sessionId, sessionSpans(session).map((one) => one.name)]);

  it('bare lines of one session are one session; lines of text, with or without JSON in them, are counted', () => {
    const text = `2026-03-14 10:00 INFO exporter ${JSON.stringify(a)}\n${JSON.stringify(b)}\nTraceback follows\n`;
    expect(names(text)).toEqual([['conv-1', ['write']]]);
    expect(read(text).unread).toEqual([{ where: 'in.json', reason: 'not-json: plain text', count: 2 }]);
  });
  it('a broken line in a transcript does not cost the transcript', () => {
    const line = (message: object) => JSON.stringify({ type: 'user', message });
    const text = `${line({ role: 'user', content: 'a' })}\n{"type": "user", "mess\n${line({ role: 'user', content: 'b' })}`;
    expect(names(text)).toEqual([['in', ['user', 'user']]]);
    expect(read(text).unread).toHaveLength(1);
  });
  it('a list of a chat and of spans is two sessions', () => {
    expect(names(JSON.stringify([{ session_id: 'chat-1', messages: chat }, a, b]))).toEqual([
      ['chat-1', ['user', 'chat']],
      ['conv-1', ['read', 'write']],
    ]);
  });
});

describe('advice on a file that no reader knows', () => {
  it('names only formats that there are', () => {
    const ids = new Set(listFormats().map(({ id }) => id));
    expect(suggestedIds().filter((id) => !ids.has(id))).toEqual([]);
  });
  it('goes by the product that the file names, and by none when it names none', () => {
    const ids = (text: string): string[] => suggestExports(text).map(({ id }) => id);
    expect(ids('{"sdk": "langfuse-python", "scores": []}')).toEqual(['langfuse']);
    expect(ids('{"wandb_version": 1}')).toEqual(['weave']);
    expect(ids('{"rows": [1, 2, 3]}')).toEqual([]);
  });
});
