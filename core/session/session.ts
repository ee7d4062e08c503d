import * as z from 'zod';
import type { JsonValue } from '../base/json.ts';

/**
 * The normal form of a session: what every format is read into and everything else works on.
 *
 * A session has traces, a trace has spans, a span is one of five kinds. For message-list formats (chat
 * completions, tau-bench, Magentic-One, Who&When) every raw message is one span and `sourcePosition` is its
 * 0-based index in the raw list, so that published labels can be compared.
 *
 * Times are decimal strings of nanoseconds since the epoch: they exceed 2^53. All text is well-formed Unicode
 * (lone surrogates replaced at the door).
 */

const jsonValue: z.ZodType<JsonValue> = z.json() as z.ZodType<JsonValue>;

export const blockSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  /** Model-internal reasoning, where the producer records it. */
  z.object({ type: z.literal('reasoning'), text: z.string() }),
  z.object({
    type: z.literal('tool_use'),
    toolCallId: z.string().nullable(),
    name: z.string(),
    arguments: jsonValue,
    /** The producer's text, kept when it was not plain JSON or had to be repaired. */
    argumentsRaw: z.string().optional(),
  }),
  z.object({
    type: z.literal('tool_result'),
    toolCallId: z.string().nullable(),
    /** Text as the model saw it; JSON results stay JSON text. */
    content: z.string(),
    /** `null` when the producer does not say. */
    isError: z.boolean().nullable(),
  }),
  /** An image, audio or file: its bytes are not carried, only what identifies it. */
  z.object({ type: z.literal('media'), mediaType: z.string(), byteLength: z.number(), digest: z.string() }),
]);
export type Block = z.infer<typeof blockSchema>;

export const messageSchema = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  /** Speaker in multi-agent logs. */
  name: z.string().optional(),
  content: z.array(blockSchema),
});
export type Message = z.infer<typeof messageSchema>;

export const toolDefinitionSchema = z.object({
  name: z.string(),
  description: z.string().optional(),
  /** JSON Schema of the arguments; absent when the producer does not record it. */
  parameters: jsonValue.optional(),
});
export type ToolDefinition = z.infer<typeof toolDefinitionSchema>;

/** A fact of trouble that the telemetry states about a span. Classification is the checks' business. */
export const spanErrorSchema = z.object({
  source: z.enum(['status', 'error-type', 'exception', 'tool-status', 'http', 'exit-code', 'finish-reason']),
  type: z.string().optional(),
  message: z.string(),
  /** HTTP status or exit code. */
  code: z.number().optional(),
});
export type SpanError = z.infer<typeof spanErrorSchema>;

/** Why something about a span is not as it should be. The coverage and `doctor` speak of these. */
export const spanFlagSchema = z.enum([
  'missing-parent',
  'self-parent',
  'cycle-cut',
  'negative-duration',
  'outlives-parent',
  'in-progress',
  'content-absent',
  'content-redacted',
  'content-truncated',
  'content-not-arrived',
  'content-lost',
  'paired-by-position',
  'duplicate-call-id',
  'arguments-repaired',
  'best-effort-decoded',
  'index-capped',
  'merged-duplicate',
  'second-session-id',
]);
export type SpanFlag = z.infer<typeof spanFlagSchema>;

const spanBase = {
  spanId: z.string().min(1),
  traceId: z.string(),
  parentSpanId: z.string().nullable(),
  name: z.string(),
  /** Who acts: agent or speaker name. `null` when unknown. */
  agent: z.string().nullable(),
  startTimeUnixNano: z.string().nullable(),
  endTimeUnixNano: z.string().nullable(),
  status: z.enum(['ok', 'error', 'unset']),
  errors: z.array(spanErrorSchema),
  flags: z.array(spanFlagSchema),
  /** 0-based index of the raw message, for message-list formats. */
  sourcePosition: z.number().int().nonnegative().optional(),
};

const usageSchema = z.object({ inputTokens: z.number(), outputTokens: z.number() });

export const inferenceSpanSchema = z.object({
  ...spanBase,
  kind: z.literal('inference'),
  /** As recorded: usually the whole history again at each call. `trajectory.ts` removes the repetition. */
  input: z.array(messageSchema),
  output: z.array(messageSchema),
  systemPrompt: z.string().optional(),
  tools: z.array(toolDefinitionSchema).optional(),
  model: z.string().optional(),
  responseId: z.string().optional(),
  /** Producer's words, lower-cased: stop, end_turn, tool_use, length, max_tokens, content_filter, … */
  finishReasons: z.array(z.string()).optional(),
  usage: usageSchema.optional(),
});

export const toolSpanSchema = z.object({
  ...spanBase,
  kind: z.literal('execute_tool'),
  /** The tool as its own span describes it: it exists, but it need not be the only one. */
  definition: toolDefinitionSchema.optional(),
  toolCall: z.object({
    name: z.string(),
    arguments: jsonValue,
    argumentsRaw: z.string().optional(),
    toolCallId: z.string().nullable(),
  }),
  /** `null`: no result was recorded. */
  toolResult: z
    .object({ content: z.string(), isError: z.boolean().nullable(), toolCallId: z.string().nullable() })
    .nullable(),
});

export const agentSpanSchema = z.object({
  ...spanBase,
  kind: z.literal('invoke_agent'),
  userPrompt: z.string().nullable(),
  agentResponse: z.string().nullable(),
  availableTools: z.array(toolDefinitionSchema),
  systemPrompt: z.string().nullable(),
});

/** A turn that is not a traced model call: a user message, a system message, a hand-over note. */
export const messageSpanSchema = z.object({
  ...spanBase,
  kind: z.literal('message'),
  message: messageSchema,
});

/** Any other span: HTTP client calls, queue hops, framework internals. Kept for the tree and its errors. */
export const otherSpanSchema = z.object({
  ...spanBase,
  kind: z.literal('other'),
  /** The few attributes worth showing, e.g. http.url, http.status_code, rpc.method. */
  attributes: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});

export const spanSchema = z.discriminatedUnion('kind', [
  inferenceSpanSchema,
  toolSpanSchema,
  agentSpanSchema,
  messageSpanSchema,
  otherSpanSchema,
]);
export type InferenceSpan = z.infer<typeof inferenceSpanSchema>;
export type ToolSpan = z.infer<typeof toolSpanSchema>;
export type AgentSpan = z.infer<typeof agentSpanSchema>;
export type MessageSpan = z.infer<typeof messageSpanSchema>;
export type OtherSpan = z.infer<typeof otherSpanSchema>;
export type Span = z.infer<typeof spanSchema>;
export type SpanKind = Span['kind'];

export const traceSchema = z.object({
  traceId: z.string(),
  sessionId: z.string(),
  /** In order: by start, parent before child, then arrival. */
  spans: z.array(spanSchema),
});
export type Trace = z.infer<typeof traceSchema>;

/** What could not be read of the input, kept with the reason; never dropped in silence. */
export const unreadSchema = z.object({
  where: z.string(),
  reason: z.string(),
  count: z.number().int().positive(),
});
export type Unread = z.infer<typeof unreadSchema>;

export const sessionSchema = z.object({
  sessionId: z.string().min(1),
  /** Format id of the registry that read it. */
  format: z.string(),
  traces: z.array(traceSchema),
  /** The task, where the format states it apart from the messages (Who&When `question`). */
  goal: z.string().nullable(),
  agent: z.string().nullable(),
  service: z.string().nullable(),
  /** Version of the agent's code as the producer names it (OpenTelemetry `service.version`). */
  release: z.string().optional(),
  unread: z.array(unreadSchema),
});
export type Session = z.infer<typeof sessionSchema>;

/** All spans in order. */
export function sessionSpans(session: Session): Span[] {
  return session.traces.flatMap((trace) => trace.spans);
}
