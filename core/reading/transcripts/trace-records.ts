import type { JsonValue } from '../../base/json.ts';
import { type Attributes, emptyAttributes } from '../decode/decode-values.ts';
import type { RawSpan } from '../decode/format.ts';

/** One observation or run of a tracing product, in the words that `traceRecord` turns into a span. */
export interface TraceEntry {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly role: 'model' | 'tool' | 'agent' | 'other';
  /** Who acts; default: the name of an entry whose role is `agent`. */
  readonly agent?: string | null;
  readonly startTimeUnixNano: string | null;
  readonly endTimeUnixNano: string | null;
  readonly sessionId: string | null;
  readonly input: JsonValue | undefined;
  readonly output: JsonValue | undefined;
  /** Message of a failure that the product states; `null` when it states none. */
  readonly error: string | null;
  readonly model?: string | undefined;
  readonly tools?: JsonValue | undefined;
  readonly finishReasons?: JsonValue | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly service?: string | undefined;
}

const OPERATIONS = { model: 'chat', tool: 'execute_tool', agent: 'invoke_agent', other: 'other' } as const;

/**
 * Writes the entry as a span of OpenTelemetry's GenAI conventions, which the `otel-genai` convention reads. Exports of
 * tracing products are trees of timed spans like telemetry, so assembly (order, cycles, pairing, duplicates) does
 * for them what it does for telemetry.
 */
export function traceRecord(entry: TraceEntry): RawSpan {
  const attributes: Attributes = emptyAttributes();
  const put = (key: string, value: JsonValue | undefined): void => {
    if (value !== undefined && value !== null && value !== '') attributes[key] = value;
  };
  put('gen_ai.operation.name', OPERATIONS[entry.role]);
  put('session.id', entry.sessionId ?? undefined);
  put('gen_ai.request.model', entry.model);
  put('gen_ai.usage.input_tokens', entry.inputTokens);
  put('gen_ai.usage.output_tokens', entry.outputTokens);
  put('gen_ai.response.finish_reasons', entry.finishReasons);
  put('gen_ai.tool.definitions', entry.tools);
  if (entry.role === 'tool') {
    put('gen_ai.tool.name', entry.name);
    put('gen_ai.tool.call.arguments', entry.input);
    put('gen_ai.tool.call.result', entry.output);
  } else {
    // Opaque values: lists of messages, LangChain objects and plain text are told apart by the convention.
    put('input.value', entry.input);
    put('output.value', entry.output);
  }
  put('gen_ai.agent.name', entry.agent === undefined && entry.role === 'agent' ? entry.name : entry.agent);
  const resource = emptyAttributes();
  if (entry.service !== undefined) resource['service.name'] = entry.service;
  return {
    type: 'span',
    traceId: entry.traceId,
    spanId: entry.spanId,
    parentSpanId: entry.parentSpanId,
    name: entry.name,
    kind: 'INTERNAL',
    startTimeUnixNano: entry.startTimeUnixNano,
    endTimeUnixNano: entry.endTimeUnixNano,
    scope: { name: '', version: '' },
    resource,
    attributes,
    events: [],
    status: entry.error === null ? { code: 'unset', message: null } : { code: 'error', message: entry.error },
    inProgress: false,
  };
}
