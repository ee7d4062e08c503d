import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { isLangchainMessage, langchainMessage } from '../conventions/langchain-message.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { readChatTurn } from './chat-turns.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { objectAt, objectsIn, sourceStem, textAt } from './fields.ts';

/** A list of messages, of which callbacks dump a batch of one (`[[…]]`). At least one is LangChain's own kind, all are messages. */
export function langchainList(value: JsonValue | undefined): JsonObject[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const [first] = value;
  const list = value.length === 1 && Array.isArray(first) ? first : value;
  const isMessage = (item: JsonValue): boolean =>
    isLangchainMessage(item) || (isJsonObject(item) && typeof item.role === 'string' && 'content' in item);
  return list.some(isLangchainMessage) && list.every(isMessage) ? objectsIn(list) : null;
}

function messagesOf(document: JsonValue): JsonObject[] | null {
  const list = langchainList(document);
  if (list !== null || !isJsonObject(document)) return list;
  const output = objectAt(document, 'output') ?? objectAt(document, 'outputs');
  return langchainList(document.messages) ?? (output === undefined ? null : langchainList(output.messages));
}

/**
 * Dumps of LangChain messages (langchain-core 1.8.3, `load/dump.py`, `messages/*.py`; LangChain.js `toJSON()` and
 * `mapChatMessagesToStoredMessages`): a list, `{messages}` or a run's `{input, output: {messages}}`. They carry no times
 * and no session id.
 */
export const langchainMessages: TranscriptFormat = {
  id: 'langchain-messages',
  title: 'LangChain message dumps',
  knownBy:
    '[{lc: 1, type: "constructor", id: […, "AIMessage"], kwargs}], [{type: "ai", data}] or [{type: "human", content}]',
  from: '`dumpd(messages)`, `messages_to_dict(messages)`, LangChain.js `toJSON()`, or a run’s `{messages}` result',
  checkedOn: 'langchain-core 1.8.3',

  recognise(document) {
    return messagesOf(document) === null ? { match: 'no' } : { match: 'yes', sure: 0.82 };
  },

  read(document, source) {
    const record: JsonObject = isJsonObject(document) ? document : {};
    const session = buildConversation({
      sessionId: textAt(record, 'thread_id', 'session_id', 'sessionId', 'id') ?? sourceStem(source),
      format: this.id,
      turns: (messagesOf(document) ?? []).flatMap(readLangchainTurn),
    });
    return { sessions: [session], unread: [] };
  },
};

/** Arguments that the model wrote and that did not parse are an error of its answer. Removals are operations on a state. */
export function readLangchainTurn(item: JsonObject, position: number): Turn[] {
  if (item.type === 'remove') return [];
  const turn = readChatTurn(item, position);
  const invalid = objectsIn(langchainMessage(item)?.invalid_tool_calls);
  if (invalid.length === 0) return [turn];
  const errors = invalid.map((call) => ({
    source: 'status' as const,
    type: 'invalid_tool_call',
    message: textAt(call, 'error') ?? `arguments of ${textAt(call, 'name') ?? 'a call'} are no JSON`,
  }));
  return [{ ...turn, errors }];
}
