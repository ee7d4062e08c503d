import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/base/json.ts';
import { schemaBreaches } from '../../core/checks/schema-breaches.ts';
import { sessionSpans } from '../../core/session/session.ts';
import { toTrajectory } from '../../core/trajectory/to-trajectory.ts';
import {
  agents,
  answer,
  asks,
  chat,
  flatSpan,
  inferences,
  onlySession,
  parsed,
  toolRun,
  tools,
  user,
} from '../helpers/telemetry.ts';

/** What stands in telemetry, and what does not; each trial named after its symptom. */

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
      flatSpan('c', { start: 5, attributes: chat([user(value)], [asks('A', 'score', { note: value })]) }),
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
        attributes: chat([user('x')], [asks('A', 'find', { order: 'BIG' })], {
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
