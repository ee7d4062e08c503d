import { describe, expect, it } from 'vitest';
import { CONVENTIONS, conventionFor } from '../../../core/reading/conventions/index.ts';
import { type Block, sessionSpans } from '../../../core/session/session.ts';
import {
  agents,
  answer,
  chat,
  fixture,
  flatSpan,
  inferences,
  onlySession,
  recordsOf,
  spanById,
  tools,
  user,
} from '../../helpers/telemetry.ts';

const callsOf = (blocks: readonly Block[]): string[] =>
  blocks.flatMap((b) => (b.type === 'tool_use' ? [b.name] : []));

it('each fixture is read by the convention of its producer, span by span', () => {
  const seen = (name: string): string[] => [
    ...new Set(recordsOf(fixture(name)).flatMap((r) => (r.type === 'span' ? [conventionFor(r, []).id] : []))),
  ];
  expect(seen('agentcore-split-spans').sort()).toEqual(['botocore-bedrock', 'plain', 'strands']);
  expect(seen('langchain-adot')).toEqual(['traceloop']);
  expect(seen('otlp-genai')).toEqual(['otel-genai']);
  expect(seen('google-adk')).toEqual(['google-adk']);
  expect(seen('vercel-ai')).toEqual(['vercel-ai']);
  expect(seen('pydantic-ai')).toEqual(['pydantic-ai']);
  expect(seen('smolagents')).toEqual(['smolagents']);
  expect(seen('openai-agents')).toEqual(['openai-agents']);
  expect(seen('claude-agent-sdk')).toEqual(['claude-agent-sdk']);
  expect(seen('xray-twice')).toEqual(['xray']);
});

it('convention ids are distinct and say how they are known', () => {
  expect(new Set(CONVENTIONS.map((d) => d.id)).size).toBe(CONVENTIONS.length);
  for (const convention of CONVENTIONS) expect(convention.knownBy).not.toBe('');
});

describe('Strands on AgentCore, split layout', () => {
  const session = onlySession(fixture('agentcore-split-spans'), fixture('agentcore-split-logs'));

  it('is one session with the id that only the root and one record name', () => {
    expect(session.sessionId).toBe('9d0f5f1e-parcel-session');
    expect(session).toMatchObject({ agent: 'Parcels', service: 'parcels.DEFAULT' });
  });

  it('has prompt and answer, and each model call once with its tokens', () => {
    expect(agents(session)).toMatchObject([
      {
        userPrompt: 'Where is parcel 77?',
        agentResponse: 'I could not reach the carrier. Please try again later.',
        systemPrompt: 'You track parcels.',
      },
    ]);
    expect(inferences(session).map((call) => call.usage)).toEqual([
      { inputTokens: 100, outputTokens: 20 },
      { inputTokens: 150, outputTokens: 30 },
    ]);
    expect(inferences(session).map((call) => call.finishReasons)).toEqual([['tool_use'], ['end_turn']]);
    expect(
      sessionSpans(session)
        .filter((s) => s.flags.includes('merged-duplicate'))
        .map((s) => s.spanId),
    ).toEqual(['a000000000000004', 'a000000000000007']);
  });

  it('keeps the order of the history and reads each tool result once', () => {
    const second = inferences(session)[1]!;
    expect(second.input.map((m) => m.role)).toEqual(['user', 'assistant', 'tool']);
    expect(second.input[2]!.content).toEqual([
      {
        type: 'tool_result',
        toolCallId: 'tooluse_p1',
        content: 'Error: carrier API answered 503',
        isError: true,
      },
    ]);
  });

  it('has the tool run with arguments and result, and its failure flagged though its status is OK', () => {
    expect(tools(session)).toMatchObject([
      {
        status: 'ok',
        toolCall: { name: 'track_parcel', arguments: { parcel: '77' }, toolCallId: 'tooluse_p1' },
        toolResult: { content: 'Error: carrier API answered 503', isError: true },
        errors: [{ source: 'tool-status', message: 'Error: carrier API answered 503' }],
      },
    ]);
  });

  it('hangs the root, whose parent never comes, at the top', () => {
    expect(spanById(session, 'a000000000000001')).toMatchObject({
      parentSpanId: null,
      flags: ['missing-parent'],
    });
  });
});

it('Strands, unified layout: the content is in span events', () => {
  const session = onlySession(fixture('strands-unified'));
  expect(agents(session)).toMatchObject([
    { userPrompt: 'Where is parcel 78?', agentResponse: 'It is in Bern.' },
  ]);
  expect(tools(session)).toMatchObject([
    {
      toolCall: { arguments: { parcel: '78' }, toolCallId: 'tooluse_p2' },
      toolResult: { content: 'Bern', isError: false },
    },
  ]);
});

it('LangChain through ADOT: constructor objects, JSON in JSON and a Python repr of the arguments', () => {
  const session = onlySession(fixture('langchain-adot'));
  const [call] = inferences(session);
  expect(call).toMatchObject({
    model: 'm-2',
    usage: { inputTokens: 50, outputTokens: 9 },
    tools: [{ name: 'calculator' }],
  });
  expect(call!.input).toEqual([{ role: 'user', content: [{ type: 'text', text: 'What is 6*7?' }] }]);
  expect(callsOf(call!.output[0]!.content)).toEqual(['calculator']);
  expect(tools(session)).toMatchObject([
    {
      toolCall: {
        name: 'calculator',
        arguments: { expression: '6*7' },
        argumentsRaw: "{'expression': '6*7'}",
        toolCallId: 'call_lc1',
      },
      toolResult: { content: '42', isError: false },
      flags: ['arguments-repaired'],
    },
  ]);
  expect(agents(session)).toMatchObject([
    { agent: 'LangGraph', userPrompt: 'What is 6*7?', agentResponse: 'It is 42.' },
  ]);
});

it('OTLP with base64 ids, typed values, and kind and status as number or name', () => {
  const session = onlySession(fixture('otlp-genai'));
  expect(session.sessionId).toBe('conv-7');
  const [call] = inferences(session);
  expect(call).toMatchObject({
    spanId: 'd000000000000001',
    traceId: '71aa00000000000000000000000000d1',
    systemPrompt: 'Be brief.',
    tools: [{ name: 'find', parameters: { type: 'object' } }],
    finishReasons: ['length'],
    errors: [{ source: 'finish-reason', type: 'length' }],
    responseId: 'resp-1',
  });
  expect(call!.output[0]!.content[0]).toMatchObject({ arguments: { order: '9007199254740993' } });
  expect(tools(session)[0]!.errors.map((e) => [e.source, e.type ?? null, e.message])).toEqual([
    ['exception', 'NotFound', 'no such order'],
    ['error-type', 'NotFound', 'not found'],
    ['status', null, 'not found'],
  ]);
});

it('Google ADK: content in call_llm, numbers again in its child', () => {
  const session = onlySession(fixture('google-adk'));
  expect(session.sessionId).toBe('adk-s1');
  expect(inferences(session)).toMatchObject([
    {
      name: 'call_llm',
      systemPrompt: 'You file letters.',
      tools: [{ name: 'file_letter' }],
      usage: { inputTokens: 7, outputTokens: 3 },
      finishReasons: ['stop'],
      agent: 'clerk',
    },
  ]);
  expect(tools(session)).toMatchObject([
    {
      toolCall: { name: 'file_letter', arguments: { box: 3 }, toolCallId: 'f1' },
      toolResult: { content: '{"result": "box 3 is full"}' },
    },
  ]);
});

it('Vercel AI SDK: the run is an agent, only doGenerate spans are calls', () => {
  const session = onlySession(fixture('vercel-ai'));
  expect(session.sessionId).toBe('v-s1');
  expect(agents(session)).toMatchObject([
    { agent: 'support-bot', userPrompt: 'Cancel it', agentResponse: 'Done.', systemPrompt: 'Help.' },
  ]);
  expect(inferences(session).map((c) => c.usage)).toEqual([
    { inputTokens: 10, outputTokens: 4 },
    { inputTokens: 20, outputTokens: 5 },
  ]);
  expect(inferences(session)[0]).toMatchObject({
    systemPrompt: 'Help.',
    tools: [{ name: 'cancel' }],
    responseId: 'r-1',
  });
  expect(inferences(session)[0]!.output[0]!.content).toEqual([
    { type: 'tool_use', toolCallId: 't1', name: 'cancel', arguments: { id: 5 } },
  ]);
});

it('Pydantic AI: messages of the run, tools of the request, both spellings of a tool run', () => {
  const session = onlySession(fixture('pydantic-ai'));
  expect(agents(session)).toMatchObject([
    { agent: 'desk', userPrompt: 'Which room?', agentResponse: 'Room 4', systemPrompt: 'You are a desk.' },
  ]);
  expect(inferences(session)).toMatchObject([
    { tools: [{ name: 'rooms' }], systemPrompt: 'You are a desk.' },
  ]);
  expect(tools(session)).toMatchObject([
    { toolCall: { name: 'rooms', arguments: {} }, toolResult: { content: 'room 4 is free' } },
  ]);
});

it('smolagents: positional arguments get their names', () => {
  const session = onlySession(fixture('smolagents'));
  expect(agents(session)).toMatchObject([
    {
      agent: 'CodeAgent',
      userPrompt: 'Count the boats',
      agentResponse: 'Seven',
      availableTools: [{ name: 'count_boats' }],
    },
  ]);
  expect(tools(session)).toMatchObject([
    {
      toolCall: { name: 'count_boats', arguments: { harbour: 'north', year: 2026 } },
      toolResult: { content: '7' },
    },
  ]);
});

it('Claude Agent SDK: the query span holds the calls, the sub-agent outlives its parent', () => {
  const session = onlySession(fixture('claude-agent-sdk'));
  expect(session.sessionId).toBe('cas-s1');
  expect(inferences(session)[0]!.output.flatMap((m) => callsOf(m.content))).toEqual(['Bash']);
  expect(tools(session)[0]!.errors).toEqual([{ source: 'exit-code', message: 'ls: tables: No such file' }]);
  expect(spanById(session, 'd3').flags).toEqual(['outlives-parent']);
});

it('Claude Code without tracing: only log records, which name the session and no trace', () => {
  const record = (event: string, ms: number, attributes: Record<string, string>) => ({
    resource: { attributes: { 'service.name': 'claude-code' } },
    scope: { name: 'com.anthropic.claude_code.events' },
    timeUnixNano: `179000000000${ms}000000`,
    body: `claude_code.${event}`,
    attributes: { 'session.id': 'cc-1', 'event.name': event, ...attributes },
  });
  const session = onlySession([
    record('user_prompt', 1, { prompt: 'Fix the build', prompt_length: '13' }),
    record('api_request', 2, { model: 'claude-x', input_tokens: '10', output_tokens: '4' }),
    record('tool_result', 3, {
      tool_name: 'Bash',
      success: 'false',
      error: 'Exit code 2',
      tool_parameters: '{"command":"make"}',
    }),
    record('tool_result', 4, { tool_name: 'Edit', success: 'false', decision: 'reject' }),
    record('api_error', 5, { model: 'claude-x', error: 'Overloaded', status_code: '529' }),
  ]);
  expect(session.sessionId).toBe('cc-1');
  expect(sessionSpans(session).map((s) => s.kind)).toEqual([
    'message',
    'inference',
    'execute_tool',
    'execute_tool',
    'inference',
  ]);
  expect(sessionSpans(session)[0]).toMatchObject({
    message: { role: 'user', content: [{ text: 'Fix the build' }] },
  });
  expect(tools(session)[0]).toMatchObject({
    toolCall: { arguments: { command: 'make' } },
    errors: [
      { source: 'tool-status', message: 'Exit code 2' },
      { source: 'exit-code', code: 2 },
    ],
  });
  // The user said no: that is no fault of the tool.
  expect(tools(session)[1]!.errors).toEqual([]);
  expect(inferences(session)[1]!.errors).toEqual([{ source: 'http', code: 529, message: 'Overloaded' }]);
});

it('OpenLIT: one text with a role a line', () => {
  const session = onlySession([
    {
      trace_id: 't',
      span_id: 's',
      parent_span_id: null,
      name: 'openai.chat.completions',
      start_time: 1,
      end_time: 2,
      attributes: { 'gen_ai.operation.name': 'chat' },
      scope: { name: 'openlit.otel.tracing' },
      status: { code: 'OK' },
      span_events: [
        {
          event_name: 'gen_ai.content.prompt',
          attributes: { 'gen_ai.prompt': 'system: Be kind.\nuser: Two\nlines\nassistant: Hm.\nuser: Go on' },
        },
        { event_name: 'gen_ai.content.completion', attributes: { 'gen_ai.completion': 'Gladly.' } },
      ],
    },
  ]);
  const [call] = inferences(session);
  expect(call!.systemPrompt).toBe('Be kind.');
  expect(call!.input.map((m) => [m.role, m.content[0]])).toEqual([
    ['user', { type: 'text', text: 'Two\nlines' }],
    ['assistant', { type: 'text', text: 'Hm.' }],
    ['user', { type: 'text', text: 'Go on' }],
  ]);
  expect(call!.output[0]!.content).toEqual([{ type: 'text', text: 'Gladly.' }]);
});

it('Vercel AI SDK 7 sends `content` without parts in the conventions’ attributes', () => {
  const session = onlySession([
    {
      trace_id: 't',
      span_id: 's',
      name: 'chat m',
      start_time: 1,
      end_time: 2,
      scope: { name: 'ai', version: '7.0.0' },
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.input.messages': '[{"role":"user","content":"hello"}]',
        'gen_ai.output.messages': '[{"role":"assistant","content":"hi"}]',
      },
    },
  ]);
  expect(inferences(session)[0]).toMatchObject({
    input: [{ role: 'user', content: [{ text: 'hello' }] }],
    output: [{ content: [{ text: 'hi' }] }],
  });
});

it('messages in every vocabulary become the same blocks', async () => {
  const { readMessages } = await import('../../../core/reading/conventions/messages.ts');
  const call = { type: 'tool_use', toolCallId: 'c1', name: 'find', arguments: { q: 'x' } };
  const result = { type: 'tool_result', toolCallId: 'c1', content: 'found', isError: null };
  const spellings: [string, unknown, unknown][] = [
    [
      'OTel',
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'find', arguments: { q: 'x' } }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'found' }] },
    ],
    [
      'chat completions',
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: '{"q":"x"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'found' },
    ],
    [
      'Anthropic',
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'find', input: { q: 'x' } }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'found' }] }],
      },
    ],
    [
      'Bedrock',
      { role: 'assistant', content: [{ toolUse: { toolUseId: 'c1', name: 'find', input: { q: 'x' } } }] },
      { role: 'user', content: [{ toolResult: { toolUseId: 'c1', content: [{ text: 'found' }] } }] },
    ],
    [
      'Gemini',
      { role: 'model', parts: [{ function_call: { id: 'c1', name: 'find', args: { q: 'x' } } }] },
      { role: 'user', parts: [{ function_response: { id: 'c1', name: 'find', response: 'found' } }] },
    ],
    [
      'AI SDK',
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'find', input: { q: 'x' } }],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c1',
            toolName: 'find',
            output: { type: 'text', value: 'found' },
          },
        ],
      },
    ],
    [
      'Responses API',
      { type: 'function_call', call_id: 'c1', id: 'fc_9', name: 'find', arguments: '{"q":"x"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'found' },
    ],
    [
      'LangChain',
      {
        lc: 1,
        type: 'constructor',
        id: ['langchain', 'AIMessage'],
        kwargs: { content: '', type: 'ai', tool_calls: [{ id: 'c1', name: 'find', args: { q: 'x' } }] },
      },
      {
        lc: 1,
        type: 'constructor',
        id: ['langchain', 'ToolMessage'],
        kwargs: { content: 'found', type: 'tool', tool_call_id: 'c1' },
      },
    ],
  ];
  for (const [name, asked, answered] of spellings) {
    const { messages } = readMessages(JSON.stringify([asked, answered]), 'user');
    expect(messages, name).toEqual([
      { role: 'assistant', content: [call] },
      { role: 'tool', content: [result] },
    ]);
  }
});

it("the release is the producer's version of the agent's code; without one there is none", () => {
  const asked = chat([user('Hello')], [answer('Good day.')]);
  const resource = { 'service.name': 'shop', 'service.version': '2.4.1' };
  expect(onlySession([flatSpan('a', { attributes: asked, resource })]).release).toBe('2.4.1');
  expect(onlySession([flatSpan('a', { attributes: asked })])).not.toHaveProperty('release');
});
