import { sha256Hex } from '../../core/base/hash.ts';
import type { Block, Message, Session, Span } from '../../core/session/session.ts';

/**
 * A session as the reference detectors send it to a model: Strands' `Session` shape as indented JSON, each span with
 * its own info. The yardstick for our rendering.
 *
 * The shape requires trace and span ids as OpenTelemetry makes them (32 and 16 hex digits) and ISO times; where the
 * source has none (chat lists), stand-ins are filled in. History is given as the spans hold it: none for chat lists,
 * so the comparison does not count in our favour that Strands telemetry repeats it at every call.
 */
export function strandsJson(session: Session): string {
  const told = new Set<string>();
  return JSON.stringify(
    {
      traces: session.traces.map((trace) => ({
        trace_id: hexId(trace.traceId, 32),
        session_id: trace.sessionId,
        spans: trace.spans.map((span, i) => strandsSpan(span, session.sessionId, i, told)),
      })),
      session_id: session.sessionId,
    },
    null,
    2,
  );
}

const STAND_IN_START_MS = Date.UTC(2026, 0, 1);

function hexId(id: string, digits: number): string {
  return /^[0-9a-f]+$/.test(id) && id.length === digits ? id : sha256Hex(id).slice(0, digits);
}

/** Microseconds, as Python's `datetime` is written. */
function isoTime(nanoseconds: string | null, standInMs: number): string {
  const micros = nanoseconds === null ? BigInt(standInMs) * 1000n : BigInt(nanoseconds) / 1000n;
  const iso = new Date(Number(micros / 1000n)).toISOString().slice(0, -1);
  return `${iso}${String(micros % 1000n).padStart(3, '0')}+00:00`;
}

/** A system prompt of an inference span, the first time it is stated: the shape has no place of its own for it. */
function newPrompt(span: Span, told: Set<string>): object {
  if (span.kind !== 'inference' || span.systemPrompt === undefined || told.has(span.systemPrompt)) return {};
  told.add(span.systemPrompt);
  return { system_prompt: span.systemPrompt };
}

function strandsSpan(span: Span, sessionId: string, index: number, told: Set<string>): object {
  const info = {
    span_info: {
      trace_id: hexId(span.traceId, 32),
      span_id: hexId(span.spanId, 16),
      session_id: sessionId,
      parent_span_id: span.parentSpanId === null ? null : hexId(span.parentSpanId, 16),
      start_time: isoTime(span.startTimeUnixNano, STAND_IN_START_MS + index * 2741),
      end_time: isoTime(span.endTimeUnixNano, STAND_IN_START_MS + index * 2741 + 1873),
    },
    metadata: newPrompt(span, told),
  };
  switch (span.kind) {
    case 'inference':
      return {
        span_type: 'inference',
        ...info,
        messages: [...span.input, ...span.output].map(strandsMessage),
      };
    case 'message':
      return { span_type: 'inference', ...info, messages: [strandsMessage(span.message)] };
    case 'execute_tool':
      return {
        span_type: 'execute_tool',
        ...info,
        tool_call: {
          name: span.toolCall.name,
          arguments: span.toolCall.arguments,
          tool_call_id: span.toolCall.toolCallId,
        },
        tool_result: {
          content: span.toolResult?.content ?? '',
          error: span.toolResult?.isError === true ? span.toolResult.content : null,
          tool_call_id: span.toolResult?.toolCallId ?? null,
        },
      };
    case 'invoke_agent':
      return {
        span_type: 'invoke_agent',
        ...info,
        user_prompt: span.userPrompt,
        agent_response: span.agentResponse,
        available_tools: span.availableTools,
        system_prompt: span.systemPrompt,
      };
    case 'other':
      return { span_type: 'other', ...info, metadata: span.attributes };
  }
}

function strandsMessage(message: Message): object {
  return { role: message.role, content: message.content.map(strandsBlock) };
}

function strandsBlock(block: Block): object {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return { content_type: 'text', text: block.text };
    case 'tool_use':
      return {
        content_type: 'tool_use',
        name: block.name,
        arguments: block.arguments,
        tool_call_id: block.toolCallId,
      };
    case 'tool_result':
      return {
        content_type: 'tool_result',
        content: block.content,
        error: block.isError === true ? block.content : null,
        tool_call_id: block.toolCallId,
      };
    case 'media':
      return { content_type: 'text', text: `[${block.mediaType}]` };
  }
}
