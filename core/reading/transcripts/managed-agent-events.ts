import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { UnreadTally } from '../envelopes/unread-tally.ts';
import { plainText } from './blocks.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { arrayAt, objectAt, sourceStem, textAt } from './fields.ts';
import { answerTurn, noteTurn, textBlocks, timed } from './turn-parts.ts';

/**
 * Events of Claude Managed Agents sessions: a list or page of `sessions.events`, its stream one event a line, or recorded
 * calls of the SDK as pairs of the call's name and what it sent or got (the shape of LangSmith's recordings, 2026).
 * Status events and spans of the service are bookkeeping.
 */
export const managedAgentEvents: TranscriptFormat = {
  id: 'managed-agent-events',
  title: 'Claude Managed Agents session events',
  knownBy:
    '[{type: "user.message" | "agent.message" | "agent.tool_use" | …}], {data: […]}, or pairs [call, event]',
  from: '`client.beta.sessions.events.list` or `.stream` of the Anthropic SDK, written as JSON or JSON lines',
  checkedOn: 'recordings of LangSmith SDK tests (2026)',

  recognise(document) {
    const events = eventsOf(document);
    const known =
      events.some(({ type }) => type === 'user.message') &&
      events.some(({ type }) => /^agent\.(?:message|\w*tool_use)$/.test(String(type)));
    return known ? { match: 'yes', sure: 0.95 } : { match: 'no' };
  },

  read(document, source) {
    const events = eventsOf(document);
    const session = events.find(({ type }) => type === 'session');
    const agent = textAt(objectAt(session ?? {}, 'agent') ?? {}, 'name') ?? null;
    const tally = new UnreadTally(source);
    const turns = events.flatMap((event, position): Turn[] => {
      const turn = readEvent(event, position);
      if (turn !== null) return [turn.role === 'user' ? turn : { ...turn, agent }];
      if (!BOOKKEEPING.test(String(event.type)))
        tally.add(`an event of type ${String(event.type).slice(0, 60)}`);
      return [];
    });
    return {
      sessions: [
        buildConversation({
          sessionId: textAt(session ?? {}, 'id') ?? sourceStem(source),
          format: this.id,
          turns,
          agent,
        }),
      ],
      unread: tally.list(),
    };
  },
};

const EVENT = /^(?:user|agent|session|span)\.\w{1,60}$/;
const BOOKKEEPING = /^(?:session$|session\.|span\.|agent\.thinking|user\.(?:interrupt|tool_confirmation)$)/;

/** The events in order, of whatever carries them; the record of the session's making is one of them. */
function eventsOf(document: JsonValue): JsonObject[] {
  const list = isJsonObject(document) ? (arrayAt(document, 'data') ?? []) : document;
  if (!Array.isArray(list)) return [];
  return list.flatMap((item) => {
    if (isEvent(item)) return [item];
    // A recorded call: what it got, or its arguments.
    if (!Array.isArray(item) || item.length !== 2 || typeof item[0] !== 'string') return [];
    const [, payload] = item;
    if (payload !== undefined && isEvent(payload)) return [payload];
    if (!Array.isArray(payload)) return [];
    return payload
      .flatMap((part) => (isJsonObject(part) ? (arrayAt(part, 'events') ?? []) : []))
      .filter(isEvent);
  });
}

const isEvent = (item: JsonValue): item is JsonObject =>
  isJsonObject(item) && typeof item.type === 'string' && (EVENT.test(item.type) || item.type === 'session');

function readEvent(event: JsonObject, position: number): Turn | null {
  const time = toUnixNano(event.processed_at ?? event.created_at);
  const text = (): string => plainText(event.content);
  switch (event.type) {
    case 'user.message':
      return { position, role: 'user', blocks: textBlocks(text()), ...timed(time) };
    case 'agent.message':
      return { position, role: 'assistant', blocks: textBlocks(text()), ...timed(time) };
    case 'agent.tool_use':
    case 'agent.mcp_tool_use':
    case 'agent.custom_tool_use':
      return {
        position,
        role: 'assistant',
        blocks: [
          {
            type: 'tool_use',
            toolCallId: textAt(event, 'id') ?? null,
            name: textAt(event, 'name') ?? 'tool',
            arguments: event.input ?? null,
          },
        ],
        ...timed(time),
      };
    case 'agent.tool_result':
    case 'agent.mcp_tool_result':
    case 'user.custom_tool_result':
      return answerTurn({
        position,
        toolCallId: textAt(event, 'tool_use_id', 'mcp_tool_use_id', 'custom_tool_use_id') ?? null,
        content: text(),
        isError: typeof event.is_error === 'boolean' ? event.is_error : null,
        time,
      });
    case 'session.error': {
      const message = textAt(objectAt(event, 'error') ?? {}, 'message') ?? 'the session met an error';
      return { ...noteTurn(position, 'session', message, time), errors: [{ source: 'status', message }] };
    }
    default:
      return null;
  }
}
