import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { assembleSessions } from '../assembly/assemble.ts';
import { readUsage } from '../conventions/provider-bodies.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { arrayAt, objectAt, objectsIn, textAt } from './fields.ts';
import { type TraceEntry, traceRecord } from './trace-records.ts';

const isCall = (value: JsonValue | undefined): value is JsonObject =>
  isJsonObject(value) &&
  typeof value.op_name === 'string' &&
  typeof value.trace_id === 'string' &&
  typeof value.id === 'string' &&
  isJsonObject(value.inputs) &&
  'started_at' in value;

function callsOf(document: JsonValue): JsonValue[] {
  if (Array.isArray(document)) return document;
  return isJsonObject(document) ? (arrayAt(document, 'calls') ?? []) : [];
}

/**
 * Calls of W&B Weave: its JSON and JSON-lines exports and the answers of its query API (wandb/weave commit 00439504,
 * SDK 0.54.0). A call is a model's where Weave or its name says so; usage is taken there only, since Weave sums it up
 * the tree. Calls of an evaluation hold right answers and scores: they and all below them are left out but for the
 * prediction.
 */
export const weave: TranscriptFormat = {
  id: 'weave',
  title: 'W&B Weave call exports',
  knownBy: '[{id, op_name, trace_id, parent_id, started_at, inputs, output}], lines of these, or {calls}',
  from: 'the JSON or JSON-lines export of Weave’s traces table, or an answer of its query API (`/calls/stream_query`)',
  checkedOn: 'wandb/weave commit 00439504, SDK 0.54.0',

  entriesOf: callsOf,

  recognise(document) {
    return callsOf(document).slice(0, 50).some(isCall) ? { match: 'yes', sure: 0.95 } : { match: 'no' };
  },

  read(document, source) {
    const list = callsOf(document);
    const calls = list.filter(isCall).filter((call) => call.deleted_at == null);
    const byId = new Map(calls.map((call) => [call.id, call]));
    const parents = new Set(calls.map((call) => call.parent_id));
    const kept = calls.filter((call) => !isGrading(call, byId));
    const { sessions, unread } = assembleSessions(
      kept.map((call) => traceRecord(readCall(call, parents))),
      { format: this.id },
    );
    const graded = calls.length - kept.length;
    const other = list.length - list.filter(isCall).length;
    return {
      sessions,
      unread: [
        ...unread,
        ...(graded === 0
          ? []
          : [{ where: source, reason: 'calls of an evaluation, which hold right answers', count: graded }]),
        ...(other === 0 ? [] : [{ where: source, reason: 'not a call', count: other }]),
      ],
    };
  },
};

/** The last piece of `weave:///entity/project/op/name:digest`. */
function opOf(call: JsonObject): string {
  const name = textAt(call, 'op_name') ?? '';
  return (name.split('/').at(-1) ?? name).replace(/:[\w*]{1,80}$/, '');
}

const GRADING = /^Evaluation\.|\.score$|(?:^|_)scorer?$/;

/** A scorer and what it called; of an evaluation only what it predicted is the agent's. */
function isGrading(call: JsonObject, byId: ReadonlyMap<JsonValue | undefined, JsonObject>): boolean {
  let at: JsonObject | undefined = call;
  for (let steps = 0; at !== undefined && steps < 200; steps += 1) {
    const op = opOf(at);
    if (/\.predict$/.test(op)) return false;
    if (GRADING.test(op)) return true;
    at = byId.get(at.parent_id);
  }
  return false;
}

const MODEL_OP =
  /(?:chat\.completions\.|responses\.|messages?\.)(?:create|parse|stream)|^litellm\.a?completion|(?:^|\.)generate_content|^langchain\.Llm\.|ChatModel/i;

function roleOf(call: JsonObject, hasChildren: boolean): TraceEntry['role'] {
  const kind = textAt(objectAt(objectAt(call, 'attributes') ?? {}, 'weave') ?? {}, 'kind');
  const op = opOf(call);
  if (kind === 'llm' || MODEL_OP.test(op)) return 'model';
  if (kind === 'tool' || /^langchain\.Tool\./.test(op)) return 'tool';
  if (kind === 'agent') return 'agent';
  // A function without calls of its own that took and gave something is a call of something.
  return !hasChildren && call.parent_id != null && call.output != null ? 'tool' : 'other';
}

function readCall(call: JsonObject, parents: ReadonlySet<JsonValue | undefined>): TraceEntry {
  const role = roleOf(call, parents.has(call.id));
  const { self: _, ...inputs } = objectAt(call, 'inputs') ?? {};
  const summary = objectAt(call, 'summary') ?? {};
  const [used] = Object.entries(objectAt(summary, 'usage') ?? {});
  const usage =
    role === 'model' && used !== undefined && isJsonObject(used[1]) ? readUsage(used[1]) : undefined;
  const output = isJsonObject(call.output) ? call.output : {};
  const choices = objectsIn(output.choices);
  const failed = objectAt(summary, 'weave')?.status === 'error';
  return {
    traceId: textAt(call, 'trace_id') ?? '',
    spanId: textAt(call, 'id') ?? '',
    parentSpanId: textAt(call, 'parent_id') ?? null,
    name: textAt(call, 'display_name') ?? opOf(call),
    role,
    startTimeUnixNano: toUnixNano(call.started_at),
    endTimeUnixNano: toUnixNano(call.ended_at),
    sessionId: textAt(call, 'thread_id') ?? null,
    input: role === 'model' ? (inputs.messages ?? inputs.input ?? inputs) : inputs,
    output:
      role === 'model' && choices.length > 0 ? choices.map((choice) => choice.message ?? null) : call.output,
    error: textAt(call, 'exception') ?? (failed ? 'error' : null),
    model: role === 'model' ? (textAt(inputs, 'model') ?? textAt(output, 'model') ?? used?.[0]) : undefined,
    tools: role === 'model' ? inputs.tools : undefined,
    finishReasons: choices.flatMap((choice) => textAt(choice, 'finish_reason') ?? []),
    inputTokens: usage?.inputTokens,
    outputTokens: usage?.outputTokens,
  };
}
