import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { assembleSessions } from '../assembly/assemble.ts';
import { readSpanId } from '../decode/decode-ids.ts';
import { unwrapJson } from '../decode/decode-json.ts';
import { readAttributes, readStatus } from '../decode/decode-values.ts';
import type { RawSpan, TranscriptFormat } from '../decode/format.ts';
import { readUnixNano } from '../decode/times.ts';
import { numberAt, objectAt, objectsIn, textAt } from './fields.ts';
import { type TraceEntry, traceRecord } from './trace-records.ts';

interface MlflowTrace {
  readonly info: JsonObject;
  readonly spans: readonly JsonObject[];
}

/**
 * Traces of MLflow (mlflow 3.17.2 `entities/trace*.py`, `entities/span.py`; v2 and v3 of `info` and of spans): exported
 * traces, the artifact `traces.json`, and rows of `search_traces()`. Attribute values are JSON text. Assessments are not
 * read.
 */
export const mlflow: TranscriptFormat = {
  id: 'mlflow',
  title: 'MLflow traces',
  knownBy:
    '{info: {trace_id | request_id}, data: {spans}}, {spans} with mlflow.traceRequestId, or rows {trace_id, trace | spans}',
  from: '`mlflow.search_traces()` rows, `Trace.to_json()`, or a run’s artifact `traces.json`',
  checkedOn: 'mlflow 3.17.2 (v2 and v3)',

  recognise(document) {
    const sample = listOf(document).slice(0, 20);
    if (sample.some((item) => traceOf(item) !== null)) return { match: 'yes', sure: 0.95 };
    const [first] = sample;
    return isJsonObject(first) && isJsonObject(first.trace) && isJsonObject(first.trace.trace_info)
      ? {
          match: 'foreign',
          name: 'the info of an MLflow trace without its spans',
          advice: 'Export the whole trace: mlflow.get_trace(id).to_json(), or the artifact traces.json.',
        }
      : { match: 'no' };
  },

  read(document, source) {
    const items = listOf(document);
    const traces = items.flatMap((item) => traceOf(item) ?? []);
    const { sessions, unread } = assembleSessions(traces.flatMap(readTrace), { format: this.id });
    const skipped = items.length - traces.length;
    const why = { where: source, reason: 'no trace of MLflow with spans', count: skipped };
    return { sessions, unread: skipped === 0 ? unread : [...unread, why] };
  },
};

function listOf(document: JsonValue): JsonValue[] {
  if (isJsonObject(document) && Array.isArray(document.traces)) return document.traces;
  return Array.isArray(document) ? document : [document];
}

function traceOf(item: JsonValue | undefined): MlflowTrace | null {
  if (!isJsonObject(item)) return null;
  const info = objectAt(item, 'info');
  const data = objectAt(item, 'data');
  if (info !== undefined && data !== undefined && Array.isArray(data.spans))
    return textAt(info, 'trace_id', 'request_id') === undefined
      ? null
      : { info, spans: objectsIn(data.spans) };
  // A row of a data frame holds the trace as text, or its spans.
  if (typeof item.trace === 'string' && typeof item.trace_id === 'string')
    return traceOf(unwrapJson(item.trace, 1).value);
  const spans = objectsIn(item.spans);
  const ours = spans.some(
    (span) => isJsonObject(span.attributes) && 'mlflow.traceRequestId' in span.attributes,
  );
  return ours ? { info: item, spans } : null;
}

function readTrace({ info, spans }: MlflowTrace): RawSpan[] {
  const traceId =
    textAt(info, 'trace_id', 'request_id') ??
    String(unwrapJson(objectAt(spans[0] ?? {}, 'attributes')?.['mlflow.traceRequestId'] ?? 'trace', 1).value);
  const metadata = objectAt(info, 'trace_metadata') ?? objectAt(info, 'request_metadata') ?? {};
  const sessionId = textAt(metadata, 'mlflow.trace.session') ?? null;
  return spans.map((span) => readSpan(span, traceId, sessionId));
}

function readSpan(span: JsonObject, traceId: string, sessionId: string | null): RawSpan {
  const context = objectAt(span, 'context') ?? span;
  const attributes = readAttributes(
    Object.fromEntries(
      Object.entries(objectAt(span, 'attributes') ?? {}).map(([key, value]) => [
        key,
        unwrapJson(value, 1).value,
      ]),
    ),
  );
  const { status, error } = outcomeOf(span);
  const parentSpanId = readSpanId(span.parent_span_id ?? span.parent_id);
  const usage = isJsonObject(attributes['mlflow.chat.tokenUsage'])
    ? attributes['mlflow.chat.tokenUsage']
    : {};
  const role = roleOf(attributes, parentSpanId === null);
  const entry: TraceEntry = {
    traceId,
    spanId: readSpanId(context.span_id) ?? traceId,
    parentSpanId,
    name: textAt(span, 'name') ?? 'span',
    role,
    // A function's root span has the name of the function; only an agent's has that of the agent.
    ...(attributes['mlflow.spanType'] === 'AGENT' ? {} : { agent: null }),
    startTimeUnixNano: readUnixNano(span.start_time_unix_nano ?? span.start_time),
    endTimeUnixNano: readUnixNano(span.end_time_unix_nano ?? span.end_time),
    sessionId,
    input: attributes['mlflow.spanInputs'],
    output: attributes['mlflow.spanOutputs'],
    error,
    model: textAt(attributes, 'mlflow.llm.model'),
    tools: attributes['mlflow.chat.tools'],
    inputTokens: numberAt(usage, 'input_tokens'),
    outputTokens: numberAt(usage, 'output_tokens'),
  };
  const record = traceRecord(entry);
  // Spans that came in over OTLP keep the attributes of their own convention.
  const hasConvention = 'gen_ai.operation.name' in attributes || 'openinference.span.kind' in attributes;
  return {
    ...record,
    status,
    attributes: hasConvention
      ? { ...attributes, ...(sessionId === null ? {} : { 'session.id': sessionId }) }
      : record.attributes,
  };
}

/** Status of v3 `{code: 'STATUS_CODE_ERROR', message}`, of v2 `status_code` and `status_message`; the message may stand in an exception event alone. */
function outcomeOf(span: JsonObject): { status: RawSpan['status']; error: string | null } {
  const status = readStatus(
    span.status ?? { code: span.status_code ?? null, message: span.status_message ?? null },
  );
  const exception = objectsIn(span.events)
    .map((event) => objectAt(event, 'attributes') ?? {})
    .map((attributes) => textAt(attributes, 'exception.message', 'exception.type'))
    .find((message) => message !== undefined);
  if (status.code !== 'error') return { status, error: null };
  const message = status.message ?? exception ?? 'error';
  return { status: { code: 'error', message }, error: message };
}

function roleOf(attributes: RawSpan['attributes'], isRoot: boolean): TraceEntry['role'] {
  switch (attributes['mlflow.spanType']) {
    case 'LLM':
    case 'CHAT_MODEL':
      return 'model';
    case 'TOOL':
    case 'RETRIEVER':
      return 'tool';
    case 'AGENT':
      return 'agent';
    default:
      // What the user asked and was told stands at the root, whatever its type.
      return isRoot ? 'agent' : 'other';
  }
}
