import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { SessionInvalidError } from '../../errors/errors.ts';
import type { Session, SpanError, ToolDefinition, Unread } from '../../session/session.ts';
import { readToolDefinitions } from '../conventions/tool-definitions.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { plainText } from './blocks.ts';
import { readChatTurn, readUsage } from './chat-turns.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { arrayAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { answerTurn, brokenEnd } from './turn-parts.ts';

function isLog(document: JsonValue): document is JsonObject {
  if (!isJsonObject(document) || typeof document.version !== 'number' || typeof document.status !== 'string')
    return false;
  const spec = objectAt(document, 'eval');
  return spec !== undefined && typeof spec.task === 'string' && typeof spec.model === 'string';
}

function isSample(value: JsonValue | undefined): value is JsonObject {
  return (
    isJsonObject(value) &&
    value.id !== undefined &&
    typeof value.epoch === 'number' &&
    'target' in value &&
    Array.isArray(value.messages) &&
    isJsonObject(value.output)
  );
}

/**
 * Logs of Inspect AI, version 1 and 2 (shape of inspect_ai commit 499e6152): a log as JSON, what an `.eval` archive
 * holds (see `inspect-archive.ts`), or one sample. A sample and epoch is a session.
 *
 * The events tell more than a sample's messages: agents below the first, turns that were compacted away, tokens of
 * each call. They are read where there are any. A scorer's events state the right answer: everything below a scorer
 * is left out, and so are `target`, `scores`, `metadata`, `results` and `reductions`.
 */
export const inspect: TranscriptFormat = {
  id: 'inspect',
  title: 'Inspect AI logs',
  knownBy:
    '{version, status, eval: {task, model}, samples: [{id, epoch, messages, events}]}, also as .eval archive',
  from: '`logs/*.eval` or `*.json` of Inspect AI, or one sample of `inspect log dump`',
  checkedOn: 'inspect_ai commit 499e6152, log versions 1 and 2',

  recognise(document) {
    if (isLog(document)) return { match: 'yes', sure: 0.98 };
    return isSample(document) ? { match: 'yes', sure: 0.96 } : { match: 'no' };
  },

  read(document, source) {
    const log = isLog(document) ? document : {};
    const spec = objectAt(log, 'eval') ?? {};
    const samples = isLog(document) ? (arrayAt(document, 'samples') ?? []) : [document];
    if (samples.length === 0) {
      throw new SessionInvalidError(
        `${source}: a log of Inspect without samples (status ${textAt(log, 'status')}). Expected samples with ` +
          'messages; write the log whole with `inspect log dump`.',
      );
    }
    const sessions: Session[] = [];
    const unread: Unread[] = [];
    for (const [index, entry] of samples.entries()) {
      const sample = wholeSample(entry);
      if (sample !== null) sessions.push(readSample(sample, spec, source));
      else
        unread.push({ where: `${source}#samples[${index}]`, reason: 'a sample without messages', count: 1 });
    }
    return { sessions, unread };
  },
};

/** A sample of the newest archives comes in pieces: lists of lists, and attachments by their number. */
function wholeSample(value: JsonValue): JsonObject | null {
  if (!isJsonObject(value)) return null;
  const parts = objectAt(value, 'inspect_parts');
  if (parts === undefined) return Array.isArray(value.messages) ? value : null;
  const joined = (key: string): JsonValue[] =>
    (arrayAt(parts, key) ?? []).flatMap((list) => (Array.isArray(list) ? list : []));
  return {
    ...(objectAt(parts, 'sample') ?? {}),
    messages: joined('messages'),
    events: joined('events'),
    attachments: Object.fromEntries(joined('attachments').map((text, index) => [String(index), text])),
  };
}

function readSample(sample: JsonObject, spec: JsonObject, source: string): Session {
  const resolve = makeResolver(sample);
  const reader = makeReader(resolve, textAt(spec, 'model'));
  const events = objectsIn(sample.events ?? objectAt(sample, 'transcript')?.events);
  if (events.some((event) => event.event === 'model')) reader.events(events, poolOf(sample));
  for (const message of objectsIn(sample.messages)) reader.message(message, null);
  const position = (reader.turns.at(-1)?.position ?? -1) + 1;
  const limit = objectAt(sample, 'limit');
  const error = objectAt(sample, 'error');
  const end =
    error !== undefined
      ? [brokenEnd(position, 'fault', 'sample error', textAt(error, 'message') ?? '')]
      : limit !== undefined
        ? [brokenEnd(position, 'limit', `${textAt(limit, 'type') ?? 'sample'} limit`)]
        : [];
  return buildConversation({
    sessionId: `${textAt(spec, 'run_id') ?? sourceStem(source)}/${sample.id ?? 'sample'}#${sample.epoch ?? 1}`,
    format: inspect.id,
    turns: [...reader.turns, ...end],
    tools: reader.tools(),
  });
}

/** Messages that many events share stand once, in a pool. */
function poolOf(sample: JsonObject): JsonValue[] {
  const data = objectAt(sample, 'events_data');
  return (
    (data === undefined ? undefined : arrayAt(data, 'messages')) ?? arrayAt(sample, 'message_pool') ?? []
  );
}

/** Long texts stand once, under a reference. */
function makeResolver(sample: JsonObject): (value: JsonValue) => JsonValue {
  const texts =
    objectAt(sample, 'attachments') ?? objectAt(objectAt(sample, 'transcript') ?? {}, 'content') ?? {};
  const resolve = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') {
      const key = /^(?:attachment|tc):\/\/(\S{1,100})$/.exec(value)?.[1];
      return key === undefined ? value : (texts[key] ?? value);
    }
    if (Array.isArray(value)) return value.map(resolve);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item)]));
  };
  return resolve;
}

/** What the operator or a limit did is no fault of the model's service. */
const STOPPED = /^Cancelled by (?:operator|limit|system)/;
/** Somebody said no, or the run was over: no fault of the tool. */
const NO_FAULT: ReadonlySet<string> = new Set(['approval', 'cancelled']);

function makeReader(resolve: (value: JsonValue) => JsonValue, evalModel: string | undefined) {
  const turns: Turn[] = [];
  const seen = new Set<string>();
  const answered = new Set<string>();
  let tools: ToolDefinition[] | undefined;
  let position = -1;
  const next = (): number => {
    position += 1;
    return position;
  };

  const addAnswer = (
    id: string | null,
    name: string | undefined,
    content: string,
    failure: JsonValue,
    agent: string | null,
    time: string | null,
  ): void => {
    if (id !== null && answered.has(id)) return;
    if (id !== null) answered.add(id);
    const error = isJsonObject(failure) ? failure : typeof failure === 'string' ? { message: failure } : null;
    const type = error === null ? undefined : textAt(error, 'type');
    const message = error === null ? '' : (textAt(error, 'message') ?? type ?? 'error');
    const fault = error !== null && !NO_FAULT.has(type ?? '');
    const errors: SpanError[] = fault
      ? [{ source: 'tool-status', ...(type === undefined ? {} : { type }), message: message.slice(0, 300) }]
      : [];
    const turn = answerTurn({
      position: next(),
      toolCallId: id,
      toolName: name,
      content: content === '' ? message : content,
      isError: error === null ? false : fault ? true : null,
      agent,
      time,
    });
    turns.push({ ...turn, errors });
  };

  const addMessage = (raw: JsonObject, agent: string | null, more: Partial<Turn> = {}): void => {
    const key = textAt(raw, 'id') ?? JSON.stringify(raw);
    if (seen.has(key)) return;
    seen.add(key);
    const message = resolve(raw) as JsonObject;
    if (message.role === 'tool') {
      const { tool_call_id: id, error = message.tool_error ?? null } = message;
      addAnswer(
        typeof id === 'string' ? id : null,
        textAt(message, 'function', 'tool'),
        plainText(message.content),
        error,
        agent,
        null,
      );
      return;
    }
    const model = textAt(message, 'model') ?? evalModel;
    const at = next();
    const turn = readChatTurn(asChat(message), at);
    turns.push({
      ...turn,
      ...(turn.role === 'assistant' ? { agent, ...(model === undefined ? {} : { model }) } : {}),
      ...more,
    });
    // A tool of the model's own service: call and result in one part.
    for (const part of objectsIn(message.content).filter((block) => block.type === 'tool_use')) {
      addAnswer(
        textAt(part, 'id') ?? null,
        textAt(part, 'name'),
        plainText(part.result),
        part.error ?? null,
        agent,
        null,
      );
    }
  };

  const addModelCall = (event: JsonObject, agent: string | null, pool: readonly JsonValue[]): void => {
    tools ??= Array.isArray(event.tools) ? readToolDefinitions(event.tools) : undefined;
    const input = arrayAt(event, 'input') ?? [];
    const shared = (arrayAt(event, 'input_refs') ?? []).flatMap((range) =>
      Array.isArray(range) ? pool.slice(Number(range[0]), Number(range[1])) : [],
    );
    for (const message of objectsIn(input.length > 0 ? input : shared)) addMessage(message, agent);
    const output = objectAt(event, 'output') ?? {};
    const [choice] = objectsIn(output.choices);
    const message = choice === undefined ? undefined : objectAt(choice, 'message');
    const usage = objectAt(output, 'usage');
    const stop = choice === undefined ? undefined : textAt(choice, 'stop_reason');
    const model = textAt(output, 'model') ?? textAt(event, 'model');
    const failure = textAt(event, 'error') ?? textAt(output, 'error');
    const broke = failure !== undefined && !STOPPED.test(failure);
    const more: Partial<Turn> = {
      startTimeUnixNano: toUnixNano(event.timestamp),
      endTimeUnixNano: toUnixNano(event.completed ?? event.timestamp),
      ...(usage === undefined ? {} : { usage: readUsage(usage) }),
      ...(stop === undefined ? {} : { finishReasons: [stop] }),
      ...(model === undefined ? {} : { model }),
      ...(broke ? { errors: [{ source: 'status', message: failure.slice(0, 300) }] } : {}),
    };
    if (message !== undefined) addMessage({ ...message, role: 'assistant' }, agent, more);
    else if (broke) turns.push({ position: next(), role: 'assistant', agent, blocks: [], ...more });
  };

  return {
    turns,
    tools: () => tools,
    message: addMessage,
    events(events: readonly JsonObject[], pool: readonly JsonValue[]): void {
      const scopes = makeScopes(events);
      const walk = (event: JsonObject, above: string | null, depth: number): void => {
        if (scopes.isScoring(event)) return;
        const agent = scopes.agentOf(event) ?? above;
        if (event.event === 'model') addModelCall(event, agent, pool);
        if (event.event !== 'tool' && event.event !== 'subtask') return;
        // Older logs keep what a tool did inside its own event.
        if (depth < MAX_NESTING) for (const inner of objectsIn(event.events)) walk(inner, agent, depth + 1);
        if (event.event !== 'tool' || event.pending === true) return;
        const failure = event.error ?? (event.failed === true ? { message: 'failed' } : null);
        const id = textAt(event, 'id') ?? null;
        const content = plainText(resolve(event.result ?? ''));
        addAnswer(
          id,
          textAt(event, 'function'),
          content,
          resolve(failure),
          agent,
          toUnixNano(event.completed ?? event.timestamp),
        );
      };
      for (const event of events) walk(event, null, 0);
    },
  };
}

/** Handed-over agents inside tools inside agents: deeper than any log seen. */
const MAX_NESTING = 20;

/** Which agent an event is of, and whether it is a scorer's: by spans in newer logs, by bracketing steps in older. */
function makeScopes(events: readonly JsonObject[]) {
  const spans = new Map<string, JsonObject>();
  const scoring = new Set<JsonObject>();
  let open = 0;
  for (const event of events) {
    if (event.event === 'span_begin' && typeof event.id === 'string') spans.set(event.id, event);
    if (event.event === 'step' && isScorer(event)) open += event.action === 'begin' ? 1 : -1;
    if (open > 0) scoring.add(event);
  }
  const above = (event: JsonObject): JsonObject[] => {
    const found: JsonObject[] = [];
    let id = event.span_id;
    while (typeof id === 'string' && found.length < spans.size) {
      const span = spans.get(id);
      if (span === undefined) break;
      found.push(span);
      id = span.parent_id;
    }
    return found;
  };
  return {
    isScoring: (event: JsonObject): boolean => scoring.has(event) || above(event).some(isScorer),
    agentOf(event: JsonObject): string | null {
      const span = above(event).find((ancestor) => ancestor.type === 'agent');
      return span === undefined ? null : (textAt(span, 'name') ?? null);
    },
  };
}

const isScorer = (event: JsonObject): boolean => event.type === 'scorer' || event.type === 'scorers';

/** Names of functions and of reasoning stand under other keys than in chat completions. */
function asChat(message: JsonObject): JsonObject {
  const content = Array.isArray(message.content) ? message.content.map(asPart) : (message.content ?? '');
  const calls = objectsIn(message.tool_calls).map((call) => ({ ...call, name: call.function ?? '' }));
  return { ...message, content, ...(calls.length === 0 ? { tool_calls: null } : { tool_calls: calls }) };
}

function asPart(part: JsonValue): JsonValue {
  if (!isJsonObject(part) || part.type !== 'reasoning') return part;
  // Redacted reasoning is a cipher; its summary is text.
  return { type: 'reasoning', text: (part.redacted === true ? part.summary : part.reasoning) ?? '' };
}
