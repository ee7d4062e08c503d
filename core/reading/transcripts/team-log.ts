import { readArguments } from '../conventions/blocks.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { sourceStem } from './fields.ts';
import { readSpeakerTurns } from './speakers.ts';
import type { LogEntry } from './team-logs/entry.ts';
import { TEAM_LOGS } from './team-logs/index.ts';
import { answerTurn, noteTurn, textBlocks } from './turn-parts.ts';

/**
 * Console logs of ChatDev, MetaGPT, HyperAgent, AG2, AppWorld, Magentic-One and OpenManus as text (the shapes that the
 * MAST data set collects; its public readers of 2026-11).
 */
export const teamLog: TranscriptFormat = {
  id: 'team-log',
  title: 'Text logs of multi-agent frameworks',
  knownBy: `the log lines of ${TEAM_LOGS.map(({ name }) => name).join(', ')}`,
  from: 'the console output of ChatDev, MetaGPT, HyperAgent, AG2, AppWorld, Magentic-One or OpenManus, saved as text',
  checkedOn: 'the logs that MAST-Data collects, by its public readers (2026-11)',

  recognise(document) {
    const known = typeof document === 'string' && TEAM_LOGS.some((log) => log.recognise(document));
    return known ? { match: 'yes', sure: 0.8 } : { match: 'no' };
  },

  read(document, source) {
    const { turns, goal } = readTeamLog(typeof document === 'string' ? document : '');
    const session = buildConversation({ sessionId: sourceStem(source), format: this.id, turns, goal });
    return { sessions: [session], unread: [] };
  },
};

/** Turns of a text log. A log that no framework's shape fits stays one note, and `split` says so. */
export function readTeamLog(text: string): { turns: Turn[]; goal: string | null; split: boolean } {
  const log = TEAM_LOGS.find((reader) => reader.recognise(text))?.split(text);
  if (log === undefined || log.entries.length === 0)
    return { turns: text.trim() === '' ? [] : [noteTurn(0, 'log', text)], goal: null, split: false };
  return { turns: log.entries.map(readEntry), goal: log.goal, split: true };
}

function readEntry(entry: LogEntry, position: number): Turn {
  const { kind, speaker, text, failed } = entry;
  switch (kind) {
    case 'user':
      return { position, role: 'user', blocks: textBlocks(text) };
    case 'note': {
      const note = noteTurn(position, speaker, text);
      return failed === true
        ? { ...note, errors: [{ source: 'status', message: text.slice(0, 300) }] }
        : note;
    }
    case 'tool': {
      const turn = answerTurn({
        position,
        toolCallId: null,
        content: text,
        isError: failed ?? null,
        toolName: speaker,
      });
      // Where the log has no call, the code that ran is text of a turn before.
      return { ...turn, name: speaker };
    }
    case 'agent':
      return readAgent(entry, position);
  }
}

function readAgent({ speaker, text, call, inputTokens, outputTokens }: LogEntry, position: number): Turn {
  const usage = inputTokens === undefined ? {} : { usage: { inputTokens, outputTokens: outputTokens ?? 0 } };
  if (call !== undefined) {
    const use = {
      type: 'tool_use' as const,
      toolCallId: null,
      name: call.name,
      ...readArguments(call.arguments, new Set()),
    };
    return { position, role: 'assistant', agent: speaker, blocks: [...textBlocks(text), use], ...usage };
  }
  const [turn] = readSpeakerTurns([{ name: speaker, content: text }]);
  return { ...(turn ?? noteTurn(position, speaker, text)), position, ...usage };
}
