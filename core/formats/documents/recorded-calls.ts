import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import type { InferenceSpan, Message, SpanError } from '../../session/model.ts';
import type { DocumentFormat } from '../format.ts';
import { readTools } from './blocks.ts';
import { isChatList } from './chat-completions.ts';
import { readChatTurn, readUsage, systemText } from './chat-turns.ts';
import { numberAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';

interface RecordedCall {
  readonly request: JsonObject;
  readonly response: JsonObject | null;
  readonly record: JsonObject;
}

/** A request body with messages beside its response, in the words of HTTP recorders and of invocation logs. */
function callOf(record: JsonValue | undefined): RecordedCall | null {
  if (!isJsonObject(record)) return null;
  const input = objectAt(record, 'input');
  const output = objectAt(record, 'output');
  const request =
    objectAt(record, 'body') ??
    objectAt(record, 'request') ??
    (input === undefined ? undefined : objectAt(input, 'inputBodyJson'));
  if (request === undefined || !isChatList(request.messages)) return null;
  const response =
    objectAt(record, 'response') ?? (output === undefined ? undefined : objectAt(output, 'outputBodyJson'));
  return { request, response: response ?? null, record };
}

/**
 * Recorded model calls: request bodies with their responses (Bedrock Converse and InvokeModel, Anthropic, OpenAI), as
 * HTTP recorders and Bedrock's invocation logs keep them. The calls of one file are one session in order.
 */
export const recordedCalls: DocumentFormat = {
  id: 'recorded-calls',
  title: 'Recorded model calls (Bedrock, Anthropic, OpenAI)',
  knownBy: '{body | request: {messages}, response} or {input: {inputBodyJson}, output}, one or a list',

  recognise(document) {
    const first = Array.isArray(document) ? document[0] : document;
    return callOf(first) === null ? { match: 'no' } : { match: 'yes', sure: 0.97 };
  },

  read(document, source) {
    const sessionId = sourceStem(source);
    const records = Array.isArray(document) ? document : [document];
    const calls = records.map(callOf);
    const spans = calls.flatMap((call, position) =>
      call === null ? [] : [readCall(call, sessionId, position)],
    );
    const skipped = calls.filter((call) => call === null).length;
    return {
      sessions: [
        {
          sessionId,
          format: this.id,
          traces: [{ traceId: sessionId, sessionId, spans }],
          goal: null,
          agent: null,
          service: null,
          unread: [],
        },
      ],
      unread:
        skipped === 0 ? [] : [{ where: source, reason: 'records without a chat request', count: skipped }],
    };
  },
};

function readCall(
  { request, response, record }: RecordedCall,
  traceId: string,
  position: number,
): InferenceSpan {
  const input = objectsIn(request.messages).map((message, index) => messageOf(message, index));
  const answer = response === null ? null : answerOf(response);
  const errors = errorsOf(record, response);
  const tools = readTools(request);
  const systemPrompt = systemText(request.system);
  const usage = response === null ? undefined : objectAt(response, 'usage');
  const model =
    textAt(record, 'modelId') ??
    (response === null ? undefined : textAt(response, 'model')) ??
    textAt(request, 'model');
  const responseId = response === null ? undefined : textAt(response, 'id');
  return {
    kind: 'inference',
    spanId: `m${position}`,
    traceId,
    parentSpanId: null,
    name: 'chat',
    agent: null,
    startTimeUnixNano: null,
    endTimeUnixNano: null,
    status: errors.length > 0 ? 'error' : 'unset',
    errors,
    flags: answer === null && errors.length === 0 ? ['content-absent'] : [],
    sourcePosition: position,
    input,
    output: answer === null ? [] : [answer.message],
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(tools === undefined ? {} : { tools }),
    ...(model === undefined ? {} : { model }),
    ...(responseId === undefined ? {} : { responseId }),
    ...(answer?.finishReason === undefined ? {} : { finishReasons: [answer.finishReason.toLowerCase()] }),
    ...(usage === undefined ? {} : { usage: readUsage(usage) }),
  };
}

function messageOf(message: JsonObject, index: number): Message {
  const turn = readChatTurn(message, index);
  const onlyResults = turn.blocks.length > 0 && turn.blocks.every((block) => block.type === 'tool_result');
  return { role: onlyResults ? 'tool' : turn.role, content: [...turn.blocks] };
}

/** The assistant's message: Converse `output.message`, Anthropic `content`, OpenAI `choices[0].message`. */
function answerOf(response: JsonObject): { message: Message; finishReason: string | undefined } | null {
  const output = objectAt(response, 'output');
  const [choice] = objectsIn(response.choices);
  const body =
    (output === undefined ? undefined : objectAt(output, 'message')) ??
    (choice === undefined ? undefined : objectAt(choice, 'message')) ??
    (Array.isArray(response.content) ? response : undefined);
  if (body === undefined) return null;
  const finishReason =
    textAt(response, 'stopReason', 'stop_reason') ??
    (choice === undefined ? undefined : textAt(choice, 'finish_reason'));
  return { message: messageOf({ ...body, role: 'assistant' }, 0), finishReason };
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
