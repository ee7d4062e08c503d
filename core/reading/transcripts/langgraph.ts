import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { SessionInvalidError } from '../../errors/errors.ts';
import { langchainMessage } from '../conventions/langchain-message.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { isPause } from '../decode/pauses.ts';
import { compareTimes, toUnixNano } from '../decode/times.ts';
import { UnreadTally } from '../envelopes/unread-tally.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { arrayAt, numberAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { langchainList, readLangchainTurn } from './langchain-messages.ts';

/** One recorded state of a thread, whichever way it was dumped. */
interface State {
  readonly threadId: string | undefined;
  readonly values: JsonValue;
  readonly next: readonly string[];
  readonly tasks: readonly JsonObject[];
  readonly time: string | null;
  readonly step: number;
}

/**
 * LangGraph threads (langgraph 1.2.24, langgraph-checkpoint 4.3.2, langgraph-sdk 0.4.14 `schema.py`): `ThreadState`, a
 * history of them, `Thread`, checkpoint tuples and bare checkpoints as JSON. The newest state has the whole
 * conversation; older ones say when and by which node a message was written, and which node failed.
 */
export const langgraph: TranscriptFormat = {
  id: 'langgraph',
  title: 'LangGraph thread state, history and checkpoints',
  knownBy:
    '{values, next, tasks, checkpoint | config}, a list of these, {thread_id, status, values}, or {v, channel_values, channel_versions}',
  from: '`graph.get_state()` and `get_state_history()` as JSON, the server’s `/threads/<id>/state` and `/history`, checkpoints',
  checkedOn: 'langgraph 1.2.24, langgraph-checkpoint 4.3.2, langgraph-sdk 0.4.14',

  recognise(document) {
    if (isPositional(document)) {
      return {
        match: 'foreign',
        name: 'a LangGraph StateSnapshot dumped as a list',
        advice:
          'Its messages are Python text by then: dump snapshot._asdict() with the messages through langchain_core.load.dumpd, or the thread’s state from the API.',
      };
    }
    const all = Array.isArray(document) ? document : [document];
    const states = all.slice(0, 20).filter((item) => stateOf(item) !== null).length;
    return states > 0 && states === Math.min(all.length, 20) ? { match: 'yes', sure: 0.93 } : { match: 'no' };
  },

  read(document, source) {
    const tally = new UnreadTally(source);
    const states = (Array.isArray(document) ? document : [document]).flatMap((item) => stateOf(item) ?? []);
    const threads = [...Map.groupBy(states, (state) => state.threadId ?? sourceStem(source))];
    return {
      sessions: threads.map(([id, list]) => readThread(id, list, source, tally)),
      unread: tally.list(),
    };
  },
};

function stateOf(item: JsonValue | undefined): State | null {
  if (!isJsonObject(item)) return null;
  const checkpoint = objectAt(item, 'checkpoint') ?? item;
  const metadata = objectAt(item, 'metadata') ?? {};
  const config = objectAt(objectAt(item, 'config') ?? {}, 'configurable') ?? {};
  const threadId =
    textAt(checkpoint, 'thread_id') ?? textAt(config, 'thread_id') ?? textAt(item, 'thread_id');
  const step = numberAt(metadata, 'step') ?? Number.NEGATIVE_INFINITY;
  if (isCheckpoint(checkpoint)) {
    return {
      threadId: threadId ?? textAt(metadata, 'thread_id'),
      values: checkpoint.channel_values ?? {},
      next: [],
      tasks: pendingTasks(item.pending_writes),
      time: toUnixNano(checkpoint.ts),
      step,
    };
  }
  if (!('values' in item) || typeof item.values !== 'object' || item.values === null) return null;
  if (Array.isArray(item.next) && Array.isArray(item.tasks) && ('checkpoint' in item || 'config' in item)) {
    return {
      threadId,
      values: item.values,
      next: item.next.map(String),
      tasks: objectsIn(item.tasks),
      time: toUnixNano(item.created_at),
      step,
    };
  }
  // A thread as the API lists it: its last values, and whether it failed.
  if (typeof item.thread_id !== 'string' || typeof item.status !== 'string') return null;
  const failed = item.status === 'error';
  return {
    threadId,
    values: item.values,
    next: [],
    tasks: failed
      ? [{ name: 'run', error: textAt(item, 'error') ?? 'the thread ended with status error' }]
      : [],
    time: toUnixNano(item.updated_at),
    step,
  };
}

const isCheckpoint = (item: JsonObject): boolean =>
  typeof item.v === 'number' && isJsonObject(item.channel_values) && isJsonObject(item.channel_versions);

/** `[[task id, channel, value]]`: what the step after a checkpoint wrote before it failed or stopped. */
function pendingTasks(writes: JsonValue | undefined): JsonObject[] {
  return (Array.isArray(writes) ? writes : []).flatMap((write): JsonObject[] => {
    const [id, channel, value] = Array.isArray(write) ? write : [];
    if (channel === '__error__') return [{ id: id ?? null, name: 'task', error: value ?? null }];
    return channel === '__interrupt__' ? [{ id: id ?? null, name: 'task', interrupts: value ?? [] }] : [];
  });
}

/** `json.dumps` of the named tuple: values, next, config, … by place. */
function isPositional(document: JsonValue): boolean {
  if (!Array.isArray(document) || document.length < 7 || document.length > 8) return false;
  const [values, next, config] = document;
  return (
    isJsonObject(values) && Array.isArray(next) && isJsonObject(config) && isJsonObject(config.configurable)
  );
}

function readThread(threadId: string, states: readonly State[], source: string, tally: UnreadTally) {
  const ordered = states.toSorted((a, b) => compareTimes(a.time, b.time) || a.step - b.step);
  const turns: Turn[] = [];
  const seen = new Set<string>();
  let writers: readonly string[] = [];
  for (const state of ordered) {
    for (const message of messagesIn(state.values)) {
      const key = messageKey(message);
      if (seen.has(key)) continue;
      seen.add(key);
      turns.push(...readLangchainTurn(message, turns.length).map((turn) => placed(turn, state, writers)));
    }
    for (const task of state.tasks) turns.push(...taskTurns(task, state, seen, turns.length));
    // The tasks of a state write what the next one holds.
    writers = state.tasks.flatMap((task) => textAt(task, 'name') ?? []);
  }
  const last = ordered.at(-1);
  const waits = last?.tasks.some(
    (task) => typeof task.error === 'string' || objectsIn(task.interrupts).length > 0,
  );
  if (last !== undefined && last.next.length > 0 && waits !== true)
    tally.add(`the run is not finished: next is ${last.next.join(', ').slice(0, 100)}`);
  if (turns.length === 0) {
    const channels = isJsonObject(last?.values) ? Object.keys(last.values).slice(0, 10).join(', ') : 'a list';
    throw new SessionInvalidError(
      `${source}: thread ${threadId} has no messages in its state (channels: ${channels || 'none'}). ` +
        'Expected a channel with LangChain messages; export a graph that keeps its messages in its state.',
    );
  }
  return buildConversation({ sessionId: threadId, format: langgraph.id, turns });
}

/** The channel `messages`, else every channel that is a list of messages; a graph's whole state may be one. */
function messagesIn(values: JsonValue): JsonObject[] {
  const whole = langchainList(values);
  if (whole !== null) return whole;
  if (!isJsonObject(values)) return [];
  const channel = langchainList(values.messages);
  return channel ?? Object.values(values).flatMap((value) => langchainList(value) ?? []);
}

function messageKey(message: JsonObject): string {
  const body = langchainMessage(message) ?? message;
  return textAt(body, 'id') ?? JSON.stringify([body.role, body.content, body.tool_calls, body.tool_call_id]);
}

/** Who wrote it: the message's own name, else the only node that ran before. */
function placed(turn: Turn, state: State, writers: readonly string[]): Turn {
  const [node] = writers;
  const agent = turn.agent ?? (turn.role === 'assistant' && writers.length === 1 ? (node ?? null) : null);
  return { ...turn, startTimeUnixNano: state.time, endTimeUnixNano: state.time, agent };
}

/** A node that failed, or that waits for a person; and what a subgraph said. */
function taskTurns(task: JsonObject, state: State, seen: Set<string>, position: number): Turn[] {
  const name = textAt(task, 'name') ?? 'task';
  const inner = objectAt(task, 'state');
  const said = (inner === undefined ? [] : messagesIn(inner.values ?? {})).flatMap((message, index) => {
    const key = messageKey(message);
    if (seen.has(key)) return [];
    seen.add(key);
    return readLangchainTurn(message, position + index).map((turn) => placed(turn, state, [name]));
  });
  const error =
    typeof task.error === 'string' ? task.error : task.error ? JSON.stringify(task.error) : undefined;
  const waits = (arrayAt(task, 'interrupts') ?? []).length > 0 || isPause(error);
  if (error === undefined && !waits) return said;
  const text = waits ? `[waits for a person] ${JSON.stringify(task.interrupts ?? error)}` : (error ?? '');
  return [
    ...said,
    {
      position: position + said.length,
      role: 'assistant',
      note: true,
      name,
      agent: name,
      blocks: [{ type: 'text', text }],
      errors: waits ? [] : [{ source: 'exception', message: text }],
      startTimeUnixNano: state.time,
      endTimeUnixNano: state.time,
    },
  ];
}
