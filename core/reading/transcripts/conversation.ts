import type { JsonValue } from '../../base/json.ts';
import type {
  Block,
  Message,
  Session,
  Span,
  SpanError,
  SpanFlag,
  ToolDefinition,
} from '../../session/session.ts';

/** One raw message of a list, understood. */
export interface Turn {
  /** 0-based index in the raw list. */
  readonly position: number;
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly blocks: readonly Block[];
  /** `note`: said by the framework or relayed; becomes a message span whatever its role. */
  readonly note?: boolean;
  /** Speaker as recorded; stands in the message. */
  readonly speaker?: string;
  /** Who acts. */
  readonly agent?: string | null;
  /** Span name; default by kind. */
  readonly name?: string;
  /** Tool name of a `tool` message, where it says. */
  readonly toolName?: string;
  /** The call that a `tool` turn answers, where the log records both in one entry. */
  readonly call?: { readonly name: string; readonly arguments: JsonValue; readonly argumentsRaw?: string };
  readonly errors?: readonly SpanError[];
  readonly flags?: readonly SpanFlag[];
  readonly startTimeUnixNano?: string | null;
  readonly endTimeUnixNano?: string | null;
  readonly systemPrompt?: string;
  readonly model?: string;
  readonly responseId?: string;
  readonly finishReasons?: string[];
  readonly usage?: { inputTokens: number; outputTokens: number };
}

export interface Conversation {
  readonly sessionId: string;
  readonly format: string;
  readonly turns: readonly Turn[];
  readonly goal?: string | null;
  readonly agent?: string | null;
  readonly service?: string | null;
  readonly tools?: ToolDefinition[] | undefined;
}

interface PendingCall {
  readonly spanId: string;
  readonly name: string;
  readonly arguments: JsonValue;
  readonly argumentsRaw: string | undefined;
  readonly toolCallId: string | null;
  answered: boolean;
}

type ToolResult = Block & { type: 'tool_result' };

/**
 * Lays a list of messages out as a session: one trace, one span a raw message with its `sourcePosition`.
 *
 * assistant → `inference` with the message as output; tool results → `execute_tool`, child of the call they answer;
 * everything else → `message`. A message that carries several results, or results and text, gives one span for each
 * (`m7`, `m7.1`, …) at the same position, and so do entries that stand at one position. Results are paired with calls by id; a repeated id by (id, order) with the
 * flag `duplicate-call-id`; without an id by name and order with the flag `paired-by-position`.
 */
export function buildConversation(conversation: Conversation): Session {
  const traceId = conversation.sessionId;
  const spans: Span[] = [];
  const calls = new PendingCalls();
  let toolsStated = false;
  const parts = new Map<number, number>();

  for (const turn of conversation.turns) {
    const nextBase = () => {
      const part = parts.get(turn.position) ?? 0;
      parts.set(turn.position, part + 1);
      const spanId = part === 0 ? `m${turn.position}` : `m${turn.position}.${part}`;
      return {
        spanId,
        traceId,
        parentSpanId: null,
        agent: turn.agent ?? null,
        startTimeUnixNano: turn.startTimeUnixNano ?? null,
        endTimeUnixNano: turn.endTimeUnixNano ?? null,
        status: turn.errors !== undefined && turn.errors.length > 0 ? ('error' as const) : ('unset' as const),
        errors: [...(turn.errors ?? [])],
        flags: [...(turn.flags ?? [])],
        sourcePosition: turn.position,
      };
    };

    if (turn.role === 'assistant' && turn.note !== true) {
      const base = nextBase();
      const tools = toolsStated ? undefined : conversation.tools;
      if (tools !== undefined) toolsStated = true;
      spans.push({
        ...base,
        kind: 'inference',
        name: turn.name ?? 'chat',
        input: [],
        output: [messageOf(turn, turn.blocks)],
        ...(tools === undefined ? {} : { tools }),
        ...(turn.systemPrompt === undefined ? {} : { systemPrompt: turn.systemPrompt }),
        ...(turn.model === undefined ? {} : { model: turn.model }),
        ...(turn.responseId === undefined ? {} : { responseId: turn.responseId }),
        ...(turn.finishReasons === undefined ? {} : { finishReasons: turn.finishReasons }),
        ...(turn.usage === undefined ? {} : { usage: turn.usage }),
      });
      for (const block of turn.blocks) {
        if (block.type !== 'tool_use') continue;
        calls.ask({
          spanId: base.spanId,
          name: block.name,
          arguments: block.arguments,
          argumentsRaw: block.argumentsRaw,
          toolCallId: block.toolCallId,
          answered: false,
        });
      }
      continue;
    }

    const answers =
      turn.note === true
        ? []
        : turn.blocks.filter((block): block is ToolResult => block.type === 'tool_result');
    // A call that the log records whole and that never ended has no result.
    const results = turn.call !== undefined && answers.length === 0 ? [null] : answers;
    for (const result of results) {
      const base = nextBase();
      const { call, flags } =
        turn.call === undefined
          ? calls.answer(result?.toolCallId ?? null, turn.toolName)
          : { call: { ...turn.call, spanId: null, toolCallId: result?.toolCallId ?? null }, flags: [] };
      const name = call?.name ?? turn.toolName ?? 'unknown';
      spans.push({
        ...base,
        kind: 'execute_tool',
        name: turn.name ?? name,
        parentSpanId: call?.spanId ?? null,
        flags: [...base.flags, ...flags],
        toolCall: {
          name,
          arguments: call?.arguments ?? null,
          ...(call?.argumentsRaw === undefined ? {} : { argumentsRaw: call.argumentsRaw }),
          toolCallId: call?.toolCallId ?? result?.toolCallId ?? null,
        },
        toolResult:
          result === null
            ? null
            : { content: result.content, isError: result.isError, toolCallId: result.toolCallId },
      });
    }
    const rest = turn.blocks.filter((block) => turn.note === true || block.type !== 'tool_result');
    // A message without any content is still a message that labels and readers count.
    if (rest.length > 0 || results.length === 0) {
      spans.push({
        ...nextBase(),
        kind: 'message',
        name: turn.name ?? turn.role,
        message: messageOf(turn, rest),
      });
    }
  }

  return {
    sessionId: conversation.sessionId,
    format: conversation.format,
    traces: spans.length === 0 ? [] : [{ traceId, sessionId: conversation.sessionId, spans }],
    goal: conversation.goal ?? null,
    agent: conversation.agent ?? null,
    service: conversation.service ?? null,
    unread: [],
  };
}

function messageOf(turn: Turn, blocks: readonly Block[]): Message {
  return {
    role: turn.role,
    ...(turn.speaker === undefined ? {} : { name: turn.speaker }),
    content: [...blocks],
  };
}

/** Calls in order of asking; the oldest open one is found in constant time, since logs of 100,000 messages are real. */
class CallQueue {
  readonly calls: PendingCall[] = [];
  #next = 0;

  oldestOpen(): PendingCall | undefined {
    while (this.calls[this.#next]?.answered === true) this.#next += 1;
    return this.calls[this.#next];
  }
}

class PendingCalls {
  readonly #queues = new Map<string, CallQueue>();

  ask(call: PendingCall): void {
    for (const id of [idKey(call.toolCallId), ANY]) {
      for (const name of [nameKey(call.name), ANY]) {
        const key = JSON.stringify([id, name]);
        const queue = this.#queues.get(key) ?? new CallQueue();
        queue.calls.push(call);
        this.#queues.set(key, queue);
      }
    }
  }

  answer(
    toolCallId: string | null,
    toolName: string | undefined,
  ): { call: PendingCall | undefined; flags: SpanFlag[] } {
    const sameId = toolCallId === null ? undefined : this.#find(idKey(toolCallId), ANY);
    if (sameId !== undefined) {
      const open = sameId.oldestOpen();
      const repeated = open === undefined || sameId.calls.length > 1;
      return { call: close(open ?? sameId.calls.at(-1)), flags: repeated ? ['duplicate-call-id'] : [] };
    }
    // An id that no call has: whoever asked is not in this log, and a call with another id must not be taken for it.
    const id = toolCallId === null ? ANY : idKey(null);
    const open = this.#find(id, toolName === undefined ? ANY : nameKey(toolName))?.oldestOpen();
    return { call: close(open), flags: [open === undefined ? 'content-absent' : 'paired-by-position'] };
  }

  #find(id: string, name: string): CallQueue | undefined {
    return this.#queues.get(JSON.stringify([id, name]));
  }
}

const ANY = '*';
const idKey = (id: string | null): string => (id === null ? '-' : `=${id}`);
const nameKey = (name: string): string => `=${name}`;

function close(call: PendingCall | undefined): PendingCall | undefined {
  if (call !== undefined) call.answered = true;
  return call;
}
