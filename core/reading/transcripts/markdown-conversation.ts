import type { TranscriptFormat } from '../decode/format.ts';
import { readChatTurn } from './chat-turns.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { sourceStem } from './fields.ts';
import { readSpeakerTurns } from './speakers.ts';

const HEADING = /^##\s{1,4}\*{3}(\w{1,60})\*{3}\s{1,4}#(\d{1,6})\s{0,20}$/gm;
const RULE = /\s{0,64}<hr style="border:5px solid">\s{0,64}$/;
/** A turn of its own that only says that nothing follows. */
const END = 'conversation_end_marker';
const CHAT_ROLES: ReadonlySet<string> = new Set(['system', 'user', 'assistant', 'tool']);

/**
 * Conversations as Markdown, as AgentRx takes them (microsoft/AgentRx commit f228165b): a heading for each turn, and
 * properties of the user before the first.
 */
export const markdownConversation: TranscriptFormat = {
  id: 'markdown-conversation',
  title: 'Markdown conversations',
  knownBy: 'text with headings `## ***role*** #n`',
  from: 'a conversation as Markdown with a heading `## ***role*** #n` for each turn',
  checkedOn: 'microsoft/AgentRx commit f228165b',

  recognise(document) {
    return typeof document === 'string' && document.search(HEADING) !== -1
      ? { match: 'yes', sure: 0.9 }
      : { match: 'no' };
  },

  read(document, source) {
    const text = typeof document === 'string' ? document : '';
    const headings = [...text.matchAll(HEADING)];
    const head = text.slice(0, headings[0]?.index ?? 0);
    const turns = headings.flatMap((heading, at): Turn[] => {
      const start = heading.index + heading[0].length;
      const content = text
        .slice(start, headings[at + 1]?.index)
        .replace(RULE, '')
        .trim();
      if (content === END) return [];
      const role = (heading[1] ?? 'user').toLowerCase();
      const position = Number(heading[2]);
      return CHAT_ROLES.has(role)
        ? [readChatTurn({ role, content }, position)]
        : readSpeakerTurns([{ name: heading[1] ?? '', content }]).map((turn) => ({ ...turn, position }));
    });
    const session = buildConversation({
      sessionId: property(head, 'scenario_name') ?? sourceStem(source),
      format: this.id,
      turns,
      goal: property(head, 'first_turn_prompt') ?? null,
    });
    return { sessions: [session], unread: [] };
  },
};

function property(head: string, name: string): string | undefined {
  const line = head.split('\n').find((candidate) => candidate.startsWith(`- **${name}**:`));
  return line?.slice(line.indexOf(':') + 1).trim() || undefined;
}
