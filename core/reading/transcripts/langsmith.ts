import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { assembleSessions } from '../assembly/assemble.ts';
import type { RawSpan, TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { arrayAt, numberAt, objectAt, objectsIn, textAt } from './fields.ts';
import { type TraceEntry, traceRecord } from './trace-records.ts';

function runsOf(document: JsonValue): JsonObject[] {
  if (Array.isArray(document)) return objectsIn(document);
  if (!isJsonObject(document)) return [];
  if (Array.isArray(document.post) || Array.isArray(document.patch)) {
    return [...objectsIn(document.post), ...objectsIn(document.patch)];
  }
  return arrayAt(document, 'runs') === undefined ? [document] : objectsIn(document.runs);
}

function isRun(run: JsonObject): boolean {
  return (
    typeof run.dotted_order === 'string' || (typeof run.run_type === 'string' && typeof run.id === 'string')
  );
}

/**
 * Runs of LangSmith: `{post, patch}` batches, whose halves are merged by id, or a list of runs. `session_id` of a run
 * is the project; the conversation's id stands in `extra.metadata`.
 */
export const langsmith: TranscriptFormat = {
  id: 'langsmith',
  title: 'LangSmith runs',
  knownBy: '{post: [run], patch: [run]}, {runs}, or [{id, run_type, dotted_order, inputs, outputs}]',
  from: 'runs of `client.list_runs()` as JSON, `{post, patch}` batches of the SDK',
  checkedOn: 'langsmith-sdk test data (2026-11)',

  entriesOf: runsOf,

  recognise(document) {
    const runs = runsOf(document);
    return runs.length > 0 && runs.slice(0, 20).every(isRun) ? { match: 'yes', sure: 0.9 } : { match: 'no' };
  },

  read(document, source) {
    const merged = new Map<string, JsonObject>();
    let nameless = 0;
    for (const run of runsOf(document)) {
      const id = idOf(run);
      if (id === undefined) nameless += 1;
      else merged.set(id, mergeRuns(merged.get(id), run));
    }
    const parents = new Set([...merged.values()].map(parentOf));
    const records = [...merged].map(([id, run]) => readRun(id, run, parents.has(id)));
    const { sessions, unread } = assembleSessions(records, { format: this.id });
    return {
      sessions,
      unread:
        nameless === 0
          ? unread
          : [...unread, { where: source, reason: 'runs without an id', count: nameless }],
    };
  },
};

/** The last segment of `dotted_order` is `<time>Z<run id>`; patches of some SDKs carry nothing else. */
function idOf(run: JsonObject): string | undefined {
  return textAt(run, 'id') ?? orderedIds(run).at(-1);
}

function orderedIds(run: JsonObject): string[] {
  return (textAt(run, 'dotted_order') ?? '').split('.').flatMap((segment) => {
    const mark = segment.indexOf('Z');
    return mark < 0 ? [] : [segment.slice(mark + 1)];
  });
}

function parentOf(run: JsonObject): string | null {
  return textAt(run, 'parent_run_id') ?? orderedIds(run).at(-2) ?? null;
}

/** The later half wins where it says something: empty outputs of a start must not hide those of the end, or the reverse. */
function mergeRuns(before: JsonObject | undefined, after: JsonObject): JsonObject {
  const merged: JsonObject = { ...before };
  for (const [key, value] of Object.entries(after)) {
    const empty = value === null || (isJsonObject(value) && Object.keys(value).length === 0);
    if (!empty || merged[key] === undefined) merged[key] = value;
  }
  return merged;
}

function readRun(id: string, run: JsonObject, hasChildren: boolean): RawSpan {
  const extra = objectAt(run, 'extra') ?? {};
  const metadata = objectAt(extra, 'metadata') ?? {};
  const parameters = objectAt(extra, 'invocation_params') ?? {};
  const inputs = objectAt(run, 'inputs') ?? {};
  const outputs = objectAt(run, 'outputs') ?? {};
  const usage =
    objectAt(outputs, 'usage_metadata') ??
    objectAt(outputs, 'usage') ??
    objectAt(metadata, 'usage_metadata') ??
    {};
  const parentSpanId = parentOf(run);
  const role = roleOf(run, parentSpanId === null, hasChildren);
  return traceRecord({
    traceId: textAt(run, 'trace_id') ?? orderedIds(run)[0] ?? id,
    spanId: id,
    parentSpanId,
    name: textAt(run, 'name') ?? textAt(run, 'run_type') ?? 'run',
    role,
    startTimeUnixNano: toUnixNano(run.start_time),
    endTimeUnixNano: toUnixNano(run.end_time),
    sessionId: textAt(metadata, 'session_id', 'thread_id', 'conversation_id') ?? null,
    input: role === 'model' || role === 'tool' ? run.inputs : plainValue(inputs),
    output: outputOf(outputs, role),
    error: textAt(run, 'error') ?? null,
    model: textAt(outputs, 'model') ?? textAt(inputs, 'model') ?? textAt(metadata, 'ls_model_name'),
    tools: parameters.tools ?? inputs.tools,
    finishReasons: objectsIn(outputs.choices).map((choice) => textAt(choice, 'finish_reason') ?? ''),
    inputTokens: numberAt(usage, 'input_tokens', 'prompt_tokens'),
    outputTokens: numberAt(usage, 'output_tokens', 'completion_tokens'),
  });
}

/** OpenAI's `choices[].message` as a list of messages, a tool's `{output}`, else as it stands. */
function outputOf(outputs: JsonObject, role: TraceEntry['role']): JsonValue | undefined {
  const choices = objectsIn(outputs.choices);
  if (choices.length > 0) {
    return { messages: choices.flatMap((choice) => (isJsonObject(choice.message) ? [choice.message] : [])) };
  }
  if (Object.keys(outputs).length === 0) return undefined;
  return role === 'model' ? outputs : plainValue(outputs);
}

/** `{input: "…"}` and `{output: "…"}` are how plain values are wrapped. */
function plainValue(value: JsonObject): JsonValue | undefined {
  const keys = Object.keys(value);
  if (keys.length === 0) return undefined;
  const [only] = keys;
  return keys.length === 1 && (only === 'input' || only === 'output') ? value[only] : value;
}

function roleOf(run: JsonObject, isRoot: boolean, hasChildren: boolean): TraceEntry['role'] {
  switch (textAt(run, 'run_type')) {
    case 'llm':
    case 'chat_model':
      return 'model';
    case 'tool':
    case 'retriever':
      return 'tool';
    case 'chain':
      return isRoot && hasChildren ? 'agent' : 'other';
    default:
      return 'other';
  }
}
