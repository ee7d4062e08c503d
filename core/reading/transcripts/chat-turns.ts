import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Block, SpanFlag } from '../../session/session.ts';
import { langchainMessage } from '../conventions/langchain-message.ts';
import { readUsage } from '../conventions/provider-bodies.ts';
import { responsesItemMessages } from '../conventions/responses-items.ts';
import { toUnixNano } from '../decode/times.ts';
import { plainText, readBlocks, readToolCalls } from './blocks.ts';
import type { Turn } from './conversation.ts';
import { objectAt, textAt } from './fields.ts';

/**
 * Chat messages as turns. `system` is a system prompt that stands beside the list (Anthropic, Bedrock); it is not a
 * raw message, so it goes to the first model call and takes no position.
 */
export function readChatTurns(messages: readonly JsonObject[], system?: JsonValue): Turn[] {
  const systemPrompt = systemText(system);
  let prompted = systemPrompt === undefined;
  return messages.flatMap(readChatItem).map((turn) => {
    if (prompted || turn.role !== 'assistant' || systemPrompt === undefined) return turn;
    prompted = true;
    return { ...turn, systemPrompt };
  });
}

/** System text: a string, or a list of text blocks. */
export function systemText(system: JsonValue | undefined): string | undefined {
  const text = plainText(system);
  return text === '' ? undefined : text;
}

/** A message of any chat API as a turn, or an item of OpenAI's Responses API as the turns that it stands for. */
export function readChatItem(item: JsonObject, position: number): Turn[] {
  return (responsesItemMessages(item) ?? [item]).map((message) => readChatTurn(message, position));
}

export function readChatTurn(item: JsonObject, position: number): Turn {
  const message = langchainMessage(item) ?? item;
  const role = roleOf(message);
  const flags = new Set<SpanFlag>();
  const usage = objectAt(message, 'usage');
  const finish = textAt(message, 'finish_reason', 'stop_reason', 'stopReason');
  const time = toUnixNano(message.timestamp ?? message.created_at ?? message.created);
  const speaker = role === 'tool' ? undefined : textAt(message, 'name');
  const toolName = role === 'tool' ? textAt(message, 'name', 'tool_name') : undefined;
  const model = textAt(message, 'model');
  return {
    position,
    role,
    blocks: role === 'tool' ? toolBlocks(message, flags) : spokenBlocks(message, role, flags),
    flags: [...flags],
    startTimeUnixNano: time,
    endTimeUnixNano: time,
    ...(speaker === undefined ? {} : { speaker, agent: role === 'assistant' ? speaker : null }),
    ...(toolName === undefined ? {} : { toolName }),
    ...(finish === undefined ? {} : { finishReasons: [finish.toLowerCase()] }),
    ...(usage === undefined ? {} : { usage: readUsage(usage) }),
    ...(model === undefined ? {} : { model }),
  };
}

function spokenBlocks(message: JsonObject, role: Turn['role'], flags: Set<SpanFlag>): Block[] {
  const content = readBlocks(message.content, flags);
  if (role !== 'assistant') return content;
  const reasoning = textAt(message, 'reasoning_content', 'reasoning');
  const refusal = textAt(message, 'refusal');
  // LangChain records a call both as a block and beside the content.
  const inContent = new Set(
    content.flatMap((block) => (block.type === 'tool_use' ? [block.toolCallId] : [])),
  );
  return [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...content,
    ...(refusal === undefined ? [] : [{ type: 'text' as const, text: refusal }]),
    ...readToolCalls(message, flags).filter(
      (block) => block.type !== 'tool_use' || block.toolCallId === null || !inContent.has(block.toolCallId),
    ),
  ];
}

function roleOf(message: JsonObject): Turn['role'] {
  switch (message.role) {
    case 'system':
    case 'developer':
      return 'system';
    case 'assistant':
      return 'assistant';
    case 'tool':
    case 'function':
      return 'tool';
    default:
      return 'user';
  }
}

/** A tool message is one result, unless its content holds result blocks of its own. */
function toolBlocks(message: JsonObject, flags: Set<SpanFlag>): Block[] {
  const read = readBlocks(message.content, new Set());
  if (read.some((block) => block.type === 'tool_result')) return readBlocks(message.content, flags);
  return readBlocks({ ...message, type: 'tool_result', content: message.content ?? '' }, flags);
}

export { readUsage };
