import type { JsonValue } from '../../core/base/json.ts';
import type {
  AgentSpan,
  Block,
  InferenceSpan,
  Message,
  MessageSpan,
  OtherSpan,
  Session,
  Span,
  ToolSpan,
} from '../../core/session/session.ts';

/** Small builders for sessions in tests; every field can be overridden. Span ids count up within a session. */

export const text = (value: string): Block => ({ type: 'text', text: value });
export const use = (toolCallId: string | null, name: string, args: JsonValue = {}): Block => ({
  type: 'tool_use',
  toolCallId,
  name,
  arguments: args,
});
export const result = (
  toolCallId: string | null,
  content: string,
  isError: boolean | null = null,
): Block => ({ type: 'tool_result', toolCallId, content, isError });
export const message = (role: Message['role'], ...content: (Block | string)[]): Message => ({
  role,
  content: content.map((item) => (typeof item === 'string' ? text(item) : item)),
});

type Draft = (spanId: string) => Span;
const base = (spanId: string) => ({
  spanId,
  traceId: 't1',
  parentSpanId: null,
  name: spanId,
  agent: null,
  startTimeUnixNano: null,
  endTimeUnixNano: null,
  status: 'unset' as const,
  errors: [],
  flags: [],
});

export const inference =
  (input: Message[], output: Message[], more: Partial<InferenceSpan> = {}): Draft =>
  (spanId) => ({ ...base(spanId), kind: 'inference', input, output, ...more });
export const tool =
  (
    toolCallId: string | null,
    name: string,
    args: JsonValue,
    content: string | null,
    more: Partial<ToolSpan> = {},
  ): Draft =>
  (spanId) => ({
    ...base(spanId),
    kind: 'execute_tool',
    toolCall: { name, arguments: args, toolCallId },
    toolResult: content === null ? null : { content, isError: null, toolCallId },
    ...more,
  });
export const agent =
  (userPrompt: string | null, agentResponse: string | null, more: Partial<AgentSpan> = {}): Draft =>
  (spanId) => ({
    ...base(spanId),
    kind: 'invoke_agent',
    userPrompt,
    agentResponse,
    availableTools: [],
    systemPrompt: null,
    ...more,
  });
export const said =
  (said: Message, more: Partial<MessageSpan> = {}): Draft =>
  (spanId) => ({ ...base(spanId), kind: 'message', message: said, ...more });
export const other =
  (attributes: OtherSpan['attributes'] = {}, more: Partial<OtherSpan> = {}): Draft =>
  (spanId) => ({ ...base(spanId), kind: 'other', attributes, ...more });

export function session(drafts: Draft[], more: Partial<Session> = {}): Session {
  return {
    sessionId: 'session-1',
    format: 'test',
    traces: [
      { traceId: 't1', sessionId: 'session-1', spans: drafts.map((draft, i) => draft(`span-${i + 1}`)) },
    ],
    goal: null,
    agent: null,
    service: null,
    unread: [],
    ...more,
  };
}
