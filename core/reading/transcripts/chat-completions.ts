import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { SessionInvalidError } from '../../errors/errors.ts';
import { isResponsesItem } from '../conventions/responses-items.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { readTools } from './blocks.ts';
import { readChatTurns } from './chat-turns.ts';
import { buildConversation } from './conversation.ts';
import { objectAt, objectsIn, sourceStem, textAt } from './fields.ts';

const ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function']);

/** Whether every message has one of the roles of chat completions (and not a speaker's name). */
export function isChatList(value: JsonValue | undefined): value is JsonObject[] {
  if (!Array.isArray(value) || value.length === 0) return false;
  const hasRole = (item: JsonValue) =>
    isJsonObject(item) && typeof item.role === 'string' && ROLES.has(item.role);
  return value.some(hasRole) && value.every((item) => hasRole(item) || isResponsesItem(item));
}

/** Two and more names behind user and assistant turns: a conversation of agents, which `autogen` reads. */
export function hasSeveralSpeakers(messages: readonly JsonObject[]): boolean {
  const names = new Set<string>();
  for (const message of messages) {
    const name = message.name;
    if (typeof name === 'string' && (message.role === 'user' || message.role === 'assistant'))
      names.add(name);
  }
  return names.size > 1;
}

/**
 * A list of chat messages, bare or as `messages` of a request body or log record, with OpenAI, Anthropic or Bedrock
 * content blocks. Tool definitions are read where the file has them, so that calls can be checked by their schema.
 */
export const chatCompletions: TranscriptFormat = {
  id: 'chat-completions',
  title: 'Chat messages (OpenAI, Anthropic or Bedrock style)',
  knownBy: '[{role, content}] or {messages: [{role, content}], tools?, system?}',
  from: 'the `messages` of a chat as your program sends or logs them, bare or in a request body with `tools`',
  checkedOn: 'message shapes of OpenAI Chat Completions, Anthropic Messages and Bedrock Converse (2026-11)',

  recognise(document) {
    const messages = Array.isArray(document)
      ? document
      : isJsonObject(document)
        ? document.messages
        : undefined;
    if (!isChatList(messages)) return { match: 'no' };
    return { match: 'yes', sure: hasSeveralSpeakers(messages) ? 0.4 : 0.7 };
  },

  read(document, source) {
    const record: JsonObject = isJsonObject(document) ? document : {};
    const messages = objectsIn(Array.isArray(document) ? document : record.messages);
    const metadata = objectAt(record, 'metadata') ?? {};
    const turns = readChatTurns(messages, record.system ?? record.system_prompt);
    if (turns.length === 0) {
      throw new SessionInvalidError(
        `${source}: the list of messages is empty. Expected at least one message; check how the log was written.`,
      );
    }
    const agent = textAt(record, 'agent', 'agent_name') ?? textAt(metadata, 'agent', 'agent_name') ?? null;
    const session = buildConversation({
      sessionId:
        textAt(record, 'session_id', 'sessionId', 'conversation_id', 'thread_id') ??
        textAt(metadata, 'session_id', 'sessionId', 'conversation_id') ??
        textAt(record, 'id') ??
        sourceStem(source),
      format: this.id,
      turns: turns.map((turn) => (turn.role === 'assistant' && agent !== null ? { ...turn, agent } : turn)),
      tools: readTools(record),
      agent,
      service: textAt(metadata, 'service', 'service_name') ?? null,
    });
    return { sessions: [session], unread: [] };
  },
};
