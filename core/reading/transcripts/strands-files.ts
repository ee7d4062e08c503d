import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Session } from '../../session/session.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { readChatTurns } from './chat-turns.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { numberAt, objectAt } from './fields.ts';

const isMessage = (item: JsonValue): item is JsonObject =>
  isJsonObject(item) &&
  typeof item.message_id === 'number' &&
  typeof objectAt(item, 'message')?.role === 'string' &&
  !('type' in item);

/** `agent.json` and `session.json`: they hold no turn, and belong to the session all the same. */
const isAbout = (item: JsonValue): boolean =>
  isJsonObject(item) &&
  typeof item.created_at === 'string' &&
  ((typeof item.agent_id === 'string' && isJsonObject(item.conversation_manager_state)) ||
    (typeof item.session_id === 'string' && typeof item.session_type === 'string'));

/** A file with where it lay: the names of session and agent stand in its path alone. */
interface Placed {
  readonly path: string;
  readonly content: JsonValue;
}

const placed = (document: JsonValue, path: string): JsonObject[] =>
  (Array.isArray(document) ? document : [document]).map((content) => ({ path, content }));

const isPlaced = (item: JsonValue): item is JsonObject & Placed =>
  isJsonObject(item) && typeof item.path === 'string' && item.content !== undefined;

/**
 * What the session managers of Strands Agents keep, one message a file (strands-agents/sdk-python commit 1a7732e3,
 * `session/file_session_manager.py`, `types/session.py`; the same below a prefix of S3):
 * `session_<id>/agents/agent_<id>/messages/message_<n>.json`. Given the folder, the messages are one session; a
 * message that was redacted has its new content.
 */
export const strandsFiles: TranscriptFormat = {
  id: 'strands-files',
  title: 'Session folders of Strands Agents',
  knownBy:
    '{message: {role, content}, message_id, created_at}, one a file, beside agent.json and session.json',
  from: 'the folder `session_<id>` of FileSessionManager, or below the prefix of S3SessionManager (`aws s3 sync`)',
  checkedOn: 'strands-agents/sdk-python commit 1a7732e3',

  entriesOf: placed,

  recognise(document) {
    const list = Array.isArray(document) ? document.slice(0, 20) : [document];
    const known = list.length > 0 && list.every((item) => isMessage(item) || isAbout(item));
    return known ? { match: 'yes', sure: 0.95 } : { match: 'no' };
  },

  read(document, source) {
    const list = Array.isArray(document) && document.every(isPlaced) ? document : placed(document, source);
    const files = list
      .filter(isPlaced)
      .flatMap(({ path, content }) =>
        isMessage(content) ? [{ ...placeOf(path), content, at: toUnixNano(content.created_at) }] : [],
      );
    const sessions = [...Map.groupBy(files, ({ sessionId }) => sessionId)].map(
      ([sessionId, own]): Session => {
        const ordered = own.toSorted(
          (a, b) =>
            compare(a.at ?? '', b.at ?? '') ||
            compare(a.agent ?? '', b.agent ?? '') ||
            (numberAt(a.content, 'message_id') ?? 0) - (numberAt(b.content, 'message_id') ?? 0),
        );
        const messages = ordered.map(
          ({ content }) => objectAt(content, 'redact_message') ?? objectAt(content, 'message') ?? {},
        );
        const turns = readChatTurns(messages, null).map((turn): Turn => {
          const file = ordered[turn.position];
          const redacted = file !== undefined && objectAt(file.content, 'redact_message') !== undefined;
          return {
            ...turn,
            startTimeUnixNano: file?.at ?? null,
            endTimeUnixNano: file?.at ?? null,
            ...(turn.role === 'assistant' && file?.agent ? { agent: file.agent } : {}),
            ...(redacted ? { flags: [...(turn.flags ?? []), 'content-redacted'] } : {}),
          };
        });
        const agent = ordered.find((file) => file.agent !== null)?.agent ?? null;
        return buildConversation({ sessionId, format: this.id, turns, agent });
      },
    );
    return { sessions, unread: [] };
  },
};

const LAYOUT = /session_([^/\\:]{1,200})[/\\]agents[/\\]agent_([^/\\]{1,200})[/\\]/;

/** Outside of the manager's layout, the files of one folder are one session, called as the folder. */
function placeOf(path: string): { readonly sessionId: string; readonly agent: string | null } {
  const found = LAYOUT.exec(path);
  if (found !== null) return { sessionId: found[1] ?? path, agent: found[2] ?? null };
  const folder = path.split(/[\\/]/).at(-2);
  return { sessionId: folder === undefined || folder === '' ? 'strands-session' : folder, agent: null };
}

const compare = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
