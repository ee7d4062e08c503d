import { canonicalJson } from '../../base/hash.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SpanFlag } from '../../session/session.ts';
import { readRequestBody, readResponseBody } from '../conventions/provider-bodies.ts';
import { readToolDefinitions } from '../conventions/tool-definitions.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { UnreadTally } from '../envelopes/unread-tally.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { readParts, respondingTool } from './gemini-parts.ts';

/**
 * Gemini's `generateContent` (google-genai 3.6.1 `types.py` and the REST reference): a history of contents, a request,
 * `{request, response}` pairs, responses alone, and the saved chats of Gemini CLI that hold such a history.
 */
export const gemini: TranscriptFormat = {
  id: 'gemini',
  title: 'Gemini contents, requests and responses',
  knownBy:
    '[{role: "user" | "model", parts}], {contents}, {request: {contents}, response: {candidates}}, {history | clientHistory}',
  from: '`contents` of generateContent, logged requests and responses, chats saved by `/chat save` of Gemini CLI',
  checkedOn: 'google-genai 3.6.1',

  recognise(document) {
    if (historyOf(document) !== null) return { match: 'yes', sure: 0.83 };
    const sample = (Array.isArray(document) ? document : [document]).slice(0, 20);
    return sample.length > 0 && sample.every((item) => callOf(item) !== null)
      ? { match: 'yes', sure: 0.9 }
      : { match: 'no' };
  },

  read(document, source) {
    const tally = new UnreadTally(source);
    const history = historyOf(document);
    const calls =
      history !== null
        ? []
        : objectsIn(Array.isArray(document) ? document : [document]).flatMap((item) => callOf(item) ?? []);
    const turns =
      history !== null
        ? history.map((content, position) => contentTurn(content, position))
        : callTurns(calls);
    const tools = calls.flatMap(({ request }) => readToolDefinitions(readRequestBody(request)?.tools));
    const session = buildConversation({
      sessionId: sourceStem(source),
      format: this.id,
      turns,
      tools: tools.length === 0 ? undefined : tools,
    });
    return { sessions: [session], unread: tally.list() };
  },
};

function isContent(value: JsonValue): value is JsonObject {
  return (
    isJsonObject(value) &&
    Array.isArray(value.parts) &&
    value.parts.length > 0 &&
    (value.role === 'user' || value.role === 'model' || value.role === 'function')
  );
}

function historyOf(document: JsonValue): JsonObject[] | null {
  const list = isJsonObject(document) ? (document.clientHistory ?? document.history) : document;
  return Array.isArray(list) && list.length > 0 && list.every(isContent) ? objectsIn(list) : null;
}

interface Call {
  readonly request: JsonObject;
  readonly response: JsonObject | null;
}

function callOf(item: JsonValue): Call | null {
  if (!isJsonObject(item)) return null;
  const asked = [item.request, item.body, item].find(
    (candidate) => isJsonObject(candidate) && isRequest(candidate),
  );
  const answer = [item.response, item.output, item].find(
    (candidate) => isJsonObject(candidate) && isResponse(candidate),
  );
  if (asked === undefined && answer === undefined) return null;
  return {
    request: isJsonObject(asked) ? asked : {},
    response: isJsonObject(answer) ? answer : isJsonObject(item.response) ? item.response : null,
  };
}

const isRequest = (value: JsonObject): boolean =>
  Array.isArray(value.contents) &&
  value.contents.some((content) => isJsonObject(content) && Array.isArray(content.parts));

const isResponse = (value: JsonObject): boolean =>
  (Array.isArray(value.candidates) &&
    ['usageMetadata', 'usage_metadata', 'modelVersion', 'model_version'].some((key) => key in value)) ||
  (Array.isArray(value.candidates) &&
    objectsIn(value.candidates).some(
      (content) => isJsonObject(content.content) && Array.isArray(content.content.parts),
    )) ||
  ['promptFeedback', 'prompt_feedback'].some((key) => isJsonObject(value[key]));

/** Each request repeats the history before it; a stream's responses come one after another without a request. */
function callTurns(calls: readonly Call[]): Turn[] {
  const turns: Turn[] = [];
  const said: string[] = [];
  for (const [position, { request, response }] of calls.entries()) {
    const body = readRequestBody(request);
    (body?.messages ?? []).filter(isJsonObject).forEach((content, at) => {
      const key = keyOf(content);
      if (said[at] === key) return;
      said.splice(at, said.length, key);
      turns.push(contentTurn(content, position));
    });
    if (response === null) continue;
    const answer = readResponseBody(response);
    const [content] = (answer?.messages ?? []).filter(isJsonObject);
    if (content !== undefined) said.push(keyOf(content));
    const systemPrompt = body?.system === undefined ? undefined : systemOf(body.system);
    const time = toUnixNano(response.createTime ?? response.create_time);
    const turn =
      content === undefined
        ? { position, role: 'assistant' as const, blocks: [] }
        : contentTurn(content, position);
    const last = turns.at(-1);
    const goesOn =
      Object.keys(request).length === 0 && last?.role === 'assistant' && last.position === position - 1;
    const facts = {
      startTimeUnixNano: time,
      endTimeUnixNano: time,
      errors: [...(answer?.errors ?? [])],
      ...(systemPrompt === undefined ? {} : { systemPrompt }),
      ...(answer === null || answer.model === null ? {} : { model: answer.model }),
      ...(answer === null || answer.finishReasons.length === 0
        ? {}
        : { finishReasons: [...answer.finishReasons] }),
      ...(answer?.usage === undefined ? {} : { usage: answer.usage }),
    };
    if (goesOn && last !== undefined)
      turns[turns.length - 1] = {
        ...last,
        ...facts,
        position,
        blocks: joined([...last.blocks, ...turn.blocks]),
      };
    else turns.push({ ...turn, ...facts });
  }
  return turns;
}

/** Pieces of one text that came in several answers of a stream. */
function joined(blocks: Turn['blocks']): Turn['blocks'] {
  const out: Turn['blocks'][number][] = [];
  for (const block of blocks) {
    const last = out.at(-1);
    if (block.type === 'text' && last?.type === 'text')
      out[out.length - 1] = { type: 'text', text: last.text + block.text };
    else out.push(block);
  }
  return out;
}

const keyOf = (content: JsonObject): string =>
  canonicalJson([content.role === 'model' ? 'model' : 'user', content.parts ?? null]);

function systemOf(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value || undefined;
  const texts = isJsonObject(value)
    ? objectsIn(value.parts).flatMap((part) => textAt(part, 'text') ?? [])
    : [];
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

/** One content as a turn. Results come under the role of the user, or `function` in older Vertex. */
export function contentTurn(content: JsonObject, position: number): Turn {
  const flags = new Set<SpanFlag>();
  const blocks = readParts(content, flags);
  const answers = blocks.some((block) => block.type === 'tool_result') && content.role !== 'model';
  const toolName = respondingTool(content);
  return {
    position,
    role: answers ? 'tool' : content.role === 'model' || content.role === 'assistant' ? 'assistant' : 'user',
    blocks,
    flags: [...flags],
    ...(toolName === undefined ? {} : { toolName }),
  };
}

/** Tokens as Gemini counts them, where they stand on an event of its own. */
export const usageIn = (event: JsonObject): JsonObject | undefined =>
  objectAt(event, 'usageMetadata') ?? objectAt(event, 'usage_metadata');
