import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { Message, SpanError } from '../../session/session.ts';
import { unwrapJson } from '../decode/decode-json.ts';
import type { Convention, RawLog, RawSpan, SpanContent } from '../decode/format.ts';
import { textAt, valueAt, wordsOf } from './attributes.ts';
import { buildAgent, buildInference, lastText } from './build.ts';
import { buildOther } from './build-other.ts';
import { buildTool } from './build-tool.ts';
import { plainText } from './events.ts';
import { readMessages } from './messages.ts';
import { readToolDefinitions } from './tool-definitions.ts';

/**
 * Vercel AI SDK up to 6 (7 speaks the GenAI conventions). The outer span is the run over all its steps, each
 * `doGenerate` / `doStream` is one model call, so only those count.
 */
export const vercelAi: Convention = {
  id: 'vercel-ai',
  title: 'Vercel AI SDK',
  knownBy: 'ai.operationId',
  from: '`experimental_telemetry: { isEnabled: true }`',
  checkedOn: 'AI SDK up to 6; 7.0.0 by the GenAI conventions',
  claim: (span) => (typeof span.attributes['ai.operationId'] === 'string' ? 80 : 0),
  read: (span, logs) => {
    const operation = textAt(span.attributes, 'ai.operationId') ?? '';
    if (operation === 'ai.toolCall') return readToolCall(span);
    if (/\.do(Generate|Stream)$/.test(operation)) return readCall(span, logs);
    if (/^ai\.(generate|stream)(Text|Object)$/.test(operation)) return readRun(span, logs);
    return buildOther(span);
  },
};

function readToolCall(span: RawSpan): SpanContent {
  const a = span.attributes;
  const result = valueAt(a, 'ai.toolCall.result', 'ai.toolCall.output');
  const args = valueAt(a, 'ai.toolCall.args', 'ai.toolCall.input');
  const errors: SpanError[] = [];
  // Arguments and results are recorded together or not at all, so a result that is missing alone is a tool that threw.
  if (
    args !== undefined &&
    result === undefined &&
    span.endTimeUnixNano !== null &&
    span.status.code !== 'error'
  ) {
    errors.push({ source: 'tool-status', message: 'the tool returned no result' });
  }
  const parts = {
    name: textAt(a, 'ai.toolCall.name'),
    toolCallId: textAt(a, 'ai.toolCall.id'),
    arguments: args,
    result,
  };
  return buildTool(span, parts, { errors });
}

function readCall(span: RawSpan, logs: readonly RawLog[]): SpanContent {
  const a = span.attributes;
  const input = readMessages(a['ai.prompt.messages'], 'user');
  const systems = input.messages.filter((message) => message.role === 'system');
  const history = input.messages.filter((message) => message.role !== 'system');
  const output = responseMessages(a);
  return buildInference(span, logs, {
    ...(history.length > 0 ? { input: history } : {}),
    ...(output.length > 0 ? { output } : {}),
    ...(systems.length > 0 ? { system: systems.map(plainText).join('\n\n') } : {}),
    tools: readToolDefinitions(a['ai.prompt.tools']),
    finishReasons: wordsOf(
      valueAt(a, 'ai.response.finishReason', 'ai.finishReason', 'gen_ai.response.finish_reasons'),
    ),
    responseId: textAt(a, 'ai.response.id', 'gen_ai.response.id'),
    flags: input.flags,
  });
}

function readRun(span: RawSpan, logs: readonly RawLog[]): SpanContent {
  const a = span.attributes;
  const { value: prompt } = unwrapJson(a['ai.prompt'] ?? null, 1);
  const body = isJsonObject(prompt) ? prompt : {};
  const { messages } = readMessages(body.messages ?? undefined, 'user');
  const asked = typeof body.prompt === 'string' ? body.prompt : lastText(messages, 'user');
  const system = typeof body.system === 'string' ? body.system : null;
  const response = lastText(responseMessages(a), 'assistant') ?? textAt(a, 'ai.response.object');
  return buildAgent(span, logs, { userPrompt: asked, agentResponse: response, system });
}

function responseMessages(a: RawSpan['attributes']): Message[] {
  const text =
    valueAt(a, 'ai.response.text', 'ai.result.text', 'ai.response.object', 'ai.result.object') ?? '';
  const reasoning = textAt(a, 'ai.response.reasoning');
  const { value: calls } = unwrapJson(valueAt(a, 'ai.response.toolCalls', 'ai.result.toolCalls') ?? null);
  const parts: JsonValue[] = [
    ...(reasoning !== null ? [{ type: 'reasoning', text: reasoning }] : []),
    ...(typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : []),
    ...(Array.isArray(calls)
      ? calls.map((call) => (isJsonObject(call) ? { ...call, type: 'tool-call' } : call))
      : []),
  ];
  return parts.length === 0
    ? []
    : [...readMessages([{ role: 'assistant', content: parts }], 'assistant').messages];
}
