import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { assembleSessions } from '../assembly/assemble.ts';
import { readUsage } from '../conventions/provider-bodies.ts';
import { responsesItemMessages, responsesTools } from '../conventions/responses-items.ts';
import { readToolDefinitions } from '../conventions/tool-definitions.ts';
import type { RawSpan, ReadResult, TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { UnreadTally } from '../envelopes/unread-tally.ts';
import { readChatTurn } from './chat-turns.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { arrayAt, numberAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { type TraceEntry, traceRecord } from './trace-records.ts';

/**
 * Traces of the OpenAI Agents SDK (openai-agents 0.24.0 `tracing/`; @openai/agents-core 0.20.0): what `export()` of traces
 * and spans gives, one a line, in a list or as the payload `{data}`; and a saved `RunState`.
 */
export const openaiAgentsTrace: TranscriptFormat = {
  id: 'openai-agents-trace',
  title: 'OpenAI Agents SDK traces and run states',
  knownBy:
    '{object: "trace" | "trace.span", span_data}, {data: [these]}, or {$schemaVersion, original_input, model_responses}',
  from: '`export()` of traces and spans by a `TracingExporter`, and `RunState` as JSON',
  checkedOn: 'openai-agents 0.24.0, @openai/agents-core 0.20.0',

  entriesOf: (document) => (isRunState(document) ? null : entriesOf(document)),

  recognise(document) {
    if (isRunState(document)) return { match: 'yes', sure: 0.95 };
    return entriesOf(document).slice(0, 50).some(isOurs) ? { match: 'yes', sure: 0.95 } : { match: 'no' };
  },

  read(document, source) {
    if (isRunState(document)) return readRunState(document as JsonObject, source);
    const tally = new UnreadTally(source);
    const entries = entriesOf(document);
    const ours = objectsIn(entries).filter(isOurs);
    if (ours.length < entries.length)
      tally.add('an entry that is no trace or span of the SDK', entries.length - ours.length);
    const groups = new Map(
      ours.flatMap((entry) =>
        entry.object === 'trace' ? [[String(entry.id), textAt(entry, 'group_id') ?? null] as const] : [],
      ),
    );
    const spans = ours.filter((entry) => entry.object === 'trace.span');
    const bare = spans.filter(
      (span) =>
        objectAt(span, 'span_data')?.type === 'response' &&
        !('input' in (objectAt(span, 'span_data') ?? {})) &&
        !('response' in (objectAt(span, 'span_data') ?? {})),
    ).length;
    if (bare > 0)
      tally.add('a model call of the Responses API without its content, which the SDK does not export', bare);
    const { sessions, unread } = assembleSessions(
      spans.map((span) => readSpan(span, groups)),
      { format: this.id },
    );
    return { sessions, unread: [...unread, ...tally.list()] };
  },
};

function entriesOf(document: JsonValue): JsonValue[] {
  const list = Array.isArray(document) ? document : [document];
  return list.flatMap((item) =>
    isJsonObject(item) && item.object === undefined ? (arrayAt(item, 'data') ?? [item]) : [item],
  );
}

function isOurs(entry: JsonValue): boolean {
  if (!isJsonObject(entry) || typeof entry.id !== 'string') return false;
  return entry.object === 'trace' || (entry.object === 'trace.span' && isJsonObject(entry.span_data));
}

function readSpan(span: JsonObject, groups: ReadonlyMap<string, string | null>): RawSpan {
  const data = objectAt(span, 'span_data') ?? {};
  const traceId = textAt(span, 'trace_id') ?? 'trace';
  const usage = objectAt(data, 'usage') ?? {};
  const problem = objectAt(span, 'error');
  const details = objectAt(problem ?? {}, 'data') ?? {};
  const told = problem === undefined ? null : (textAt(problem, 'message') ?? 'error');
  const cause = textAt(details, 'error');
  const entry: TraceEntry = {
    traceId,
    spanId: textAt(span, 'id') ?? traceId,
    parentSpanId: textAt(span, 'parent_id') ?? null,
    ...contentOf(data),
    startTimeUnixNano: toUnixNano(span.started_at),
    endTimeUnixNano: toUnixNano(span.ended_at),
    sessionId: groups.get(traceId) ?? null,
    error: told === null ? null : cause === undefined ? told : `${told}: ${cause}`,
    model: textAt(data, 'model') ?? textAt(objectAt(data, 'response') ?? {}, 'model'),
    inputTokens: numberAt(usage, 'input_tokens', 'prompt_tokens'),
    outputTokens: numberAt(usage, 'output_tokens', 'completion_tokens'),
  };
  return traceRecord(entry);
}

function contentOf(
  data: JsonObject,
): Pick<TraceEntry, 'name' | 'role' | 'agent' | 'input' | 'output' | 'tools'> {
  const type = textAt(data, 'type') ?? 'custom';
  const name = textAt(data, 'name') ?? type;
  switch (type) {
    case 'agent':
      return { name, role: 'agent', input: undefined, output: undefined, tools: data.tools ?? undefined };
    case 'function':
      return { name, role: 'tool', input: data.input ?? undefined, output: data.output ?? undefined };
    case 'generation':
    case 'response':
      return {
        name: type,
        role: 'model',
        input: data.input ?? undefined,
        output: data.output ?? data.response ?? undefined,
      };
    case 'handoff': {
      // Like OpenInference's: a tool of the agent that hands over.
      const to = textAt(data, 'to_agent') ?? 'unknown';
      return {
        name: `transfer_to_${to.replaceAll(/\s+/g, '_')}`,
        role: 'tool',
        agent: textAt(data, 'from_agent') ?? null,
        input: {},
        output: data.to_agent ?? undefined,
      };
    }
    default:
      return { name, role: 'other', input: undefined, output: JSON.stringify(data) };
  }
}

const isRunState = (document: JsonValue): boolean =>
  isJsonObject(document) &&
  typeof document.$schemaVersion === 'string' &&
  'original_input' in document &&
  Array.isArray(document.model_responses);

/** A run that was saved, often while it waits for a person: the items of the session with who made them. */
function readRunState(state: JsonObject, source: string): ReadResult {
  const original =
    typeof state.original_input === 'string'
      ? [{ role: 'user', content: state.original_input }]
      : objectsIn(state.original_input);
  const made = objectsIn(state.session_items ?? state.generated_items);
  const items = [
    ...original.map((item) => ({ item, agent: null as string | null })),
    ...made.flatMap((run) => {
      const item = objectAt(run, 'raw_item');
      const agent = textAt(objectAt(run, 'agent') ?? objectAt(run, 'source_agent') ?? {}, 'name') ?? null;
      return item === undefined || run.type === 'tool_approval_item' ? [] : [{ item, agent }];
    }),
  ];
  const responses = objectsIn(state.model_responses);
  const used = responses.map((response) => readUsage(objectAt(response, 'usage') ?? {}));
  let call = 0;
  const turns = items.flatMap(({ item, agent }, position) =>
    (responsesItemMessages(item) ?? [item]).map((message): Turn => {
      const turn = { ...readChatTurn(message, position), agent };
      if (turn.role !== 'assistant') return turn;
      const usage = used[call];
      call += 1;
      return usage === undefined ? turn : { ...turn, usage };
    }),
  );
  const tools = readToolDefinitions(
    responsesTools(
      [],
      items.map(({ item }) => item),
    ),
  );
  const session = buildConversation({
    sessionId: textAt(state, 'conversation_id') ?? sourceStem(source),
    format: openaiAgentsTrace.id,
    turns,
    agent: textAt(objectAt(state, 'current_agent') ?? {}, 'name') ?? null,
    tools: tools.length === 0 ? undefined : tools,
  });
  return { sessions: [session], unread: [] };
}
