import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { assembleSessions } from '../assembly/assemble.ts';
import { unwrapJson } from '../decode/decode-json.ts';
import type { RawSpan, TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { arrayAt, numberAt, objectAt, objectsIn, textAt } from './fields.ts';
import { type TraceEntry, traceRecord } from './trace-records.ts';

interface ExportedTrace {
  readonly trace: JsonObject;
  readonly observations: readonly JsonObject[];
}

/** `{trace, observations}`, or a trace that holds its observations itself. */
function exportedTrace(value: JsonValue | undefined): ExportedTrace | null {
  if (!isJsonObject(value)) return null;
  const list = arrayAt(value, 'observations');
  const trace = objectAt(value, 'trace') ?? (typeof value.id === 'string' ? value : undefined);
  if (list === undefined || trace === undefined) return null;
  const observations = objectsIn(list);
  const known = observations.every((item) => typeof item.id === 'string' && typeof item.type === 'string');
  return known ? { trace, observations } : null;
}

/** Exports of Langfuse: a trace with its observations, or a list of these. Input, output and metadata may be null or JSON text. */
export const langfuse: TranscriptFormat = {
  id: 'langfuse',
  title: 'Langfuse exports',
  knownBy: '{trace, observations: [{id, type, input, output, level}]}, or {id, observations}',

  recognise(document) {
    const first = Array.isArray(document) ? document[0] : document;
    return exportedTrace(first) === null ? { match: 'no' } : { match: 'yes', sure: 0.9 };
  },

  read(document, source) {
    const traces = (Array.isArray(document) ? document : [document]).map(exportedTrace);
    const records = traces.flatMap((trace) => (trace === null ? [] : readTrace(trace)));
    const skipped = traces.filter((trace) => trace === null).length;
    const { sessions, unread } = assembleSessions(records, { format: this.id });
    return {
      sessions,
      unread:
        skipped === 0 ? unread : [...unread, { where: source, reason: 'not a trace export', count: skipped }],
    };
  },
};

function readTrace({ trace, observations }: ExportedTrace): RawSpan[] {
  const traceId = textAt(trace, 'id') ?? textAt(observations[0] ?? {}, 'traceId', 'trace_id') ?? 'trace';
  const metadata = unwrapJson(trace.metadata ?? null).value;
  const sessionId =
    textAt(trace, 'sessionId', 'session_id') ??
    (isJsonObject(metadata) ? textAt(metadata, 'sessionId', 'session_id') : undefined) ??
    null;
  const parents = new Set(observations.map(parentOf));
  const entries = observations.map((item) => readObservation(item, traceId, sessionId, parents));
  const starts = entries.map((entry) => entry.startTimeUnixNano).filter((time) => time !== null);
  const stated = toUnixNano(trace.timestamp);
  // The trace is the root of its observations; it has a start and no end of its own.
  const root: TraceEntry = {
    traceId,
    spanId: traceId,
    parentSpanId: null,
    name: textAt(trace, 'name') ?? 'trace',
    role: trace.input === null && trace.output === null ? 'other' : 'agent',
    startTimeUnixNano:
      stated ?? starts.toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))[0] ?? null,
    endTimeUnixNano: null,
    sessionId,
    input: trace.input,
    output: trace.output,
    error: null,
  };
  return [root, ...entries].map(traceRecord);
}

function parentOf(item: JsonObject): string | undefined {
  return textAt(item, 'parentObservationId', 'parent_observation_id');
}

function readObservation(
  item: JsonObject,
  traceId: string,
  sessionId: string | null,
  parents: ReadonlySet<string | undefined>,
): TraceEntry {
  const id = textAt(item, 'id') ?? '';
  const usage =
    objectAt(item, 'usageDetails') ?? objectAt(item, 'usage_details') ?? objectAt(item, 'usage') ?? {};
  const level = textAt(item, 'level');
  const parameters = objectAt(item, 'modelParameters') ?? {};
  const { value: input } = unwrapJson(item.input ?? null);
  return {
    traceId,
    spanId: id,
    parentSpanId: parentOf(item) ?? traceId,
    name: textAt(item, 'name') ?? 'observation',
    role: roleOf(item, parents.has(id)),
    startTimeUnixNano: toUnixNano(item.startTime ?? item.start_time),
    endTimeUnixNano: toUnixNano(item.endTime ?? item.end_time),
    sessionId,
    input: item.input,
    output: item.output,
    error: level === 'ERROR' ? (textAt(item, 'statusMessage', 'status_message') ?? 'error') : null,
    model: textAt(item, 'model', 'providedModelName'),
    tools: (isJsonObject(input) ? input.tools : undefined) ?? parameters.tools,
    inputTokens: numberAt(usage, 'input', 'promptTokens', 'prompt_tokens', 'input_tokens'),
    outputTokens: numberAt(usage, 'output', 'completionTokens', 'completion_tokens', 'output_tokens'),
  };
}

/** Older SDKs know only SPAN: one without children that has input and output is a call of something. */
function roleOf(item: JsonObject, hasChildren: boolean): TraceEntry['role'] {
  switch (textAt(item, 'type')?.toUpperCase()) {
    case 'GENERATION':
      return 'model';
    case 'TOOL':
    case 'RETRIEVER':
      return 'tool';
    case 'AGENT':
      return 'agent';
    case 'SPAN':
      return !hasChildren && item.input !== null && item.output !== null ? 'tool' : 'other';
    default:
      return 'other';
  }
}
