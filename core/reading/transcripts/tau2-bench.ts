import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Session, Unread } from '../../session/session.ts';
import { readToolDefinitions } from '../conventions/tool-definitions.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { plainText } from './blocks.ts';
import { readChatTurn, readUsage } from './chat-turns.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { arrayAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { answerTurn, brokenEnd, textBlocks, timed } from './turn-parts.ts';

function isResults(document: JsonValue): document is JsonObject {
  if (!isJsonObject(document) || !Array.isArray(document.simulations)) return false;
  const info = objectAt(document, 'info');
  return info !== undefined && isJsonObject(info.agent_info) && isJsonObject(info.environment_info);
}

function isSimulation(value: JsonValue | undefined): value is JsonObject {
  return (
    isJsonObject(value) &&
    value.task_id !== undefined &&
    typeof value.termination_reason === 'string' &&
    (Array.isArray(value.messages) || Array.isArray(value.ticks))
  );
}

/**
 * Results of tau2-bench and tau3 (shape of commit a2c02472): a whole run, or one simulation of a results folder.
 *
 * The simulated user has tools of its own; its calls and their results are that user's and never the agent's. Of a
 * task only what the user wants is taken. Grades (`reward_info`, `review`, `auth_classification`,
 * `hallucination_check`, `evaluation_criteria`, the text an audio should have had) are not among the fields read.
 */
export const tau2Bench: TranscriptFormat = {
  id: 'tau2-bench',
  title: 'tau2-bench results',
  knownBy:
    '{info: {agent_info, user_info, environment_info}, tasks, simulations: [{termination_reason, messages}]}',
  from: '`data/simulations/*.json` of a tau2 run, or one file of a results folder’s `simulations`',
  checkedOn: 'tau2-bench commit a2c02472',

  recognise(document) {
    if (isResults(document)) return { match: 'yes', sure: 0.98 };
    return isSimulation(document) ? { match: 'yes', sure: 0.95 } : { match: 'no' };
  },

  read(document, source) {
    const results = isResults(document) ? document : {};
    const runs = isResults(document) ? (arrayAt(document, 'simulations') ?? []) : [document];
    const sessions: Session[] = [];
    const unread: Unread[] = [];
    for (const [index, run] of runs.entries()) {
      if (isSimulation(run)) sessions.push(readSimulation(run, results, source));
      else
        unread.push({
          where: `${source}#simulations[${index}]`,
          reason: 'a simulation without messages',
          count: 1,
        });
    }
    return { sessions, unread };
  },
};

function readSimulation(run: JsonObject, results: JsonObject, source: string): Session {
  const info = objectAt(results, 'info') ?? {};
  const environment = objectAt(info, 'environment_info') ?? {};
  const model = textAt(objectAt(info, 'agent_info') ?? {}, 'llm');
  const policy = textAt(run, 'policy') ?? textAt(environment, 'policy');
  const task = objectsIn(results.tasks).find((candidate) => String(candidate.id) === String(run.task_id));
  const turns = readTurns(messagesOf(run), model);
  const first = turns.findIndex((turn) => turn.role === 'assistant');
  const tools = environment.tool_defs;
  return buildConversation({
    sessionId:
      results.info === undefined
        ? (textAt(run, 'id') ?? sourceStem(source))
        : `${sourceStem(source)}#task-${run.task_id}-trial-${run.trial ?? 0}`,
    format: tau2Bench.id,
    turns: [
      ...turns.map((turn, index) =>
        index === first && policy !== undefined ? { ...turn, systemPrompt: policy } : turn,
      ),
      ...endOf(run, turns),
    ],
    goal: task === undefined ? null : wishOf(task),
    tools:
      tools == null ? undefined : readToolDefinitions(isJsonObject(tools) ? Object.values(tools) : tools),
  });
}

/** What the simulated user was told to want. */
function wishOf(task: JsonObject): string | null {
  const instructions = objectAt(task, 'user_scenario')?.instructions;
  if (typeof instructions === 'string') return instructions;
  return isJsonObject(instructions)
    ? (textAt(instructions, 'reason_for_call', 'task_instructions') ?? null)
    : null;
}

/** Messages in order; a voice session keeps them in ticks, with the text of sound apart from the sound. */
function messagesOf(run: JsonObject): JsonObject[] {
  const messages = objectsIn(run.messages);
  if (messages.length > 0)
    return messages.flatMap((message) => [message, ...objectsIn(message.tool_messages)]);
  return objectsIn(run.ticks).flatMap((tick) => [
    ...objectsIn([tick.agent_chunk ?? null, tick.user_chunk ?? null]),
    ...callers(tick, 'agent', 'assistant'),
    ...callers(tick, 'user', 'user'),
    ...objectsIn(tick.agent_tool_results),
    ...objectsIn(tick.user_tool_results),
  ]);
}

function callers(tick: JsonObject, key: string, role: string): JsonObject[] {
  const calls = arrayAt(tick, `${key}_tool_calls`) ?? [];
  return calls.length === 0 ? [] : [{ role, tool_calls: calls, timestamp: tick.timestamp ?? null }];
}

function readTurns(messages: readonly JsonObject[], model: string | undefined): Turn[] {
  const userCalls = new Map<string, JsonObject>();
  return messages.flatMap((message, position): Turn[] => {
    const time = toUnixNano(message.timestamp);
    if (message.role === 'tool') {
      if (Array.isArray(message.tool_messages)) return [];
      const id = textAt(message, 'id') ?? null;
      const turn = answerTurn({
        position,
        toolCallId: id,
        content: plainText(message.content),
        isError: message.error === true,
        time,
      });
      const call = id === null ? undefined : userCalls.get(id);
      if (call === undefined) return [turn];
      return [
        {
          ...turn,
          agent: 'user',
          call: { name: textAt(call, 'name') ?? 'unknown', arguments: call.arguments ?? {} },
        },
      ];
    }
    const spoken = message.is_audio === true ? { ...message, content: message.transcript ?? null } : message;
    if (message.role === 'user') {
      for (const call of objectsIn(message.tool_calls)) userCalls.set(String(call.id), call);
      const text = plainText(spoken.content);
      return text === '' ? [] : [{ position, role: 'user', blocks: textBlocks(text), ...timed(time) }];
    }
    const turn = readChatTurn(spoken, position);
    const usage = objectAt(message, 'usage');
    const used = textAt(objectAt(message, 'raw_data') ?? {}, 'model') ?? model;
    return [
      {
        ...turn,
        ...timed(time),
        ...(turn.role !== 'assistant' || used === undefined ? {} : { model: used }),
        ...(usage === undefined ? {} : { usage: readUsage(usage) }),
      },
    ];
  });
}

const NORMAL: ReadonlySet<string> = new Set(['user_stop', 'agent_stop']);
const LIMITS: ReadonlySet<string> = new Set(['max_steps', 'timeout', 'context_window_exceeded']);

function endOf(run: JsonObject, turns: readonly Turn[]): Turn[] {
  const reason = textAt(run, 'termination_reason') ?? '';
  if (reason === '' || NORMAL.has(reason)) return [];
  return [brokenEnd((turns.at(-1)?.position ?? -1) + 1, LIMITS.has(reason) ? 'limit' : 'fault', reason)];
}
