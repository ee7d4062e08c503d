import { canonicalJson } from '../../base/hash.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { isResponseObject, readResponseBody } from '../conventions/provider-bodies.ts';
import { isResponsesItem, responsesItemMessages, responsesTools } from '../conventions/responses-items.ts';
import { readToolDefinitions } from '../conventions/tool-definitions.ts';
import type { ReadResult, TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { UnreadTally } from '../envelopes/unread-tally.ts';
import { readChatTurn, systemText } from './chat-turns.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { arrayAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';

/** One call of the API as logged: request, response or both. */
interface Call {
  readonly position: number;
  readonly request: JsonObject;
  readonly response: JsonObject | null;
  /** Lines of a batch are independent calls. */
  readonly batchId: string | undefined;
}

/**
 * Requests and responses of OpenAI's Responses API (openai 3.57.0, `types/responses`; also 1.66 to 2.x, which are
 * subsets): response objects, `{request, response}` pairs, batch files, streams of events, and item lists as the Agents
 * SDK keeps them. Calls are one session by `conversation` or by `previous_response_id`; without either the calls of a
 * file are one session in order, and an input that repeats earlier items is read once.
 */
export const openaiResponses: TranscriptFormat = {
  id: 'openai-responses',
  title: 'OpenAI Responses API logs and item lists',
  knownBy:
    '{object: "response", output}, {request: {input, model}, response}, batch and event lines, or [{type: "function_call" | …}]',
  from: 'logged requests and responses of the Responses API, batch files, streams of events, `result.to_input_list()` of the Agents SDK',
  checkedOn: 'openai 3.57.0, also 1.66 to 2.x',

  recognise(document) {
    if (itemsOf(document) !== null) return { match: 'yes', sure: 0.8 };
    const sample = (Array.isArray(document) ? document : [document]).slice(0, 20);
    return sample.some((record) => isStreamEvent(record) || callOf(record, 0) !== null)
      ? { match: 'yes', sure: 0.92 }
      : { match: 'no' };
  },

  read(document, source) {
    const items = itemsOf(document);
    const tally = new UnreadTally(source);
    if (items !== null) return readItems(items, source, tally);
    const records = Array.isArray(document) ? document : [document];
    const calls = records.flatMap((record, position) => callOf(record, position) ?? []);
    const events = objectsIn(records).filter(isStreamEvent);
    if (events.length > 0) calls.push(...streamedCalls(events, calls.length));
    const others =
      records.length - events.length - calls.filter((call) => call.position < records.length).length;
    if (others > 0) tally.add('entries that are no call of the Responses API', others);
    const sessions = grouped(calls).map(([id, group], index) =>
      readCalls(id ?? (index === 0 ? sourceStem(source) : `${sourceStem(source)}#${index}`), group, tally),
    );
    return { sessions, unread: tally.list() };
  },
};

/** A list of items, bare or as a page (`{object: 'list', data}`). At least one must be of a kind that only this API has. */
function itemsOf(document: JsonValue): JsonObject[] | null {
  const list = isJsonObject(document) && document.object === 'list' ? document.data : document;
  if (!Array.isArray(list) || list.length === 0) return null;
  const items = objectsIn(list);
  const ours = items.some((item) => isResponsesItem(item) || hasItemParts(item));
  return ours &&
    items.every((item) => typeof item.role === 'string' || typeof item.type === 'string') &&
    items.some((item) => typeof item.role === 'string' || isResponsesItem(item)) &&
    !items.some(isStreamEvent)
    ? inOrder(items)
    : null;
}

const hasItemParts = (item: JsonObject): boolean =>
  typeof item.role === 'string' &&
  objectsIn(item.content).some((part) => part.type === 'input_text' || part.type === 'output_text');

/** The API lists the newest item first unless asked otherwise. */
function inOrder(items: JsonObject[]): JsonObject[] {
  const answered = new Set<string>();
  for (const item of items) {
    const id = textAt(item, 'call_id');
    if (id === undefined) continue;
    if (String(item.type).endsWith('_output')) answered.add(id);
    else if (answered.has(id)) return items.toReversed();
  }
  return items;
}

function isStreamEvent(record: JsonValue): boolean {
  return (
    isJsonObject(record) && typeof record.type === 'string' && /^response\.[a-z_.]{1,80}$/.test(record.type)
  );
}

function callOf(record: JsonValue | undefined, position: number): Call | null {
  if (!isJsonObject(record) || isStreamEvent(record)) return null;
  const batchId = textAt(record, 'custom_id');
  if (isResponseObject(record)) return { position, request: {}, response: record, batchId };
  const answer = [record.response, record.output].map(bodyOf).find(isResponseObject) ?? null;
  const asked = [record.request, record.body, record].map(bodyOf).find(isRequest);
  if (answer !== null) {
    const request = asked ?? (Array.isArray(record.input) ? { input: record.input } : {});
    return { position, request, response: answer, batchId };
  }
  return asked === undefined
    ? null
    : { position, request: asked, response: bodyOf(record.response), batchId };
}

/** `{status_code, body}` is how batch results wrap a body. */
function bodyOf(value: JsonValue | undefined): JsonObject | null {
  if (!isJsonObject(value)) return null;
  return isJsonObject(value.body) && 'status_code' in value ? value.body : value;
}

/** Requests of embeddings have `input` and `model` too: an item, or a setting of this API alone, must be there. */
function isRequest(value: JsonObject | null): value is JsonObject {
  if (value === null || typeof value.model !== 'string' || 'messages' in value || 'output' in value)
    return false;
  if (typeof value.input !== 'string' && !Array.isArray(value.input)) return false;
  if (objectsIn(value.input).some((item) => typeof item.role === 'string' || isResponsesItem(item)))
    return true;
  return ['instructions', 'previous_response_id', 'reasoning', 'store', 'include'].some(
    (key) => key in value,
  );
}

/** The last event of a response carries it whole; a stream that broke off has only its finished items. */
function streamedCalls(events: readonly JsonObject[], first: number): Call[] {
  const calls: Call[] = [];
  let open: JsonObject[] = [];
  const end = (response: JsonObject): void => {
    calls.push({ position: first + calls.length, request: {}, response, batchId: undefined });
    open = [];
  };
  for (const event of events) {
    const item = objectAt(event, 'item');
    const response = objectAt(event, 'response');
    if (event.type === 'response.output_item.done' && item !== undefined) open.push(item);
    if (/^response\.(?:completed|incomplete|failed)$/.test(String(event.type)) && response !== undefined)
      end(response);
  }
  if (open.length > 0) end({ object: 'response', status: 'incomplete', output: open });
  return calls;
}

/** Calls by session, in order. A session's id is the conversation's or the batch line's; `undefined`: none is stated. */
function grouped(calls: readonly Call[]): [string | undefined, Call[]][] {
  const groups = new Map<string, { id: string | undefined; calls: Call[] }>();
  const ofResponse = new Map<string, string>();
  const stated = calls.some((call) => previousOf(call) !== undefined);
  for (const call of calls) {
    const conversation = call.request.conversation ?? call.response?.conversation;
    const id =
      call.batchId ??
      (isJsonObject(conversation) ? textAt(conversation, 'id') : undefined) ??
      (typeof conversation === 'string' && conversation !== '' ? conversation : undefined);
    const previous = previousOf(call);
    const responseId = call.response === null ? undefined : textAt(call.response, 'id');
    // Where calls name what they continue, one that names nothing begins anew.
    const key =
      id ??
      (previous === undefined ? undefined : ofResponse.get(previous)) ??
      (stated ? `=${responseId ?? call.position}` : '');
    if (responseId !== undefined) ofResponse.set(responseId, key);
    const group = groups.get(key) ?? { id: id ?? (stated ? responseId : undefined), calls: [] };
    group.calls.push(call);
    groups.set(key, group);
  }
  return [...groups.values()].map((group) => [group.id, group.calls]);
}

const previousOf = (call: Call): string | undefined =>
  textAt(call.request, 'previous_response_id') ??
  (call.response === null ? undefined : textAt(call.response, 'previous_response_id'));

function readCalls(sessionId: string, calls: readonly Call[], tally: UnreadTally) {
  const turns: Turn[] = [];
  const said: string[] = [];
  const known = new Set<string>();
  const tools: JsonValue[] = [];
  for (const call of calls) {
    const { request, response, position } = call;
    // A request that names what it continues brings only what is new.
    const whole = previousOf(call) === undefined && request.conversation === undefined;
    const input =
      typeof request.input === 'string'
        ? [{ role: 'user', content: request.input }]
        : objectsIn(request.input);
    const output = response === null ? [] : objectsIn(response.output);
    let at = 0;
    for (const item of input) {
      const key = keyOf(item);
      const repeats = (whole && said[at] === key) || (isResponsesItem(item) && known.has(key));
      at += 1;
      if (repeats) continue;
      at = said.push(key);
      known.add(key);
      turns.push(...turnsOf(item, position, tally));
    }
    for (const item of output) {
      said.push(keyOf(item));
      known.add(keyOf(item));
    }
    tools.push(...responsesTools(arrayAt(request, 'tools') ?? response?.tools, [...input, ...output]));
    if (response !== null) turns.push(...answerTurns(request, response, position, tally));
  }
  return buildConversation({
    sessionId,
    format: openaiResponses.id,
    turns,
    tools: tools.length === 0 ? undefined : distinctTools(tools),
  });
}

const distinctTools = (tools: JsonValue[]) => {
  const all = new Map(
    readToolDefinitions(tools)
      .toReversed()
      .map((tool) => [tool.name, tool]),
  );
  return [...all.values()].toReversed();
};

/** What makes an item the same when a later request repeats it: the id that pairs it, else who said what. */
function keyOf(item: JsonObject): string {
  const id = textAt(item, 'call_id') ?? (isResponsesItem(item) ? textAt(item, 'id') : undefined);
  if (id !== undefined) return `${String(item.type)}\n${id}`;
  const texts = objectsIn(item.content).map((part) => part.text ?? part.refusal ?? null);
  const content = texts.length === 0 ? item.content : texts.length === 1 ? texts[0] : texts;
  return `${String(item.role ?? item.type)}\n${canonicalJson(content ?? null)}`;
}

/** A response as turns: one model call with all its output, cut only where the service ran a tool in between. */
function answerTurns(
  request: JsonObject,
  response: JsonObject,
  position: number,
  tally: UnreadTally,
): Turn[] {
  const body = readResponseBody(response);
  const merged: Turn[] = [];
  for (const turn of objectsIn(response.output).flatMap((item) => turnsOf(item, position, tally))) {
    const last = merged.at(-1);
    if (turn.role === 'assistant' && last?.role === 'assistant') {
      merged[merged.length - 1] = {
        ...last,
        blocks: [...last.blocks, ...turn.blocks],
        flags: [...new Set([...(last.flags ?? []), ...(turn.flags ?? [])])],
      };
    } else merged.push(turn);
  }
  if (merged[0]?.role !== 'assistant') merged.unshift({ position, role: 'assistant', blocks: [] });
  const [call, ...rest] = merged;
  if (call === undefined) return [];
  const systemPrompt = systemText(request.instructions ?? response.instructions ?? undefined);
  const responseId = textAt(response, 'id');
  const start = toUnixNano(response.created_at);
  const withFacts: Turn = {
    ...call,
    startTimeUnixNano: start,
    endTimeUnixNano: toUnixNano(response.completed_at) ?? start,
    errors: [...(body?.errors ?? [])],
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(responseId === undefined ? {} : { responseId }),
    ...(body === null || body.model === null ? {} : { model: body.model }),
    ...(body === null || body.finishReasons.length === 0 ? {} : { finishReasons: [...body.finishReasons] }),
    ...(body?.usage === undefined ? {} : { usage: body.usage }),
  };
  return [withFacts, ...rest];
}

function readItems(items: readonly JsonObject[], source: string, tally: UnreadTally): ReadResult {
  const tools = distinctTools(responsesTools([], [...items]));
  const session = buildConversation({
    sessionId: sourceStem(source),
    format: openaiResponses.id,
    turns: items.flatMap((item, position) => turnsOf(item, position, tally)),
    tools: tools.length === 0 ? undefined : tools,
  });
  return { sessions: [session], unread: tally.list() };
}

function turnsOf(item: JsonObject, position: number, tally: UnreadTally): Turn[] {
  const messages = responsesItemMessages(item);
  if (messages === null && typeof item.role !== 'string') {
    tally.add(`an item of type "${String(item.type).slice(0, 60)}", which is not known`);
    return [];
  }
  if (item.type === 'item_reference') tally.add('a reference to an item that this log does not hold');
  if (String(item.type).startsWith('compaction') && item.type !== 'compaction_trigger')
    tally.add('an encrypted summary of earlier turns');
  return (messages ?? [item]).map((message) => readChatTurn(message, position));
}
