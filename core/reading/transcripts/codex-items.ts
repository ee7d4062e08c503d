import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { SpanError } from '../../session/session.ts';
import { plainText } from './blocks.ts';
import type { Turn } from './conversation.ts';
import { numberAt, objectAt, objectsIn, textAt } from './fields.ts';
import { exitErrors, reasoningBlocks, textBlocks } from './turn-parts.ts';

/** One item of Codex's event stream. Its kinds are written `agent_message` in one file and `AgentMessage` in another. */
export function readItem(item: JsonObject, position: number): Turn | null {
  const status = textAt(item, 'status');
  const kind = String(item.type ?? item.item_type ?? '')
    .replace(/(?<=[a-z])(?=[A-Z])/g, '_')
    .toLowerCase();
  switch (kind) {
    case 'user_message':
      return { position, role: 'user', blocks: textBlocks(itemText(item)) };
    case 'agent_message':
    case 'assistant_message':
      return { position, role: 'assistant', blocks: textBlocks(itemText(item)) };
    case 'reasoning':
      return { position, role: 'assistant', blocks: reasoningBlocks(itemText(item)) };
    case 'error':
      return failedTurn(textAt(item, 'message') ?? 'error', position);
    case 'command_execution': {
      const code = numberAt(item, 'exit_code');
      const output = textAt(item, 'aggregated_output') ?? '';
      return toolTurn(position, 'shell', { command: item.command ?? null }, output, status, code);
    }
    case 'mcp_tool_call': {
      const error = objectAt(item, 'error');
      const result = objectAt(item, 'result');
      const text =
        error === undefined ? plainText(result?.content ?? item.result) : (textAt(error, 'message') ?? '');
      return toolTurn(position, textAt(item, 'tool') ?? 'mcp', item.arguments ?? null, text, status);
    }
    case 'web_search':
      return toolTurn(position, 'web_search', { query: item.query ?? null }, '', status);
    case 'file_change':
      return toolTurn(position, 'apply_patch', { changes: item.changes ?? null }, status ?? '', status);
    default:
      return { position, role: 'assistant', note: true, blocks: textBlocks(JSON.stringify(item)) };
  }
}

/** Text, or parts of it (`{type: "Text", text}`). */
function itemText(item: JsonObject): string {
  const parts = [...objectsIn(item.content), ...objectsIn(item.summary)].flatMap(
    (part) => textAt(part, 'text') ?? [],
  );
  return textAt(item, 'text') ?? parts.join('\n');
}

export function failedTurn(message: string, position: number): Turn {
  return {
    position,
    role: 'assistant',
    note: true,
    name: 'error',
    blocks: [{ type: 'text', text: message }],
    errors: [{ source: 'status', message }],
  };
}

function toolTurn(
  position: number,
  name: string,
  args: JsonValue,
  content: string,
  status: string | undefined,
  exitCode?: number,
): Turn {
  const open = status === 'in_progress' || status === 'InProgress';
  const isError = status === 'failed' || status === 'Failed' || (exitCode ?? 0) !== 0;
  const errors: SpanError[] = exitErrors(exitCode, content);
  if (isError && errors.length === 0)
    errors.push({ source: 'tool-status', message: content.slice(0, 300) || 'failed' });
  return {
    position,
    role: 'tool',
    name,
    call: { name, arguments: args },
    blocks: open
      ? []
      : [{ type: 'tool_result', toolCallId: null, content, isError: status === undefined ? null : isError }],
    errors,
    flags: open ? ['in-progress'] : [],
  };
}
