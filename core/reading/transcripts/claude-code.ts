import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Block, SpanError, ToolDefinition } from '../../session/session.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { readTools } from './blocks.ts';
import { readChatTurn } from './chat-turns.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { objectAt, objectsIn, sourceStem, textAt } from './fields.ts';

function linesOf(document: JsonValue): JsonValue | undefined {
  return isJsonObject(document) ? document.messages : document;
}

function isTurnLine(line: JsonValue | undefined): line is JsonObject {
  return (
    isJsonObject(line) &&
    (line.type === 'user' || line.type === 'assistant') &&
    isJsonObject(line.message) &&
    'content' in line.message
  );
}

/**
 * Transcripts of Claude Code and of the Claude Agent SDK: lines `{type, message}` with tool_use and tool_result
 * blocks. The blocks of one answer come on lines of their own with the same `message.id`; they are one model call.
 * Lines of other types (summaries, snapshots, progress) carry no turn and are left out.
 */
export const claudeCode: TranscriptFormat = {
  id: 'claude-code',
  title: 'Claude Code transcripts',
  knownBy: 'lines {type: "user" | "assistant", message: {role, content}}',
  from: '`~/.claude/projects/<project>/<session>.jsonl`, and the messages of the Claude Agent SDK, one a line',
  checkedOn: 'files of Claude Code (2026-11): it publishes no schema',

  recognise(document) {
    const lines = linesOf(document);
    if (!Array.isArray(lines)) return { match: 'no' };
    return lines.slice(0, 50).some(isTurnLine) ? { match: 'yes', sure: 0.8 } : { match: 'no' };
  },

  read(document, source) {
    const bySession = new Map<string, { turns: Turn[]; tools: ToolDefinition[] | undefined }>();
    const fallback = sourceStem(source);
    objectsIn(linesOf(document)).forEach((line, position) => {
      const id = textAt(line, 'sessionId', 'session_id') ?? fallback;
      const session = bySession.get(id) ?? { turns: [], tools: undefined };
      if (line.type === 'system' && line.subtype === 'init') session.tools = readTools(line);
      const turn = readLine(line, position);
      const previous = session.turns.at(-1);
      if (turn !== null && continues(turn, previous)) {
        session.turns[session.turns.length - 1] = {
          ...previous,
          ...turn,
          position: previous.position,
          blocks: [...previous.blocks, ...turn.blocks],
        };
      } else if (turn !== null) session.turns.push(turn);
      if (session.turns.length > 0 || session.tools !== undefined) bySession.set(id, session);
    });
    const sessions = [...bySession]
      .filter(([, session]) => session.turns.length > 0)
      .map(([sessionId, session]) =>
        buildConversation({ sessionId, format: this.id, turns: session.turns, tools: session.tools }),
      );
    return { sessions, unread: [] };
  },
};

function continues(turn: Turn, previous: Turn | undefined): previous is Turn {
  return (
    turn.role === 'assistant' && turn.responseId !== undefined && previous?.responseId === turn.responseId
  );
}

function readLine(line: JsonObject, position: number): Turn | null {
  if (line.type === 'result' && line.is_error === true) {
    const message = textAt(line, 'result', 'error', 'subtype') ?? 'the run ended with an error';
    const error: SpanError = { source: 'status', message, ...typeOf(line) };
    return {
      position,
      role: 'assistant',
      note: true,
      name: 'result',
      blocks: [{ type: 'text', text: message }],
      errors: [error],
    };
  }
  const message = objectAt(line, 'message');
  if (!isTurnLine(line) || message === undefined) return null;
  const turn = readChatTurn({ ...message, role: line.type === 'assistant' ? 'assistant' : 'user' }, position);
  const time = toUnixNano(line.timestamp);
  const responseId = textAt(message, 'id');
  const failed = line.isApiErrorMessage === true;
  // A sub-agent's lines stand in the same file; nothing but this mark tells them apart.
  const agent = textAt(line, 'agentId') ?? (line.isSidechain === true ? 'sub-agent' : undefined);
  return {
    ...turn,
    startTimeUnixNano: time,
    endTimeUnixNano: time,
    ...(agent === undefined ? {} : { agent }),
    ...(responseId === undefined || line.type !== 'assistant' ? {} : { responseId }),
    ...(failed ? { errors: [{ source: 'status' as const, message: firstText(turn.blocks) }] } : {}),
  };
}

function typeOf(line: JsonObject): { type?: string } {
  const type = textAt(line, 'subtype');
  return type === undefined ? {} : { type };
}

function firstText(blocks: readonly Block[]): string {
  const block = blocks.find((entry) => entry.type === 'text');
  return block?.type === 'text' ? block.text : 'API error';
}
