import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import type { Block } from '../../session/model.ts';
import { readBlocks, readToolCalls, resultText } from './blocks.ts';
import type { Turn } from './conversation.ts';
import { numberAt, objectAt, textAt, toUnixNano } from './fields.ts';

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
  const text = resultText(system);
  return text === '' ? undefined : text;
}

export function readChatTurn(message: JsonObject, position: number): Turn {
  const role = roleOf(message);
  const content = readBlocks(message.content);
  const calls = role === 'assistant' ? readToolCalls(message) : { blocks: [], argumentsRepaired: false };
  const reasoning = role === 'assistant' ? textAt(message, 'reasoning_content', 'reasoning') : undefined;
  const refusal = role === 'assistant' ? textAt(message, 'refusal') : undefined;
  const usage = objectAt(message, 'usage');
  const finish = textAt(message, 'finish_reason', 'stop_reason', 'stopReason');
  const time = toUnixNano(message.timestamp ?? message.created_at ?? message.created);
  const speaker = role === 'tool' ? undefined : textAt(message, 'name');
  const model = textAt(message, 'model');

  const blocks: Block[] =
    role === 'tool'
      ? toolBlocks(message, content.blocks)
      : [
          ...(reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
          ...content.blocks,
          ...(refusal === undefined ? [] : [{ type: 'text' as const, text: refusal }]),
          ...calls.blocks,
        ];
  return {
    position,
    role,
    blocks,
    flags: content.argumentsRepaired || calls.argumentsRepaired ? ['arguments-repaired'] : [],
    startTimeUnixNano: time,
    endTimeUnixNano: time,
    ...(speaker === undefined ? {} : { speaker, agent: role === 'assistant' ? speaker : null }),
    ...(role === 'tool' ? toolNameOf(message) : {}),
    ...(finish === undefined ? {} : { finishReasons: [finish.toLowerCase()] }),
    ...(usage === undefined ? {} : { usage: readUsage(usage) }),
    ...(model === undefined ? {} : { model }),
  };
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

function toolNameOf(message: JsonObject): { toolName?: string } {
  const toolName = textAt(message, 'name', 'tool_name');
  return toolName === undefined ? {} : { toolName };
}

/** A tool message is one result, unless its content holds result blocks of its own. */
function toolBlocks(message: JsonObject, blocks: Block[]): Block[] {
  if (blocks.some((block) => block.type === 'tool_result')) return blocks;
  const status = textAt(message, 'status');
  const stated = message.is_error ?? message.isError;
  return [
    {
      type: 'tool_result',
      toolCallId: textAt(message, 'tool_call_id', 'toolCallId', 'id') ?? null,
      content: resultText(message.content),
      isError: typeof stated === 'boolean' ? stated : status === undefined ? null : status === 'error',
    },
  ];
}
