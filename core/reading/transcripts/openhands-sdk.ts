import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SpanFlag, ToolDefinition } from '../../session/session.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { plainText, readTools, toolUse } from './blocks.ts';
import { readChatTurn, readUsage } from './chat-turns.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { numberAt, objectAt, objectsIn, textAt } from './fields.ts';
import { eventsOf, sessionIdOf } from './openhands.ts';
import { answerTurn, brokenEnd, reasoningBlocks, textBlocks, timed } from './turn-parts.ts';

const KIND = /^(?:\w{1,60}Event|Condensation(?:Request)?|UserRejectObservation)$/;
const SOURCES: ReadonlySet<string> = new Set(['agent', 'user', 'environment', 'hook']);

function isEvent(value: JsonValue | undefined): value is JsonObject {
  return (
    isJsonObject(value) &&
    KIND.test(textAt(value, 'kind') ?? '') &&
    SOURCES.has(String(value.source)) &&
    typeof value.id === 'string'
  );
}

/**
 * Events of the OpenHands agent SDK (V1; shape of commit 611629e6): a list, a page `{items}` of the agent server, or
 * the `history` of an evaluation line. Calls of one answer share `llm_response_id`; an `action` of null is a call that
 * could not be run, and an `AgentErrorEvent` is its result. Usage stands apart, in `stats`, and is joined by that id.
 * A critic's opinion of an event (`critic_result`) is a grade and is not read.
 */
export const openhandsSdk: TranscriptFormat = {
  id: 'openhands-sdk',
  title: 'OpenHands agent SDK events (V1)',
  knownBy: '[{kind: "ActionEvent" | "ObservationEvent" | …, source, id}], also as `items` or `history`',
  from: 'the events of a conversation: its `events` as a list, a page of the agent server (`/events/search`), or an evaluation line',
  checkedOn: 'OpenHands agent SDK V1, commit 611629e6',

  recognise(document) {
    const sample = eventsOf(document).slice(0, 50);
    const known = sample.filter(isEvent).length;
    return known > 0 && known * 2 > sample.length ? { match: 'yes', sure: 0.985 } : { match: 'no' };
  },

  read(document, source) {
    const events = eventsOf(document);
    const usage = usageByResponse(events);
    const turns: Turn[] = [];
    const answers = new Map<string, number>();
    const unknown = new Map<string, number>();
    let tools: ToolDefinition[] | undefined;
    events.forEach((event, position) => {
      if (!isEvent(event)) {
        unknown.set('not an event', (unknown.get('not an event') ?? 0) + 1);
        return;
      }
      if (event.kind === 'SystemPromptEvent') tools ??= toolsOf(event);
      const read = readEvent(event, position);
      if (read === 'unknown') {
        const reason = `event of an unknown kind: ${textAt(event, 'kind')}`;
        unknown.set(reason, (unknown.get(reason) ?? 0) + 1);
      } else if (read !== null) push(read, textAt(event, 'llm_response_id'));
    });
    const session = buildConversation({
      sessionId: sessionIdOf(document, source),
      format: this.id,
      turns: turns.map((turn) => ({ ...turn, ...usage.get(turn.responseId ?? '') })),
      tools,
    });
    return {
      sessions: [session],
      unread: [...unknown].map(([reason, count]) => ({ where: source, reason, count })),
    };

    function push(turn: Turn, responseId: string | undefined): void {
      const place =
        turn.role === 'assistant' && responseId !== undefined ? answers.get(responseId) : undefined;
      const before = place === undefined ? undefined : turns[place];
      if (place !== undefined && before !== undefined) {
        turns[place] = { ...before, blocks: [...before.blocks, ...turn.blocks] };
        return;
      }
      const length = turns.push(responseId === undefined ? turn : { ...turn, responseId });
      if (responseId !== undefined && turn.role === 'assistant') answers.set(responseId, length - 1);
    }
  },
};

/** Bookkeeping: says nothing that a model saw. */
const SILENT: ReadonlySet<string> = new Set([
  'ConversationStateUpdateEvent',
  'Condensation',
  'CondensationRequest',
  'CondensationSummaryEvent',
  'HookExecutionEvent',
  'TokenEvent',
  'LLMCompletionLogEvent',
  'StreamingDeltaEvent',
  'PauseEvent',
  'InterruptEvent',
]);

function readEvent(event: JsonObject, position: number): Turn | 'unknown' | null {
  const time = toUnixNano(event.timestamp);
  const kind = textAt(event, 'kind') ?? '';
  if (SILENT.has(kind)) return null;
  switch (kind) {
    case 'SystemPromptEvent':
      return { position, role: 'system', blocks: textBlocks(plainText(event.system_prompt)), ...timed(time) };
    case 'MessageEvent': {
      const message = objectAt(event, 'llm_message') ?? {};
      const sender = textAt(event, 'sender');
      const turn = readChatTurn(message, position);
      return { ...turn, ...timed(time), ...(sender === undefined ? {} : { agent: sender, speaker: sender }) };
    }
    case 'ActionEvent':
      return { ...readAction(event, position), ...timed(time) };
    case 'ObservationEvent':
      return readObservation(event, position, time);
    case 'AgentErrorEvent':
      return answer(event, position, time, textAt(event, 'error') ?? '', true);
    case 'UserRejectObservation':
      return answer(event, position, time, textAt(event, 'rejection_reason') ?? 'rejected by the user', null);
    case 'ACPToolCallEvent': {
      const name = textAt(event, 'title', 'tool_kind') ?? 'tool';
      const turn = answer(
        event,
        position,
        time,
        plainText(event.raw_output ?? event.content),
        event.is_error === true,
      );
      return { ...turn, call: { name, arguments: event.raw_input ?? {} } };
    }
    case 'ConversationErrorEvent':
      return brokenEnd(
        position,
        'fault',
        textAt(event, 'code') ?? 'error',
        textAt(event, 'detail') ?? '',
        time,
      );
    default:
      return 'unknown';
  }
}

function readAction(event: JsonObject, position: number): Turn {
  const flags = new Set<SpanFlag>();
  const call = objectAt(event, 'tool_call') ?? {};
  const { kind: _, ...fields } = objectAt(event, 'action') ?? {};
  const name = textAt(event, 'tool_name') ?? textAt(call, 'name') ?? 'unknown';
  const thinking = objectsIn(event.thinking_blocks).map((part) => textAt(part, 'thinking') ?? '');
  const blocks = [
    ...reasoningBlocks(textAt(event, 'reasoning_content') ?? thinking.join('\n')),
    ...textBlocks(plainText(event.thought)),
  ];
  // The last act of a run is its answer.
  const final = name === 'finish' ? textAt(fields, 'message') : undefined;
  return {
    position,
    role: 'assistant',
    blocks:
      final === undefined
        ? [...blocks, toolUse(textAt(event, 'tool_call_id') ?? null, name, call.arguments ?? fields, flags)]
        : [...blocks, ...textBlocks(final)],
    flags: [...flags],
  };
}

function readObservation(event: JsonObject, position: number, time: string | null): Turn | null {
  if (event.tool_name === 'finish') return null;
  const observation = objectAt(event, 'observation') ?? {};
  const code =
    numberAt(observation, 'exit_code') ?? numberAt(objectAt(observation, 'metadata') ?? {}, 'exit_code');
  const content = plainText(observation.content ?? observation.output ?? observation.cmd_output);
  const failure = textAt(observation, 'error');
  const turn = answerTurn({
    position,
    toolCallId: textAt(event, 'tool_call_id') ?? null,
    toolName: textAt(event, 'tool_name'),
    content: content === '' ? (failure ?? '') : content,
    isError: observation.is_error === true || failure !== undefined,
    exitCode: code === -1 ? undefined : code,
    time,
    flags: code === -1 ? ['in-progress'] : [],
  });
  return turn;
}

function answer(
  event: JsonObject,
  position: number,
  time: string | null,
  content: string,
  isError: boolean | null,
): Turn {
  return answerTurn({
    position,
    toolCallId: textAt(event, 'tool_call_id') ?? null,
    toolName: textAt(event, 'tool_name'),
    content,
    isError,
    time,
  });
}

/** Definitions in OpenAI's shape, or dumps of the SDK's own `{name, description, …}`. */
function toolsOf(event: JsonObject): ToolDefinition[] | undefined {
  return readTools(event);
}

/** Model and tokens of each answer, from the state updates that carry them. */
function usageByResponse(events: readonly JsonValue[]): ReadonlyMap<string, Pick<Turn, 'usage' | 'model'>> {
  const found = new Map<string, Pick<Turn, 'usage' | 'model'>>();
  for (const event of events) {
    if (!isJsonObject(event) || event.kind !== 'ConversationStateUpdateEvent') continue;
    const value = objectAt(event, 'value') ?? {};
    const stats = event.key === 'stats' ? value : (objectAt(value, 'stats') ?? {});
    for (const metrics of Object.values(objectAt(stats, 'usage_to_metrics') ?? {})) {
      for (const entry of objectsIn(isJsonObject(metrics) ? metrics.token_usages : undefined)) {
        const id = textAt(entry, 'response_id');
        const model = textAt(entry, 'model');
        if (id === undefined) continue;
        found.set(id, { usage: readUsage(entry), ...(model === undefined ? {} : { model }) });
      }
    }
  }
  return found;
}
