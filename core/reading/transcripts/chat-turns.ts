import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Block, SpanFlag } from '../../session/session.ts';
import { toUnixNano } from '../decode/times.ts';
import { plainText, readBlocks, readToolCalls, reasoningText } from './blocks.ts';
import type { Turn } from './conversation.ts';
import { numberAt, objectAt, textAt } from './fields.ts';

/**
 * Chat messages as turns. `system` is a system prompt that stands beside the list (Anthropic, Bedrock); it is not a
 * raw message, so it goes to the first model call and takes no position.
 */
export function readChatTurns(messages: readonly JsonObject[], system?: JsonValue): Turn[] {
  const systemPrompt = systemText(system);
  let prompted = systemPrompt === undefined;
  return messages.map((message, position) => {
    const turn = readChatTurn(message, position);
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

export function readChatTurn(item: JsonObject, position: number): Turn {
  const message = asMessage(item);
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

/** Items of OpenAI's Responses API as the messages that they stand for. */
function asMessage(item: JsonObject): JsonObject {
  switch (item.role === undefined ? item.type : null) {
    case 'function_call':
      return { role: 'assistant', tool_calls: [item] };
    case 'function_call_output':
      return { role: 'tool', tool_call_id: item.call_id ?? null, content: item.output ?? '' };
    case 'reasoning':
      return { role: 'assistant', reasoning: reasoningText(item.summary ?? item.content) };
    default:
      return item;
  }
}

function spokenBlocks(message: JsonObject, role: Turn['role'], flags: Set<SpanFlag>): Block[] {
  const content = readBlocks(message.content, flags);
  if (role !== 'assistant') return content;
  const reasoning = textAt(message, 'reasoning_content', 'reasoning');
  const refusal = textAt(message, 'refusal');
  return [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...content,
    ...(refusal === undefined ? [] : [{ type: 'text' as const, text: refusal }]),
    ...readToolCalls(message, flags),
  ];
}

export function readUsage(usage: JsonObject): { inputTokens: number; outputTokens: number } {
  return {
    inputTokens: numberAt(usage, 'input_tokens', 'prompt_tokens', 'inputTokens') ?? 0,
    outputTokens: numberAt(usage, 'output_tokens', 'completion_tokens', 'outputTokens') ?? 0,
  };
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
  const own = readBlocks(message.content, new Set());
  if (own.some((block) => block.type === 'tool_result')) return readBlocks(message.content, flags);
  return readBlocks({ ...message, type: 'tool_result', content: message.content ?? '' }, flags);
}
