import { describe, expect, it } from 'vitest';
import { schemaBreaches } from '../../../core/checks/schema-breaches.ts';
import { unknownTools } from '../../../core/checks/unknown-tools.ts';
import { readSessions } from '../../../core/reading/registry.ts';
import { toTrajectory } from '../../../core/trajectory/to-trajectory.ts';

const schema = { type: 'object', properties: { day: { type: 'integer' } }, required: ['day'] };
const span = (n: number, name: string, attributes: object, parent: string | null = null) => ({
  trace_id: '0a'.repeat(16),
  span_id: `0${n}`.repeat(8),
  parent_span_id: parent,
  name,
  start_time: `2026-01-01T00:00:0${n}Z`,
  end_time: `2026-01-01T00:00:0${n}.5Z`,
  attributes,
});
const trajectoryOf = (...spans: object[]) =>
  toTrajectory(readSessions({ text: JSON.stringify(spans), source: 'spans.json' }).sessions[0]!);

/** A call whose argument is no integer, on a span that carries the tool's schema in the producer's words. */
const call = (attributes: object) =>
  span(2, 'execute_tool berths', {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'berths',
    'gen_ai.tool.call.arguments': '{"day":"friday"}',
    'gen_ai.tool.call.result': 'Error: day must be a number',
    ...attributes,
  });
const openinference = (attributes: object) =>
  span(2, 'berths', {
    'openinference.span.kind': 'TOOL',
    'tool.name': 'berths',
    'input.value': '{"day":"friday"}',
    'output.value': 'Error: day must be a number',
    ...attributes,
  });

const bedrock = { toolSpec: { name: 'berths', description: 'd', inputSchema: { json: schema } } };
const gemini = {
  function_declarations: [
    {
      name: 'berths',
      parameters: { type: 'OBJECT', properties: { day: { type: 'INTEGER' } }, required: ['day'] },
    },
  ],
};
const chat = (attributes: object) =>
  span(1, 'chat m', {
    'gen_ai.operation.name': 'chat',
    'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":"ok"}]}]',
    ...attributes,
  });

describe('the schema of a tool is known from', () => {
  it.each([
    [
      'gen_ai.tool.json_schema on its span (Strands)',
      [call({ 'gen_ai.tool.json_schema': JSON.stringify(schema) })],
    ],
    [
      'tool.json_schema on its span, as a vendor takes it',
      [
        openinference({
          'tool.json_schema': JSON.stringify({
            type: 'function',
            function: { name: 'berths', parameters: schema },
          }),
        }),
      ],
    ],
    ['tool.parameters that is a schema', [openinference({ 'tool.parameters': JSON.stringify(schema) })]],
    [
      'tool.parameters that maps arguments to their types (smolagents)',
      [
        openinference({
          'tool.parameters': JSON.stringify({ day: { type: 'integer', description: 'of the month' } }),
        }),
      ],
    ],
    [
      'gen_ai.tool.definitions on the run (Strands)',
      [
        span(1, 'invoke_agent a', {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.tool.definitions': JSON.stringify([
            { name: 'berths', inputSchema: { json: schema }, outputSchema: null },
          ]),
        }),
        call({}),
      ],
    ],
    [
      'gen_ai.tool.definitions on the call (Pydantic AI)',
      [
        chat({
          'gen_ai.tool.definitions': JSON.stringify([
            { type: 'function', name: 'berths', parameters: schema },
          ]),
        }),
        call({}),
      ],
    ],
    [
      'gen_ai.tool.definitions on a span of a framework',
      [
        chat({}),
        span(3, 'setup', {
          'gen_ai.tool.definitions': JSON.stringify([{ name: 'berths', parameters: schema }]),
        }),
        call({}),
      ],
    ],
    [
      'llm.tools.N.tool.json_schema',
      [
        span(1, 'llm', {
          'openinference.span.kind': 'LLM',
          'output.value': 'ok',
          'llm.tools.0.tool.json_schema': JSON.stringify(bedrock),
        }),
        openinference({}),
      ],
    ],
    [
      'llm.tools.N with a bare schema and a name beside it',
      [
        span(1, 'llm', {
          'openinference.span.kind': 'LLM',
          'output.value': 'ok',
          'llm.tools.0.tool.name': 'berths',
          'llm.tools.0.tool.json_schema': JSON.stringify(schema),
        }),
        openinference({}),
      ],
    ],
    [
      'llm.tools as one list',
      [
        span(1, 'llm', {
          'openinference.span.kind': 'LLM',
          'output.value': 'ok',
          'llm.tools': JSON.stringify([
            { 'tool.json_schema': JSON.stringify({ name: 'berths', input_schema: schema }) },
          ]),
        }),
        openinference({}),
      ],
    ],
    [
      'llm.invocation_parameters',
      [
        span(1, 'llm', {
          'openinference.span.kind': 'LLM',
          'output.value': 'ok',
          'llm.invocation_parameters': JSON.stringify({ tools: [gemini] }),
        }),
        openinference({}),
      ],
    ],
    [
      'a request that stands whole in the input',
      [
        span(1, 'llm', {
          'openinference.span.kind': 'LLM',
          'output.value': 'ok',
          'input.value': JSON.stringify({
            model: 'm',
            messages: [{ role: 'user', content: 'hi' }],
            tools: [{ name: 'berths', input_schema: schema }],
          }),
        }),
        openinference({}),
      ],
    ],
  ])('%s', (_name, spans) => {
    const findings = schemaBreaches.run(trajectoryOf(...spans));
    expect(findings).toMatchObject([{ checkId: 'arguments-break-schema' }]);
  });
});

it('tool.parameters that holds the values of a call is its arguments and no schema', () => {
  const plain = {
    'openinference.span.kind': 'TOOL',
    'tool.name': 'berths',
    'output.value': 'none',
    'tool.parameters': '{"day":"friday"}',
  };
  const [exchange] = trajectoryOf(span(2, 'berths', plain)).exchanges;
  expect(exchange).toMatchObject({ name: 'berths', arguments: { day: 'friday' } });
  expect(schemaBreaches.run(trajectoryOf(span(2, 'berths', plain)))).toMatchObject({
    blind: expect.any(String),
  });
});

it('a schema that was not recorded is unknown, not one without arguments', () => {
  const redacted = chat({
    'gen_ai.tool.definitions': JSON.stringify([{ name: 'berths', type: 'function', parameters: null }]),
  });
  expect(schemaBreaches.run(trajectoryOf(redacted, call({})))).toMatchObject({ blind: expect.any(String) });
});

it('what tool spans say of themselves is no list: a tool without such a span is not unknown', () => {
  const other = span(3, 'execute_tool tides', {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'tides',
    'gen_ai.tool.call.arguments': '{}',
    'gen_ai.tool.call.result': 'Error: offline',
  });
  const described = call({ 'gen_ai.tool.json_schema': JSON.stringify(schema) });
  expect(unknownTools.run(trajectoryOf(described, other))).toMatchObject({ blind: expect.any(String) });
  const listed = chat({
    'gen_ai.tool.definitions': JSON.stringify([{ name: 'berths', parameters: schema }]),
  });
  expect(unknownTools.run(trajectoryOf(listed, described, other))).toMatchObject([
    { summary: expect.stringContaining('tides') },
  ]);
});
