import type { JsonObject } from '../../base/json.ts';
import type { SpanFlag } from '../../session/session.ts';
import { plainText, readBlocks, readToolCalls } from './blocks.ts';
import { readChatTurn } from './chat-turns.ts';
import type { Turn } from './conversation.ts';
import { textAt } from './fields.ts';
import { exitErrors } from './turn-parts.ts';

/** Roles that say the kind of a message and not who speaks. */
const KIND_ROLES: ReadonlySet<string> = new Set([
  'user',
  'assistant',
  'system',
  'developer',
  'tool',
  'function',
]);
const HUMAN: ReadonlySet<string> = new Set(['human', 'user', 'humanuser', 'user_proxy', 'userproxy']);

/** Names that frameworks give to what runs code: not an agent that thinks, but the place where results come from. */
const EXECUTOR_NAME = /(^|[^a-z])(computer_?|code_?)?(terminal|executor|interpreter)(_?agent)?$/i;
/** How AutoGen's code executors report a run. */
const EXIT_CODE = /^(?:exitcode: |The script ran, then exited with Unix exit code: )(-?[0-9]{1,9})/;

export interface Speaker {
  readonly agent: string;
  /** `thought`, `-> Name`, `termination condition`; `null` for a plain turn. */
  readonly aside: string | null;
}

/** "Orchestrator (-> WebSurfer)" is agent "Orchestrator" with the aside "-> WebSurfer". */
export function readSpeaker(label: string): Speaker {
  const parts = /^([^()]{1,200}?)\s*\(([^()]{1,200})\)$/.exec(label);
  return parts === null
    ? { agent: label.trim(), aside: null }
    : { agent: parts[1] ?? label, aside: (parts[2] ?? '').trim() };
}

/**
 * Messages of a conversation among agents as turns. Every agent's turn is a model call of that agent, whatever the
 * `role` says: frameworks write `user` and `assistant` as seen by the receiver. What a code executor reports is a
 * tool result without a structured call; a non-zero exit code is stated as an error of that span.
 */
export function readSpeakerTurns(messages: readonly JsonObject[]): Turn[] {
  return messages.map(readSpeakerTurn);
}

function readSpeakerTurn(message: JsonObject, position: number): Turn {
  const role = textAt(message, 'role') ?? 'user';
  // Among agents too a tool's result stands under the tool's name, which is no speaker.
  if (role === 'tool' || role === 'function') return readChatTurn(message, position);
  const label = textAt(message, 'name', 'source') ?? (KIND_ROLES.has(role) ? undefined : role);
  const flags = new Set<SpanFlag>();
  const blocks = readBlocks(message.content, flags);
  const calls = readToolCalls(message, flags);
  if (label === undefined || HUMAN.has(label.toLowerCase())) {
    const kind =
      role === 'assistant' ? 'assistant' : role === 'system' || role === 'developer' ? 'system' : 'user';
    return { position, role: kind, blocks: [...blocks, ...calls], flags: [...flags] };
  }
  const { agent, aside } = readSpeaker(label);
  const text = plainText(message.content);
  const exit = EXIT_CODE.exec(text);
  if (exit !== null || EXECUTOR_NAME.test(agent)) {
    return {
      position,
      role: 'tool',
      // A result without a call: the code it answers is text of an earlier turn.
      note: true,
      speaker: label,
      agent,
      name: label,
      blocks: [
        {
          type: 'tool_result',
          toolCallId: null,
          content: text,
          isError: exit === null ? null : exit[1] !== '0',
        },
      ],
      errors: exit === null ? [] : exitErrors(Number(exit[1]), text),
    };
  }
  if (aside === 'termination condition') {
    return { position, role: 'assistant', note: true, speaker: label, agent, name: label, blocks };
  }
  return {
    position,
    role: 'assistant',
    speaker: label,
    agent,
    name: label,
    blocks: [...blocks, ...calls],
    flags: [...flags],
  };
}
