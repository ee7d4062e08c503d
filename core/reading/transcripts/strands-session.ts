import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { SessionInvalidError } from '../../errors/errors.ts';
import type {
  Block,
  Message,
  Session,
  Span,
  SpanError,
  SpanFlag,
  Trace,
  Unread,
} from '../../session/session.ts';
import { arrange, type TreeNode } from '../assembly/tree.ts';
import { readArguments } from '../conventions/blocks.ts';
import { readToolDefinitions } from '../conventions/tool-definitions.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { plainText, readBlocks, toolUse } from './blocks.ts';
import { objectAt, objectsIn, sourceStem, textAt } from './fields.ts';

const TYPES: ReadonlySet<string> = new Set(['inference', 'execute_tool', 'invoke_agent']);

function spanType(span: JsonObject): string | undefined {
  return textAt(span, 'span_type', 'spanType');
}

/** `Session` of Strands Evals as JSON: traces of spans with `span_type`, in snake case or camel case. */
export const strandsSession: TranscriptFormat = {
  id: 'strands-session',
  title: 'Strands Evals Session JSON',
  knownBy: '{session_id, traces: [{spans: [{span_type, span_info}]}]}',
  from: 'a `Session` of strands-agents-evals as JSON (`session.model_dump_json()`), as its detectors take it',
  checkedOn: 'Strands Evals test fixtures and detectors (2026-11)',

  recognise(document) {
    if (!isJsonObject(document) || typeof document.format === 'string') return { match: 'no' };
    const traces = objectsIn(document.traces);
    if (traces.length === 0) return { match: 'no' };
    const spans = traces.flatMap((trace) => objectsIn(trace.spans));
    if (!traces.every((trace) => Array.isArray(trace.spans))) return { match: 'no' };
    return spans.length === 0 || spans.some((span) => spanType(span) !== undefined)
      ? { match: 'yes', sure: 0.95 }
      : { match: 'no' };
  },

  read(document, source) {
    const record = isJsonObject(document) ? document : {};
    const sessionId = textAt(record, 'session_id', 'sessionId') ?? sourceStem(source);
    const unread: Unread[] = [];
    const traces = objectsIn(record.traces).map((trace, index) =>
      readTrace(trace, index, sessionId, (reason) =>
        unread.push({ where: `trace ${index}`, reason, count: 1 }),
      ),
    );
    const spans = traces.flatMap((trace) => trace.spans);
    const agent = spans.find((span) => span.kind === 'invoke_agent' && span.agent !== null)?.agent ?? null;
    if (spans.length === 0) {
      throw new SessionInvalidError(
        `${source}: a Strands session without a span that can be read. Expected spans with span_type ` +
          `${[...TYPES].join(', ')}; check that the session was exported after it had run.`,
      );
    }
    const session: Session = {
      sessionId,
      format: this.id,
      traces: withUniqueIds(traces),
      goal: null,
      agent,
      service: null,
      unread: [],
    };
    return { sessions: [session], unread };
  },
};

interface Node extends TreeNode {
  readonly span: Span;
}

function readTrace(
  trace: JsonObject,
  index: number,
  sessionId: string,
  refuse: (reason: string) => void,
): Trace {
  const traceId = textAt(trace, 'trace_id', 'traceId') ?? `${sessionId}-trace-${index}`;
  const nodes = objectsIn(trace.spans).flatMap((record, place): Node[] => {
    const type = spanType(record);
    if (type === undefined || !TYPES.has(type)) {
      refuse(`a span of type ${String(type ?? 'none').slice(0, 60)}`);
      return [];
    }
    const flags = new Set<SpanFlag>();
    const span = readSpan(record, type, traceId, `${index}-${place}`, flags);
    return [
      {
        span,
        spanId: span.spanId,
        statedParent: span.parentSpanId,
        start: span.startTimeUnixNano,
        end: span.endTimeUnixNano,
        detached: false,
        flags,
        parentSpanId: null,
        depth: 0,
      },
    ];
  });
  return {
    traceId,
    sessionId,
    spans: arrange(nodes).map(({ span, parentSpanId, flags }) => ({
      ...span,
      parentSpanId,
      flags: [...flags].sort(),
    })),
  };
}

function readSpan(
  record: JsonObject,
  type: string,
  traceId: string,
  fallbackId: string,
  flags: Set<SpanFlag>,
): Span {
  const info = objectAt(record, 'span_info') ?? objectAt(record, 'spanInfo') ?? {};
  const metadata = objectAt(record, 'metadata') ?? {};
  const base = {
    spanId: textAt(info, 'span_id', 'spanId') ?? `span-${fallbackId}`,
    traceId,
    parentSpanId: textAt(info, 'parent_span_id', 'parentSpanId') ?? null,
    agent: textAt(metadata, 'agent_name', 'agentName', 'gen_ai.agent.name') ?? null,
    startTimeUnixNano: toUnixNano(info.start_time ?? info.startTime),
    endTimeUnixNano: toUnixNano(info.end_time ?? info.endTime),
    status: 'unset' as const,
    errors: [],
    flags: [],
  };
  switch (type) {
    case 'execute_tool':
      return readTool(record, base, flags);
    case 'invoke_agent':
      return {
        ...base,
        kind: 'invoke_agent',
        name: base.agent ?? 'invoke_agent',
        userPrompt: textAt(record, 'user_prompt', 'userPrompt') ?? null,
        agentResponse: textAt(record, 'agent_response', 'agentResponse') ?? null,
        availableTools: readToolDefinitions(record.available_tools ?? record.availableTools),
        systemPrompt: textAt(record, 'system_prompt', 'systemPrompt') ?? null,
      };
    default: {
      const messages = objectsIn(record.messages).map((message) => readMessage(message, flags));
      // What the model answered stands last; what it was given comes before it.
      const answers = messages.length - 1 - messages.findLastIndex((message) => message.role !== 'assistant');
      return {
        ...base,
        kind: 'inference',
        name: 'chat',
        input: messages.slice(0, messages.length - answers),
        output: messages.slice(messages.length - answers),
      };
    }
  }
}

type Base = Pick<
  Span,
  'spanId' | 'traceId' | 'parentSpanId' | 'agent' | 'startTimeUnixNano' | 'endTimeUnixNano' | 'flags'
>;

function readTool(record: JsonObject, base: Base, flags: Set<SpanFlag>): Span {
  const call = objectAt(record, 'tool_call') ?? objectAt(record, 'toolCall') ?? {};
  const result = objectAt(record, 'tool_result') ?? objectAt(record, 'toolResult');
  const name = textAt(call, 'name') ?? 'unknown';
  const toolCallId = textAt(call, 'tool_call_id', 'toolCallId') ?? null;
  const error = result === undefined ? undefined : textAt(result, 'error');
  const errors: SpanError[] = error === undefined ? [] : [{ source: 'tool-status', message: error }];
  return {
    ...base,
    kind: 'execute_tool',
    name,
    status: error === undefined ? 'unset' : 'error',
    errors,
    toolCall: { name, toolCallId, ...readArguments(call.arguments ?? {}, flags) },
    toolResult:
      result === undefined
        ? null
        : {
            content: plainText(result.content) || (error ?? ''),
            isError: error !== undefined,
            toolCallId: textAt(result, 'tool_call_id', 'toolCallId') ?? toolCallId,
          },
  };
}

function readMessage(message: JsonObject, flags: Set<SpanFlag>): Message {
  const parts = Array.isArray(message.content) ? message.content : [message.content ?? null];
  const content = parts.flatMap((part) => readContent(part, flags));
  const onlyResults = content.length > 0 && content.every((block) => block.type === 'tool_result');
  const role = textAt(message, 'role')?.toLowerCase();
  return {
    role: onlyResults || role === 'tool' ? 'tool' : role === 'assistant' || role === 'system' ? role : 'user',
    content,
  };
}

/** Blocks name their kind in `content_type`; a result states its error beside the content. */
function readContent(part: JsonValue, flags: Set<SpanFlag>): Block[] {
  if (!isJsonObject(part)) return readBlocks(part, flags);
  const type = textAt(part, 'content_type', 'contentType', 'type');
  if (type === 'tool_use') {
    const id = textAt(part, 'tool_call_id', 'toolCallId', 'id') ?? null;
    return [toolUse(id, textAt(part, 'name') ?? 'unknown', part.arguments ?? part.input, flags)];
  }
  if (type === 'tool_result') {
    const error = textAt(part, 'error');
    return [
      {
        type: 'tool_result',
        toolCallId: textAt(part, 'tool_call_id', 'toolCallId') ?? null,
        content: plainText(part.content) || (error ?? ''),
        isError: error !== undefined,
      },
    ];
  }
  return readBlocks(part, flags);
}

/** Ids are unique within a trace only; a later trace's repeated id gets its trace id in front. */
function withUniqueIds(traces: readonly Trace[]): Trace[] {
  const taken = new Set<string>();
  return traces.map((trace) => {
    const names = new Map<string, string>();
    for (const { spanId } of trace.spans) {
      let name = spanId;
      for (let n = 1; taken.has(name); n += 1)
        name = n === 1 ? `${trace.traceId}:${spanId}` : `${trace.traceId}:${spanId}-${n}`;
      taken.add(name);
      names.set(spanId, name);
    }
    return {
      ...trace,
      spans: trace.spans.map((span) => ({
        ...span,
        spanId: names.get(span.spanId) ?? span.spanId,
        parentSpanId: span.parentSpanId === null ? null : (names.get(span.parentSpanId) ?? span.parentSpanId),
      })),
    };
  });
}
