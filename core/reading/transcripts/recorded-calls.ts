import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { InferenceSpan, Message, Span, SpanError, ToolSpan } from '../../session/session.ts';
import { readResponseBody } from '../conventions/provider-bodies.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { nativeAnswer, nativePrompt } from './bedrock-bodies.ts';
import { readTools } from './blocks.ts';
import { isChatList } from './chat-completions.ts';
import { readChatItem, readUsage, systemText } from './chat-turns.ts';
import { numberAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';

export interface RecordedCall {
  readonly request: JsonObject;
  readonly response: JsonObject | null;
  readonly record: JsonObject;
}

/** Messages beside their response, in the words of HTTP recorders and AutoGen's `LLMCall` events. */
function callOf(record: JsonValue | undefined): RecordedCall | null {
  if (!isJsonObject(record)) return null;
  const request =
    objectAt(record, 'body') ??
    objectAt(record, 'request') ??
    (objectAt(record, 'response') === undefined ? undefined : record);
  if (request === undefined || !isChatList(request.messages)) return null;
  return { request, response: objectAt(record, 'response') ?? null, record };
}

/** Records looked at to recognise a file: an event log may begin with events of other kinds. */
const SAMPLE = 20;

/**
 * Recorded model calls: request bodies with their responses (Bedrock Converse and InvokeModel, Anthropic, OpenAI), as
 * HTTP recorders and AutoGen's event log keep them. The calls of one file are one session
 * in order.
 */
export const recordedCalls: TranscriptFormat = {
  id: 'recorded-calls',
  title: 'Recorded model calls (Bedrock, Anthropic, OpenAI)',
  knownBy: '{body | request: {messages}, response} or {messages, response}, one or a list',
  from: 'recorded HTTP exchanges with a model (request body beside response), AutoGen’s event log',
  checkedOn: 'recordings of OpenInference’s Bedrock tests; autogen commit 027ecf0a',

  recognise(document) {
    const sample = Array.isArray(document) ? document.slice(0, SAMPLE) : [document];
    return sample.some((record) => callOf(record) !== null) ? { match: 'yes', sure: 0.97 } : { match: 'no' };
  },

  read(document, source) {
    const sessionId = sourceStem(source);
    const records = Array.isArray(document) ? document : [document];
    const spans = records.flatMap((record, position): Span[] => {
      const call = callOf(record);
      if (call !== null) return [readCall(call, sessionId, position)];
      return isToolCall(record) ? [readToolCall(record, sessionId, position)] : [];
    });
    const agents = [...new Set(spans.map((span) => span.agent))];
    const skipped = records.length - spans.length;
    return {
      sessions: [
        {
          sessionId,
          format: this.id,
          traces: [{ traceId: sessionId, sessionId, spans }],
          goal: null,
          agent: agents.length === 1 ? (agents[0] ?? null) : null,
          service: null,
          unread: [],
        },
      ],
      unread:
        skipped === 0
          ? []
          : [{ where: source, reason: 'records without a chat request or tool call', count: skipped }],
    };
  },
};

export function readCall(
  { request, response, record }: RecordedCall,
  traceId: string,
  position: number,
): InferenceSpan {
  const asked = objectsIn(request.messages);
  const input = (asked.length > 0 ? asked : nativePrompt(request)).flatMap(messagesOf);
  const body = response === null ? null : readResponseBody(nativeAnswer(response) ?? response);
  const output = (body?.messages ?? []).filter(isJsonObject).flatMap(messagesOf);
  const [answer] = output;
  const errors = errorsOf(record, response);
  const tools = readTools(request);
  const systemPrompt = systemText(request.system);
  const usage =
    (response === null ? undefined : objectAt(response, 'usage')) ??
    (numberAt(record, 'prompt_tokens') === undefined ? undefined : record);
  const model =
    textAt(record, 'modelId') ??
    (response === null ? undefined : textAt(response, 'model')) ??
    textAt(request, 'model');
  const responseId = response === null ? undefined : textAt(response, 'id');
  return {
    ...common(record, traceId, position),
    kind: 'inference',
    name: 'chat',
    status: errors.length > 0 ? 'error' : 'unset',
    errors,
    flags: answer === undefined && errors.length === 0 ? ['content-absent'] : [],
    input,
    output,
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(tools === undefined ? {} : { tools }),
    ...(model === undefined ? {} : { model }),
    ...(responseId === undefined ? {} : { responseId }),
    ...(body === null || body.finishReasons.length === 0 ? {} : { finishReasons: [...body.finishReasons] }),
    ...(usage === undefined ? {} : { usage: readUsage(usage) }),
  };
}

const common = (record: JsonObject, traceId: string, position: number) => ({
  spanId: `m${position}`,
  traceId,
  parentSpanId: null,
  agent: agentOf(record),
  startTimeUnixNano: null,
  endTimeUnixNano: null,
  sourcePosition: position,
});

/** AutoGen's `agent_id` is type and key; the type is the agent, the key often a session's. */
const agentOf = (record: JsonObject): string | null =>
  textAt(record, 'agent_id')?.split('/')[0] ?? textAt(record, 'agent', 'agent_name') ?? null;

/** AutoGen's `ToolCall` events: name, arguments and result, without the id of the call. */
const isToolCall = (record: JsonValue | undefined): record is JsonObject =>
  isJsonObject(record) && record.type === 'ToolCall' && typeof record.tool_name === 'string';

function readToolCall(record: JsonObject, traceId: string, position: number): ToolSpan {
  const name = textAt(record, 'tool_name') ?? '';
  const { result } = record;
  const content = typeof result === 'string' ? result : JSON.stringify(result);
  return {
    ...common(record, traceId, position),
    kind: 'execute_tool',
    name,
    status: 'unset',
    errors: [],
    flags: [],
    toolCall: { name, toolCallId: null, arguments: record.arguments ?? {} },
    toolResult: result === undefined || result === null ? null : { content, isError: null, toolCallId: null },
  };
}

function messagesOf(message: JsonObject, index: number): Message[] {
  return readChatItem(message, index).map(({ role, blocks }) => {
    const onlyResults = blocks.length > 0 && blocks.every((block) => block.type === 'tool_result');
    return { role: onlyResults ? 'tool' : role, content: [...blocks] };
  });
}

function errorsOf(record: JsonObject, response: JsonObject | null): SpanError[] {
  const status = numberAt(record, 'status', 'statusCode', 'status_code');
  const nested = response === null ? undefined : objectAt(response, 'error');
  const message =
    nested === undefined
      ? response === null
        ? undefined
        : textAt(response, 'message')
      : textAt(nested, 'message');
  if (status !== undefined && status >= 400) {
    return [{ source: 'http', code: status, message: message ?? `HTTP ${status}` }];
  }
  const code = textAt(record, 'errorCode');
  if (code !== undefined) return [{ source: 'error-type', type: code, message: message ?? code }];
  return nested === undefined ? [] : [{ source: 'status', message: message ?? 'error' }];
}
