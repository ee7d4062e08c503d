import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { assembleSessions } from '../assembly/assemble.ts';
import { unwrapJson } from '../decode/decode-json.ts';
import type { RawSpan, TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { arrayAt, numberAt, objectAt, objectsIn, textAt } from './fields.ts';
import { type TraceEntry, traceRecord } from './trace-records.ts';

interface ExportedTrace {
  /** `null`: only observations were exported, and nothing of the trace itself. */
  readonly trace: JsonObject | null;
  readonly observations: readonly JsonObject[];
}

const TYPES: ReadonlySet<string> = new Set([
  'SPAN',
  'GENERATION',
  'EVENT',
  'AGENT',
  'TOOL',
  'CHAIN',
  'RETRIEVER',
  'EVALUATOR',
  'EMBEDDING',
  'GUARDRAIL',
]);

/** `{trace, observations}`, or a trace that holds its observations itself. */
function exportedTrace(value: JsonValue | undefined): ExportedTrace | null {
  if (!isJsonObject(value)) return null;
  const list = arrayAt(value, 'observations');
  const trace = objectAt(value, 'trace') ?? (typeof value.id === 'string' ? value : undefined);
  if (list === undefined || trace === undefined) return null;
  const observations = objectsIn(list);
  const known =
    observations.length === list.length &&
    observations.every((item) => typeof item.id === 'string' && typeof item.type === 'string');
  return known ? { trace, observations } : null;
}

/** An observation by itself, from the API (camelCase) or a blob export or SDK dump (snake_case). */
function isObservation(value: JsonValue | undefined): value is JsonObject {
  if (!isJsonObject(value) || typeof value.id !== 'string' || traceIdOf(value) === undefined) return false;
  const placed = ['parentObservationId', 'parent_observation_id', 'level'].some((key) => key in value);
  const timed = 'startTime' in value || 'start_time' in value;
  return placed && timed && TYPES.has(String(value.type).toUpperCase());
}

/** A row of a blob export's `traces/`: what the observations belong to. */
function isTraceRow(value: JsonValue | undefined): value is JsonObject {
  return (
    isJsonObject(value) &&
    typeof value.id === 'string' &&
    'timestamp' in value &&
    !('type' in value) &&
    ('project_id' in value || 'projectId' in value || 'session_id' in value || 'sessionId' in value)
  );
}

const traceIdOf = (item: JsonObject): string | undefined => textAt(item, 'traceId', 'trace_id');

/** Entries of a document: a trace export, a list, pages `{data, meta}`, or lists and pages one a line. */
function entriesOf(document: JsonValue): JsonValue[] {
  const list = Array.isArray(document) ? document : [document];
  return list.flatMap((item) => {
    const data = isJsonObject(item) && isJsonObject(item.meta) ? item.data : undefined;
    return Array.isArray(data) ? data : [item];
  });
}

const NO_CONTENT =
  'Traces and sessions come without their observations there: export the observations (GET /api/public/observations?traceId=…, or a trace by GET /api/public/traces/{id}).';

/**
 * Exports of Langfuse (langfuse 3.5.0 and 5.0.4 `api/…/observation*.py`; langfuse-docs `blob-storage-export-fields`): a
 * trace with its observations, or observations alone as list, API page (v1, v2), JSON lines or blob export. Input,
 * output and metadata may be null or JSON text. Scores are not read.
 */
export const langfuse: TranscriptFormat = {
  id: 'langfuse',
  title: 'Langfuse traces and observations',
  knownBy:
    '{trace, observations}, {id, observations}, [{id, traceId, type: "GENERATION", startTime, …}] or pages {data, meta} of these',
  from: '`GET /api/public/traces/<id>`, `/api/public/observations?traceId=…` (v1, v2), blob storage exports',
  checkedOn: 'langfuse 3.5.0 and 5.0.4',

  entriesOf,

  recognise(document) {
    const entries = entriesOf(document).slice(0, 20);
    if (entries.some((item) => exportedTrace(item) !== null || isObservation(item)))
      return { match: 'yes', sure: 0.9 };
    const [first] = entries;
    const bare =
      isJsonObject(first) &&
      (('htmlPath' in first && Array.isArray(first.observations)) ||
        (Array.isArray(first.traces) && typeof first.projectId === 'string'));
    return bare
      ? { match: 'foreign', name: 'a list of Langfuse traces without observations', advice: NO_CONTENT }
      : { match: 'no' };
  },

  read(document, source) {
    const entries = entriesOf(document);
    const whole = entries.flatMap((item) => exportedTrace(item) ?? []);
    const loose = entries.filter(isObservation);
    const rows = new Map(entries.filter(isTraceRow).map((row) => [String(row.id), row]));
    const grouped = [...Map.groupBy(loose, traceIdOf)].map(([id, observations]): ExportedTrace => {
      const trace = rows.get(id ?? '') ?? null;
      return { trace, observations };
    });
    const traces = [...whole, ...grouped];
    const { sessions, unread } = assembleSessions(traces.flatMap(readTrace), { format: this.id });
    const used = new Set(grouped.flatMap(({ trace }) => (trace === null ? [] : [trace])));
    const skipped = entries.length - whole.length - loose.length - used.size;
    const all = traces.flatMap(({ observations }) => observations);
    const bare = all.filter((item) => !('input' in item) && !('output' in item)).length;
    return {
      sessions,
      unread: [
        ...unread,
        ...(skipped > 0
          ? [{ where: source, reason: 'neither a trace export nor an observation', count: skipped }]
          : []),
        ...(bare > 0
          ? [
              {
                where: source,
                reason: 'observations exported without input and output (the v2 API needs fields=io)',
                count: bare,
              },
            ]
          : []),
      ],
    };
  },
};

function readTrace({ trace, observations }: ExportedTrace): RawSpan[] {
  const [first] = observations;
  const traceId =
    (trace === null ? undefined : textAt(trace, 'id')) ?? (first && traceIdOf(first)) ?? 'trace';
  const metadata = unwrapJson(trace?.metadata ?? null).value;
  const sessionId =
    [trace ?? {}, isJsonObject(metadata) ? metadata : {}, ...observations]
      .map((item) => textAt(item, 'sessionId', 'session_id'))
      .find((id) => id !== undefined) ?? null;
  const parents = new Set(observations.map(parentOf));
  const rootId = trace === null ? null : traceId;
  const entries = observations.map((item) => readObservation(item, { traceId, rootId, sessionId, parents }));
  if (trace === null) return entries.map(traceRecord);
  const starts = entries.map((entry) => entry.startTimeUnixNano).filter((time) => time !== null);
  const stated = toUnixNano(trace.timestamp);
  // The trace is the root of its observations; it has a start and no end of its own. Its name is often the program's.
  const root: TraceEntry = {
    traceId,
    spanId: traceId,
    parentSpanId: null,
    name: textAt(trace, 'name') ?? 'trace',
    role: (trace.input ?? null) === null && (trace.output ?? null) === null ? 'other' : 'agent',
    agent: null,
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

interface Place {
  readonly traceId: string;
  readonly rootId: string | null;
  readonly sessionId: string | null;
  readonly parents: ReadonlySet<string | undefined>;
}

function readObservation(item: JsonObject, { traceId, rootId, sessionId, parents }: Place): TraceEntry {
  const id = textAt(item, 'id') ?? '';
  const usage =
    objectAt(item, 'usageDetails') ?? objectAt(item, 'usage_details') ?? objectAt(item, 'usage') ?? {};
  const level = textAt(item, 'level');
  const parameters = unwrapJson(item.modelParameters ?? item.model_parameters ?? null).value;
  const { input, tools } = withoutDefinitions(unwrapJson(item.input ?? null).value);
  return {
    traceId,
    spanId: id,
    parentSpanId: parentOf(item) ?? rootId,
    name: textAt(item, 'name') ?? 'observation',
    role: roleOf(item, parents.has(id)),
    startTimeUnixNano: toUnixNano(item.startTime ?? item.start_time),
    endTimeUnixNano: toUnixNano(item.endTime ?? item.end_time),
    sessionId,
    input: tools.length > 0 ? input : item.input,
    output: item.output,
    error: level === 'ERROR' ? (textAt(item, 'statusMessage', 'status_message') ?? 'error') : null,
    model: textAt(item, 'model', 'providedModelName', 'provided_model_name'),
    tools:
      tools.length > 0
        ? tools
        : ((isJsonObject(parameters) ? parameters.tools : undefined) ?? definedTools(item)),
    inputTokens: numberAt(usage, 'input', 'promptTokens', 'prompt_tokens', 'input_tokens'),
    outputTokens: numberAt(usage, 'output', 'completionTokens', 'completion_tokens', 'output_tokens'),
  };
}

/** LangChain's handler writes the definitions of tools among the messages, as `{role: 'tool', content: {type: 'function', function}}`. */
function withoutDefinitions(input: JsonValue): { input: JsonValue; tools: JsonValue[] } {
  if (!Array.isArray(input)) return { input, tools: [] };
  const isDefinition = (item: JsonValue): boolean =>
    isJsonObject(item) &&
    isJsonObject(item.content) &&
    item.content.type === 'function' &&
    isJsonObject(item.content.function);
  return {
    input: input.filter((item) => !isDefinition(item)),
    tools: input.filter(isDefinition).flatMap((item) => (isJsonObject(item) ? [item.content ?? null] : [])),
  };
}

/** Blob exports keep the tools of a call as a map from name to JSON text. */
function definedTools(item: JsonObject): JsonValue | undefined {
  const map = objectAt(item, 'tool_definitions') ?? objectAt(item, 'toolDefinitions') ?? {};
  const tools = Object.entries(map).map(([name, text]): JsonObject => {
    const { value } = unwrapJson(text);
    return isJsonObject(value) && !('properties' in value) ? { name, ...value } : { name, parameters: value };
  });
  return tools.length === 0 ? undefined : tools;
}

/**
 * Older SDKs know only SPAN: one without children that has input and output is a call of something. Not so the nodes
 * and routers of a graph, whose input is the graph's state.
 */
function roleOf(item: JsonObject, hasChildren: boolean): TraceEntry['role'] {
  switch (textAt(item, 'type')?.toUpperCase()) {
    case 'GENERATION':
      return 'model';
    case 'TOOL':
    case 'RETRIEVER':
      return 'tool';
    case 'AGENT':
      return 'agent';
    case 'SPAN': {
      const filled = (item.input ?? '') !== '' && (item.output ?? '') !== '';
      return !hasChildren && filled && !isGraphNode(item) ? 'tool' : 'other';
    }
    default:
      return 'other';
  }
}

function isGraphNode(item: JsonObject): boolean {
  const metadata = unwrapJson(item.metadata ?? null).value;
  const input = unwrapJson(item.input ?? null).value;
  return (
    (isJsonObject(metadata) && Object.keys(metadata).some((key) => key.startsWith('langgraph_'))) ||
    (isJsonObject(input) && Array.isArray(input.messages))
  );
}
