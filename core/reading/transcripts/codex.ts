import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SpanError, SpanFlag } from '../../session/session.ts';
import { unwrapJson } from '../decode/decode-json.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { plainText, reasoningText, toolUse } from './blocks.ts';
import { readChatTurn, readUsage } from './chat-turns.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { numberAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';

const EVENT_TYPES = /^(thread\.started|turn\.(started|completed|failed)|item\.(started|updated|completed))$/;

/**
 * Codex: events of `codex exec --json` (`item.completed`, …) and recorded session files (`response_item` lines). An
 * item that was started and never completed is a call without a result.
 */
export const codex: TranscriptFormat = {
  id: 'codex',
  title: 'Codex event streams and session files',
  knownBy: 'lines {type: "item.completed", item} or {type: "response_item", payload}',

  recognise(document) {
    const lines = Array.isArray(document) ? document : [];
    const known = (line: JsonValue) =>
      isJsonObject(line) &&
      typeof line.type === 'string' &&
      (EVENT_TYPES.test(line.type) || (line.type === 'response_item' && isJsonObject(line.payload)));
    return lines.slice(0, 50).some(known) ? { match: 'yes', sure: 0.85 } : { match: 'no' };
  },

  read(document, source) {
    const turns: Turn[] = [];
    const started = new Map<string, number>();
    let sessionId: string | undefined;
    objectsIn(document).forEach((line, position) => {
      const payload = objectAt(line, 'payload');
      if (line.type === 'thread.started') sessionId ??= textAt(line, 'thread_id');
      if (line.type === 'session_meta' && payload !== undefined)
        sessionId ??= textAt(payload, 'id', 'session_id');
      const turn = readLine(line, payload, position);
      if (turn === null) return;
      const id = objectAt(line, 'item')?.id;
      if (typeof id !== 'string') {
        turns.push(turn);
        return;
      }
      // The same item comes as started, updated and completed: the last state wins, at the place of the first.
      const place = started.get(id);
      if (place === undefined) started.set(id, turns.push(turn) - 1);
      else turns[place] = { ...turn, position: turns[place]?.position ?? position };
    });
    return {
      sessions: [buildConversation({ sessionId: sessionId ?? sourceStem(source), format: this.id, turns })],
      unread: [],
    };
  },
};

function readLine(line: JsonObject, payload: JsonObject | undefined, position: number): Turn | null {
  const item = objectAt(line, 'item');
  if (item !== undefined) return readItem(item, position);
  if (line.type === 'response_item' && payload !== undefined) {
    const turn = readResponseItem(payload, position);
    const time = toUnixNano(line.timestamp);
    return turn === null ? null : { ...turn, startTimeUnixNano: time, endTimeUnixNano: time };
  }
  const failure =
    line.type === 'turn.failed' ? objectAt(line, 'error') : line.type === 'error' ? line : undefined;
  return failure === undefined ? null : failed(textAt(failure, 'message') ?? 'turn failed', position);
}

function failed(message: string, position: number): Turn {
  return {
    position,
    role: 'assistant',
    note: true,
    name: 'error',
    blocks: [{ type: 'text', text: message }],
    errors: [{ source: 'status', message }],
  };
}

function readItem(item: JsonObject, position: number): Turn | null {
  const status = textAt(item, 'status');
  switch (item.type ?? item.item_type) {
    case 'agent_message':
    case 'assistant_message':
      return { position, role: 'assistant', blocks: [{ type: 'text', text: textAt(item, 'text') ?? '' }] };
    case 'reasoning':
      return {
        position,
        role: 'assistant',
        blocks: [{ type: 'reasoning', text: textAt(item, 'text') ?? '' }],
      };
    case 'error':
      return failed(textAt(item, 'message') ?? 'error', position);
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
      return {
        position,
        role: 'assistant',
        note: true,
        blocks: [{ type: 'text', text: JSON.stringify(item) }],
      };
  }
}

function toolTurn(
  position: number,
  name: string,
  args: JsonValue,
  content: string,
  status: string | undefined,
  exitCode?: number,
): Turn {
  const isError = status === 'failed' || (exitCode !== undefined && exitCode !== 0);
  const errors: SpanError[] =
    exitCode !== undefined && exitCode !== 0
      ? [
          {
            source: 'exit-code',
            code: exitCode,
            message: (content.trimEnd().split('\n').at(-1) ?? '').slice(0, 300),
          },
        ]
      : isError
        ? [{ source: 'tool-status', message: content.slice(0, 300) || 'failed' }]
        : [];
  return {
    position,
    role: 'tool',
    name,
    call: { name, arguments: args },
    blocks:
      status === 'in_progress'
        ? []
        : [
            {
              type: 'tool_result',
              toolCallId: null,
              content,
              isError: status === undefined ? null : isError,
            },
          ],
    errors,
    flags: status === 'in_progress' ? ['in-progress'] : [],
  };
}

function readResponseItem(payload: JsonObject, position: number): Turn | null {
  switch (payload.type) {
    case 'message':
      return readChatTurn(payload, position);
    case 'reasoning': {
      const text = reasoningText(payload.summary ?? payload.content);
      return text === '' ? null : { position, role: 'assistant', blocks: [{ type: 'reasoning', text }] };
    }
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call': {
      const flags = new Set<SpanFlag>();
      const name = textAt(payload, 'name') ?? 'shell';
      const usage = objectAt(payload, 'usage');
      return {
        position,
        role: 'assistant',
        blocks: [
          toolUse(
            textAt(payload, 'call_id', 'id') ?? null,
            name,
            payload.arguments ?? payload.input ?? payload.action,
            flags,
          ),
        ],
        flags: [...flags],
        ...(usage === undefined ? {} : { usage: readUsage(usage) }),
      };
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return readOutput(payload, position);
    default:
      return null;
  }
}

/** The output is text, or JSON text `{output, metadata: {exit_code}}`. */
function readOutput(payload: JsonObject, position: number): Turn {
  const { value } = unwrapJson(payload.output ?? null, 1);
  const wrapped = isJsonObject(value) && typeof value.output === 'string' ? value : undefined;
  const code = wrapped === undefined ? undefined : numberAt(objectAt(wrapped, 'metadata') ?? {}, 'exit_code');
  const content = wrapped === undefined ? plainText(payload.output) : (textAt(wrapped, 'output') ?? '');
  const isError = code === undefined ? null : code !== 0;
  return {
    position,
    role: 'tool',
    blocks: [{ type: 'tool_result', toolCallId: textAt(payload, 'call_id') ?? null, content, isError }],
    errors:
      code === undefined || code === 0
        ? []
        : [
            {
              source: 'exit-code',
              code,
              message: (content.trimEnd().split('\n').at(-1) ?? '').slice(0, 300),
            },
          ],
  };
}
