import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { hasSeveralSpeakers, isChatList } from './chat-completions.ts';
import { buildConversation } from './conversation.ts';
import { objectsIn, sourceStem, textAt } from './fields.ts';
import { readSpeakerTurns } from './speakers.ts';

/** Whether all entries are messages, and speakers rather than chat roles tell who says what. */
export function isSpeakerList(value: JsonValue | undefined): value is JsonObject[] {
  if (!Array.isArray(value) || value.length === 0) return false;
  const messages = value.filter(isJsonObject);
  if (messages.length !== value.length) return false;
  const spoken = messages.every(
    (message) =>
      'content' in message && (typeof message.role === 'string' || typeof message.source === 'string'),
  );
  return spoken && (!isChatList(value) || hasSeveralSpeakers(messages));
}

/**
 * Logs of AutoGen and Magentic-One: a list of messages whose speaker stands in `name`, `source` or `role`
 * ("Orchestrator (thought)", "Orchestrator (-> WebSurfer)", "WebSurfer", "human").
 */
export const autogen: TranscriptFormat = {
  id: 'autogen',
  title: 'AutoGen and Magentic-One message logs',
  knownBy: '[{role: "Agent (-> Other)", content}] or [{role, name, content}] with several names',
  from: 'the message list of an AutoGen 0.2 or Magentic-One run as JSON',
  checkedOn: 'runs of Who&When and AgentRx (2026-11)',

  recognise(document) {
    const messages = isJsonObject(document) ? document.messages : document;
    return isSpeakerList(messages) ? { match: 'yes', sure: 0.6 } : { match: 'no' };
  },

  read(document, source) {
    const record = isJsonObject(document) ? document : {};
    const messages = objectsIn(isJsonObject(document) ? document.messages : document);
    const session = buildConversation({
      sessionId: textAt(record, 'session_id', 'sessionId', 'id') ?? sourceStem(source),
      format: this.id,
      turns: readSpeakerTurns(messages),
    });
    return { sessions: [session], unread: [] };
  },
};
