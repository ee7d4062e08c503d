import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SpanFlag } from '../../session/session.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { plainText, readBlocks, toolUse } from './blocks.ts';
import { readUsage } from './chat-turns.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { arrayAt, numberAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { answerTurn, exitErrors, noteTurn, reasoningBlocks, textBlocks, timed } from './turn-parts.ts';

const TYPES =
  /^(?:(?:Text|Stop|MultiModal|Handoff|ToolCall|ToolCallResult|ToolCallSummary)Message|StructuredMessage(?:\[.{1,200}\])?|(?:ToolCallRequest|ToolCallExecution|Thought|ModelClientStreamingChunk|MemoryQuery|UserInputRequested|SelectSpeaker|Selector|CodeGeneration|CodeExecution)Event)$/;
/** Messages of a model's context inside a saved state. */
const CONTEXT_TYPES = /^(?:System|User|Assistant|FunctionExecutionResult)Message$/;

/** A message or event, bare or in the wrapping of AutoGen Studio's message records. */
function messageOf(value: JsonValue): JsonObject | null {
  if (!isJsonObject(value)) return null;
  const message = objectAt(value, 'config') ?? value;
  const says = 'content' in message || 'result' in message;
  return says && typeof message.source === 'string' && TYPES.test(textAt(message, 'type') ?? '')
    ? message
    : null;
}

function listOf(document: JsonValue): JsonValue[] {
  if (Array.isArray(document)) return document;
  if (!isJsonObject(document)) return [];
  const result = objectAt(document, 'task_result') ?? document;
  return arrayAt(result, 'messages') ?? [];
}

/**
 * Messages and events of AutoGen from 0.4 (agentchat; shape of commit 027ecf0a): a list or lines of them, a
 * `TaskResult`, AutoGen Studio's run and message records, and saved team states. A call's answer is an event of its
 * own, with `is_error`. A streamed result repeats all messages at its end; they are told by their ids.
 */
export const autogenEvents: TranscriptFormat = {
  id: 'autogen-events',
  title: 'AutoGen 0.4 messages and events',
  knownBy:
    '[{source, type: "TextMessage" | "ToolCallRequestEvent" | …, content}], {messages, stop_reason}, TeamState',
  from: '`TaskResult` or its messages as JSON, lines of `run_stream()`, AutoGen Studio’s run records, `save_state()` of a team',
  checkedOn: 'AutoGen agentchat 0.4 and later, commit 027ecf0a',

  recognise(document) {
    if (isState(document)) return { match: 'yes', sure: 0.98 };
    const sample = flattened(listOf(document)).slice(0, 50);
    return sample.some((item) => messageOf(item) !== null) ? { match: 'yes', sure: 0.96 } : { match: 'no' };
  },

  read(document, source) {
    if (isState(document)) return readState(document, source, this.id);
    const { turns, unknown } = readList(flattened(listOf(document)));
    const record = isJsonObject(document) ? document : {};
    const session = buildConversation({
      sessionId: textAt(record, 'session_id', 'id') ?? sourceStem(source),
      format: this.id,
      turns,
    });
    const unread = unknown === 0 ? [] : [{ where: source, reason: 'not a message or event', count: unknown }];
    return { sessions: [session], unread };
  },
};

function readList(list: readonly JsonValue[]): { turns: Turn[]; unknown: number } {
  const seen = new Set<string>();
  const turns: Turn[] = [];
  let unknown = 0;
  let used: string | null = null;
  list.forEach((item, position) => {
    const message = messageOf(item);
    if (message === null) {
      unknown += 1;
      return;
    }
    const id = textAt(message, 'id');
    if (id !== undefined && seen.has(id)) return;
    if (id !== undefined) seen.add(id);
    // Some versions write the tokens of one answer on its thought and on its calls.
    const usage = objectAt(message, 'models_usage');
    const key = usage === undefined ? null : JSON.stringify([message.source, usage]);
    const repeats = key !== null && key === used;
    used = key;
    turns.push(...readMessage(message, position).map((turn) => (repeats ? withoutUsage(turn) : turn)));
  });
  return { turns, unknown };
}

function withoutUsage({ usage: _, ...turn }: Turn): Turn {
  return turn;
}

/** The last line of a streamed run is the result with all its messages. */
function flattened(list: readonly JsonValue[]): JsonValue[] {
  return list.flatMap((item) =>
    isJsonObject(item) && item.type === undefined && Array.isArray(item.messages) ? item.messages : [item],
  );
}

function readMessage(message: JsonObject, position: number): Turn[] {
  const agent = textAt(message, 'source') ?? null;
  const time = toUnixNano(message.created_at);
  const usage = objectAt(message, 'models_usage');
  const flags = new Set<SpanFlag>();
  const said = (blocks: Turn['blocks'], more: Partial<Turn> = {}): Turn => ({
    position,
    role: 'assistant',
    agent,
    ...(agent === null ? {} : { speaker: agent, name: agent }),
    blocks,
    flags: [...flags],
    ...timed(time),
    ...(usage === undefined ? {} : { usage: readUsage(usage) }),
    ...more,
  });
  const content = message.content;
  switch (textAt(message, 'type')) {
    case 'ToolCallRequestEvent':
    case 'ToolCallMessage':
      return [said(callsIn(content, flags))];
    case 'ToolCallExecutionEvent':
    case 'ToolCallResultMessage':
      return resultsIn(content, position, agent, time);
    case 'ThoughtEvent':
      return [said(reasoningBlocks(plainText(content)))];
    case 'ToolCallSummaryMessage':
    case 'HandoffMessage':
      return [said(textBlocks(plainText(content)), { note: true })];
    case 'CodeExecutionEvent': {
      const result = objectAt(message, 'result') ?? {};
      const code = numberAt(result, 'exit_code');
      const output = textAt(result, 'output') ?? '';
      const isError = code === undefined ? null : code !== 0;
      return [
        {
          ...noteTurn(position, agent ?? 'code', '', time),
          role: 'tool',
          agent,
          blocks: [{ type: 'tool_result', toolCallId: null, content: output, isError }],
          errors: exitErrors(code, output),
        },
      ];
    }
    case 'StopMessage':
    case 'MemoryQueryEvent':
    case 'SelectSpeakerEvent':
    case 'SelectorEvent':
      return [noteTurn(position, textAt(message, 'type') ?? 'note', plainText(content), time)];
    // A piece of an answer that follows whole, and a mark that a person is asked.
    case 'ModelClientStreamingChunkEvent':
    case 'UserInputRequestedEvent':
      return [];
    default: {
      const blocks = readBlocks(content, flags);
      return isPerson(agent)
        ? [{ position, role: 'user', blocks, flags: [...flags], ...timed(time) }]
        : [said(blocks)];
    }
  }
}

const PEOPLE: ReadonlySet<string> = new Set(['user', 'user_proxy', 'userproxy', 'human']);
const isPerson = (source: string | null): boolean => source !== null && PEOPLE.has(source.toLowerCase());

function callsIn(content: JsonValue | undefined, flags: Set<SpanFlag>) {
  return objectsIn(content).map((call) =>
    toolUse(textAt(call, 'id') ?? null, textAt(call, 'name') ?? 'unknown', call.arguments, flags),
  );
}

function resultsIn(
  content: JsonValue | undefined,
  position: number,
  agent: string | null,
  time: string | null,
): Turn[] {
  return objectsIn(content).map((result) =>
    answerTurn({
      position,
      toolCallId: textAt(result, 'call_id') ?? null,
      toolName: textAt(result, 'name'),
      content: plainText(result.content),
      isError: typeof result.is_error === 'boolean' ? result.is_error : null,
      agent,
      time,
    }),
  );
}

function isState(document: JsonValue): document is JsonObject {
  return isJsonObject(document) && (document.type === 'TeamState' || document.type === 'AssistantAgentState');
}

/** The manager's thread is the conversation; without one, each agent's own context. */
function readState(document: JsonObject, source: string, format: string) {
  const states = Object.entries(objectAt(document, 'agent_states') ?? { [sourceStem(source)]: document });
  const inner = states.map(([name, value]): [string, JsonObject] => {
    const state = isJsonObject(value) ? value : {};
    return [name.split('/')[0] ?? name, objectAt(state, 'agent_state') ?? state];
  });
  const thread = inner.flatMap(([, state]) => arrayAt(state, 'message_thread') ?? []);
  const turns =
    thread.length > 0
      ? readList(thread.map((item) => (isJsonObject(item) ? (objectAt(item, 'message') ?? item) : item)))
          .turns
      : inner
          .flatMap(([name, state]) =>
            objectsIn(objectAt(state, 'llm_context')?.messages).map((message) => ({ name, message })),
          )
          .flatMap(({ name, message }, position) => readContext(message, name, position));
  const sessionId = textAt(document, 'team_id') ?? sourceStem(source);
  return { sessions: [buildConversation({ sessionId, format, turns })], unread: [] };
}

function readContext(message: JsonObject, agent: string, position: number): Turn[] {
  if (!CONTEXT_TYPES.test(textAt(message, 'type') ?? '')) return [];
  const flags = new Set<SpanFlag>();
  switch (message.type) {
    case 'AssistantMessage': {
      const blocks = Array.isArray(message.content)
        ? callsIn(message.content, flags)
        : readBlocks(message.content, flags);
      const thought = reasoningBlocks(textAt(message, 'thought') ?? '');
      return [{ position, role: 'assistant', agent, blocks: [...thought, ...blocks], flags: [...flags] }];
    }
    case 'FunctionExecutionResultMessage':
      return resultsIn(message.content, position, agent, null);
    default: {
      const role = message.type === 'SystemMessage' ? 'system' : 'user';
      return [{ position, role, blocks: readBlocks(message.content, flags), flags: [...flags] }];
    }
  }
}
