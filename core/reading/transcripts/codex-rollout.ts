import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SpanFlag } from '../../session/session.ts';
import { unwrapJson } from '../decode/decode-json.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { plainText, reasoningText, toolUse } from './blocks.ts';
import { readChatTurn, readUsage } from './chat-turns.ts';
import { readItem } from './codex-items.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { numberAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { answerTurn, brokenEnd, exitErrors, noteTurn, timed } from './turn-parts.ts';

const TYPES: ReadonlySet<string> = new Set([
  'session_meta',
  'response_item',
  'event_msg',
  'turn_context',
  'compacted',
]);

const isLine = (line: JsonValue | undefined): line is JsonObject =>
  isJsonObject(line) && TYPES.has(String(line.type)) && isJsonObject(line.payload);

/**
 * Session files of Codex (`~/.codex/sessions/**\/rollout-*.jsonl`; shapes of openai/codex commits 001cb8e2 and 0136a731
 * and of files by Codex 0.30 to 0.150).
 *
 * Turns are the response items; events that repeat them are read only where a file has none. From the other events come
 * the tokens of the answer before, what a command or patch really ended with, and faults. Context that Codex puts into
 * a user's message is no word of the user. Turns that were rolled back are left out, and said.
 */
export const codexRollout: TranscriptFormat = {
  id: 'codex-rollout',
  title: 'Codex session files (rollouts)',
  knownBy:
    'lines {timestamp, type: "session_meta" | "response_item" | "event_msg" | "turn_context", payload}',
  from: '`~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, also `.zst`',
  checkedOn: 'openai/codex commits 001cb8e2 and 0136a731; files of Codex 0.30 to 0.150',

  recognise(document) {
    const sample = Array.isArray(document) ? document.slice(0, 50) : [];
    const known = sample.filter(isLine);
    const told = known.some((line) => line.type !== 'session_meta' && line.type !== 'turn_context');
    return told ? { match: 'yes', sure: 0.9 } : { match: 'no' };
  },

  read(document, source) {
    const lines = objectsIn(document);
    const reader = makeReader(lines);
    lines.forEach((line, position) => {
      if (isLine(line)) reader.add(line, objectAt(line, 'payload') ?? {}, position);
    });
    const session = buildConversation({
      sessionId: reader.meta().id ?? sourceStem(source),
      format: this.id,
      turns: reader.finish(),
      agent: reader.meta().agent,
    });
    const other = lines.filter((line) => !isLine(line)).length;
    return {
      sessions: [session],
      unread: [
        ...(reader.rolledBack() === 0
          ? []
          : [{ where: source, reason: 'turns that were rolled back', count: reader.rolledBack() }]),
        ...(other === 0 ? [] : [{ where: source, reason: 'a line of an unknown type', count: other }]),
      ],
    };
  },
};

/** What Codex writes into the user's place. */
const INJECTED =
  /^\s{0,16}(?:<(?:environment_context|user_instructions|turn_aborted|skill|subagent_notification|permissions instructions)\b|# AGENTS\.md instructions for )/;

/** Events that repeat response items; the source of turns where there are no items. */
type Told = 'items' | 'completed' | 'messages';

function tellingOf(lines: readonly JsonObject[]): Told {
  if (lines.some((line) => line.type === 'response_item')) return 'items';
  const completed = lines.some((line) => objectAt(line, 'payload')?.type === 'item_completed');
  return completed ? 'completed' : 'messages';
}

interface Outcome {
  readonly failed: boolean;
  readonly code: number | undefined;
}

function makeReader(lines: readonly JsonObject[]) {
  const told = tellingOf(lines);
  let turns: Turn[] = [];
  const outcomes = new Map<string, Outcome>();
  let id: string | undefined;
  let agent: string | null = null;
  let prompt: string | undefined;
  let model: string | undefined;
  let counted = '';
  let rolledBack = 0;

  const push = (turn: Turn, line: JsonObject): void => {
    const time = timed(toUnixNano(line.timestamp));
    if (turn.role !== 'assistant' || turn.note === true) {
      turns.push({ ...turn, ...time });
      return;
    }
    turns.push({
      ...turn,
      ...time,
      agent,
      ...(model === undefined ? {} : { model }),
      ...(prompt === undefined ? {} : { systemPrompt: prompt }),
    });
    prompt = undefined;
  };

  /** Tokens of the last call belong to the answer before; the same count is written again now and then. */
  const addTokens = (info: JsonObject | undefined): void => {
    const usage = info === undefined ? undefined : objectAt(info, 'last_token_usage');
    const key = JSON.stringify(info?.total_token_usage ?? null);
    const at = turns.findLastIndex((turn) => turn.role === 'assistant' && turn.note !== true);
    const turn = turns[at];
    if (usage === undefined || key === counted || turn === undefined) return;
    counted = key;
    turns[at] = { ...turn, usage: readUsage(usage) };
  };

  const rollBack = (count: number): void => {
    const users = turns.flatMap((turn, index) => (turn.role === 'user' ? [index] : []));
    const from = users.at(-count);
    if (count < 1 || from === undefined) return;
    rolledBack += turns.length - from;
    turns = turns.slice(0, from);
  };

  const addEvent = (payload: JsonObject, line: JsonObject, position: number): void => {
    const callId = textAt(payload, 'call_id');
    const code = numberAt(payload, 'exit_code');
    switch (payload.type) {
      case 'token_count':
        addTokens(objectAt(payload, 'info'));
        return;
      case 'item_completed': {
        const turn = told === 'completed' ? readItem(objectAt(payload, 'item') ?? {}, position) : null;
        if (turn !== null) push(turn, line);
        return;
      }
      case 'user_message':
      case 'agent_message': {
        const role = payload.type === 'user_message' ? 'user' : 'assistant';
        const text = textAt(payload, 'message') ?? '';
        if (told === 'messages') push({ position, role, blocks: [{ type: 'text', text }] }, line);
        return;
      }
      case 'exec_command_end':
        // Declined by a person: no failure of the command.
        if (callId !== undefined && payload.status !== 'declined')
          outcomes.set(callId, { failed: payload.status === 'failed', code });
        return;
      case 'patch_apply_end':
        if (callId !== undefined)
          outcomes.set(callId, { failed: payload.success === false, code: undefined });
        return;
      case 'mcp_tool_call_end': {
        const result = objectAt(payload, 'result') ?? {};
        const failed = result.Err !== undefined || objectAt(result, 'Ok')?.isError === true;
        if (callId !== undefined) outcomes.set(callId, { failed, code: undefined });
        return;
      }
      case 'error':
      case 'stream_error':
        push(brokenEnd(position, 'fault', String(payload.type), textAt(payload, 'message') ?? ''), line);
        return;
      case 'turn_aborted':
        push(noteTurn(position, 'turn aborted', textAt(payload, 'reason') ?? 'aborted'), line);
        return;
      case 'thread_rolled_back':
        rollBack(numberAt(payload, 'num_turns') ?? 0);
        return;
      // Starts and ends of turns, limits, reasoning that stands in the items: nothing more.
      default:
        return;
    }
  };

  return {
    meta: () => ({ id, agent }),
    rolledBack: () => rolledBack,
    add(line: JsonObject, payload: JsonObject, position: number): void {
      switch (line.type) {
        case 'session_meta':
          // A fork copies the lines of the session that it left, meta and all.
          if (id !== undefined) return;
          id = textAt(payload, 'id', 'session_id');
          agent = textAt(payload, 'agent_nickname', 'agent_role') ?? null;
          prompt = textAt(objectAt(payload, 'base_instructions') ?? payload, 'text', 'instructions');
          return;
        case 'turn_context':
          model = textAt(payload, 'model') ?? model;
          return;
        case 'compacted':
          push(noteTurn(position, 'summary', textAt(payload, 'message') ?? ''), line);
          return;
        case 'response_item':
          for (const turn of readResponseItem(payload, position)) push(turn, line);
          return;
        default:
          addEvent(payload, line, position);
      }
    },
    finish: (): Turn[] => turns.map((turn) => withOutcome(turn, outcomes)),
  };
}

/** What an event says of how a call ended, on the result that the model was shown. */
function withOutcome(turn: Turn, outcomes: ReadonlyMap<string, Outcome>): Turn {
  const [block] = turn.blocks;
  if (block?.type !== 'tool_result' || block.toolCallId === null) return turn;
  const outcome = outcomes.get(block.toolCallId);
  if (outcome === undefined) return turn;
  const isError = outcome.failed || (outcome.code ?? 0) !== 0;
  const errors = (turn.errors ?? []).length > 0 ? turn.errors : exitErrors(outcome.code, block.content);
  return { ...turn, blocks: [{ ...block, isError }], errors: errors ?? [] };
}

function readResponseItem(payload: JsonObject, position: number): Turn[] {
  switch (payload.type) {
    case 'message': {
      const text = partsText(payload.content);
      if (payload.role === 'user' && INJECTED.test(text)) return [noteTurn(position, 'context', text)];
      return [readChatTurn(payload, position)];
    }
    case 'reasoning': {
      const text = reasoningText(payload.summary) || reasoningText(payload.content);
      return text === '' ? [] : [{ position, role: 'assistant', blocks: [{ type: 'reasoning', text }] }];
    }
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
    case 'tool_search_call': {
      const flags = new Set<SpanFlag>();
      const name = textAt(payload, 'name') ?? (payload.type === 'tool_search_call' ? 'tool_search' : 'shell');
      const args = payload.arguments ?? payload.input ?? payload.action;
      const use = toolUse(textAt(payload, 'call_id', 'id') ?? null, name, args, flags);
      return [{ position, role: 'assistant', blocks: [use], flags: [...flags] }];
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [readOutput(payload, position)];
    case 'tool_search_output':
      return [
        answerTurn({
          position,
          toolCallId: textAt(payload, 'call_id') ?? null,
          content: plainText(payload.tools),
        }),
      ];
    case 'web_search_call':
    case 'image_generation_call': {
      // A tool of the model's service: Codex keeps the call and not what came of it.
      const name = payload.type.replace(/_call$/, '');
      const args = payload.action ?? payload.revised_prompt ?? {};
      return [
        {
          position,
          role: 'tool',
          name,
          call: { name, arguments: args },
          blocks: [],
          flags: ['content-absent'],
        },
      ];
    }
    case 'ghost_snapshot':
    case 'compaction':
    case 'compaction_summary':
    case 'context_compaction':
    case 'additional_tools':
      return [];
    default:
      return [noteTurn(position, String(payload.type), JSON.stringify(payload))];
  }
}

/** Text, or parts that are input or output text. */
function partsText(value: JsonValue | undefined): string {
  return Array.isArray(value)
    ? objectsIn(value)
        .flatMap((part) => textAt(part, 'text') ?? [])
        .join('\n')
    : plainText(value);
}

/** Heads of a shell's text: "Exit code: 1", and below a line or two "Process exited with code 1". */
const EXIT = /^(?:Exit code: |(?:[^\n]{0,200}\n){0,4}Process exited with code )(-?\d{1,9})\b/;

/** The output is text, parts of text, or JSON text `{output, metadata: {exit_code}}`. */
function readOutput(payload: JsonObject, position: number): Turn {
  const { value } = unwrapJson(payload.output ?? null, 1);
  const wrapped = isJsonObject(value) ? value : {};
  const text = textAt(wrapped, 'output', 'content') ?? partsText(payload.output);
  const stated = numberAt(objectAt(wrapped, 'metadata') ?? {}, 'exit_code');
  const told = EXIT.exec(text)?.[1];
  return answerTurn({
    position,
    toolCallId: textAt(payload, 'call_id') ?? null,
    content: text,
    isError: typeof wrapped.success === 'boolean' ? !wrapped.success : null,
    exitCode: stated ?? (told === undefined ? undefined : Number(told)),
  });
}
