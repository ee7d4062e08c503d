import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../core/base/json.ts';
import { assembleSessions } from '../../../core/reading/assembly/assemble.ts';
import { examineTelemetry } from '../../../core/reading/doctor.ts';
import { ENVELOPES, unpackTelemetry } from '../../../core/reading/envelopes/index.ts';
import { sessionSchema } from '../../../core/session/session.ts';

/** Telemetry is untrusted: whatever stands where content is expected, reading ends in a session or an unread entry. */

const KEYS = [
  'gen_ai.operation.name',
  'gen_ai.input.messages',
  'gen_ai.output.messages',
  'gen_ai.system_instructions',
  'gen_ai.tool.definitions',
  'gen_ai.tool.call.arguments',
  'gen_ai.tool.call.result',
  'gen_ai.tool.name',
  'gen_ai.response.finish_reasons',
  'gen_ai.prompt.0.content',
  'gen_ai.prompt.0.tool_calls.0.arguments',
  'gen_ai.completion.0',
  'gen_ai.usage.input_tokens',
  'openinference.span.kind',
  'llm.input_messages.0.message',
  'llm.input_messages.0.message.contents.0.message_content.type',
  'llm.output_messages.0.message.tool_calls.0.tool_call',
  'llm.tools.0.tool.json_schema',
  'input.value',
  'output.value',
  'traceloop.span.kind',
  'traceloop.entity.input',
  'traceloop.entity.output',
  'llm.request.type',
  'gcp.vertex.agent.llm_request',
  'gcp.vertex.agent.llm_response',
  'gcp.vertex.agent.tool_response',
  'ai.operationId',
  'ai.prompt',
  'ai.prompt.messages',
  'ai.prompt.tools',
  'ai.response.toolCalls',
  'ai.toolCall.args',
  'ai.toolCall.result',
  'pydantic_ai.all_messages',
  'events',
  'model_request_parameters',
  'tool.parameters',
  'smolagents.tools_names',
  'session.id',
  'sessionId',
  'error.type',
  'exception.message',
  'http.status_code',
  '__proto__',
  'constructor',
  'aws.xray.inprogress',
  'prompt',
];
const SCOPES = [
  '',
  'strands.telemetry.tracer',
  'opentelemetry.instrumentation.botocore.bedrock-runtime',
  'gcp.vertex.agent',
  'ai',
  'pydantic-ai',
  'openinference.instrumentation.smolagents',
  'openinference.instrumentation.openai_agents',
  'openinference.instrumentation.claude_agent_sdk',
  'openinference.instrumentation.langchain',
  'openlit.otel',
  'com.anthropic.claude_code.tracing',
];
const WORDS = fc.constantFrom(
  'chat',
  'execute_tool',
  'invoke_agent',
  'LLM',
  'TOOL',
  'AGENT',
  'tool',
  'workflow',
  'ai.toolCall',
  'ai.generateText',
  'ai.generateText.doGenerate',
  '\ud83e',
  '',
  '{"a":',
  '"',
  '[',
);

// Objects that look like messages, blocks, calls and results, with the wrong things in the right places.
const { value: shaped } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    WORDS,
    fc.integer(),
    fc.constant(null),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        'role',
        'content',
        'parts',
        'type',
        'text',
        'tool_calls',
        'function',
        'name',
        'arguments',
        'id',
        'toolUse',
        'toolResult',
        'toolUseId',
        'input',
        'output',
        'messages',
        'status',
        'is_error',
        'lc',
        'kwargs',
        'generations',
        'message',
        'source',
        'data',
        'image',
        'function_call',
        'function_response',
        'response',
        'reasoningContent',
        'tool_call_id',
        'contents',
        'message_content',
        'config',
        'tools',
        'value',
        'args',
        'inputs',
        'input_str',
        'outputs',
        'kwargs',
        '__proto__',
        'constructor',
      ),
      tie('value'),
      { maxKeys: 5 },
    ),
    tie('value').map((inner) => JSON.stringify(inner)),
  ),
}));

const attributes: fc.Arbitrary<JsonObject> = fc.dictionary(fc.constantFrom(...KEYS), shaped, { maxKeys: 6 });
const span: fc.Arbitrary<JsonObject> = fc.record({
  traceId: fc.constantFrom('t1', 't2'),
  spanId: fc.constantFrom('a', 'b', 'c'),
  parentSpanId: fc.constantFrom('a', 'b', 'x', null),
  name: fc.constantFrom('chat m', 'call_llm', 'running tool', 'handoff to x', 'claude_code.tool', ''),
  startTimeUnixNano: fc.oneof(shaped, fc.constant('1790000000000000000')),
  endTimeUnixNano: fc.oneof(shaped, fc.constant('1790000000000000001')),
  scope: fc.oneof(
    fc.constantFrom(...SCOPES).map((name) => ({ name })),
    shaped,
  ),
  attributes,
  events: fc.array(
    fc.record({
      name: fc.constantFrom(
        'gen_ai.user.message',
        'gen_ai.choice',
        'gen_ai.tool.message',
        'exception',
        'gen_ai.client.inference.operation.details',
      ),
      attributes,
      body: shaped,
    }),
    { maxLength: 2 },
  ),
  status: shaped,
});
const log: fc.Arbitrary<JsonObject> = fc.record({
  traceId: fc.constantFrom('t1', null),
  spanId: fc.constantFrom('a', 'z', null),
  timeUnixNano: shaped,
  scope: fc.constantFrom(...SCOPES).map((name) => ({ name })),
  attributes,
  body: fc.oneof(
    shaped,
    fc.record({ input: fc.record({ messages: shaped }), output: fc.record({ messages: shaped }) }),
  ),
});

it('reading ends in valid sessions of well-formed text, and nothing reaches a prototype', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(span, log), { minLength: 1, maxLength: 6 }), (document) => {
      const unpacked = unpackTelemetry(document as JsonValue);
      if (unpacked === null) return;
      const result = assembleSessions(unpacked.records);
      for (const session of result.sessions) sessionSchema.parse(session);
      expect(brokenTexts(result)).toEqual([]);
      expect(Object.keys(Object.prototype)).toEqual([]);
      examineTelemetry(unpacked.records, unpacked.unread);
    }),
    { numRuns: 1500 },
  );
});

it('envelopes decide about any document without throwing', () => {
  fc.assert(
    fc.property(fc.oneof(shaped, fc.array(shaped), fc.jsonValue() as fc.Arbitrary<JsonValue>), (document) => {
      for (const envelope of ENVELOPES) {
        envelope.recognise(document);
        envelope.unpack(document);
      }
    }),
    { numRuns: 500 },
  );
});

/** Strings and keys anywhere in the value that hold a lone surrogate. */
function brokenTexts(value: unknown): string[] {
  if (typeof value === 'string') return value.isWellFormed() ? [] : [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [...brokenTexts(key), ...brokenTexts(item)]);
}
