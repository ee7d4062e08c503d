import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SpanFlag } from '../../session/session.ts';
import { parseJson } from '../decode/decode-json.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { plainText, readBlocks, readToolCalls, toolUse } from './blocks.ts';
import { readChatTurn } from './chat-turns.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { arrayAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { answerTurn, brokenEnd, noteTurn, reasoningBlocks, textBlocks } from './turn-parts.ts';

function isStep(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && typeof value.action === 'string' && typeof value.observation === 'string';
}

function isRun(value: JsonValue): value is JsonObject {
  if (!isJsonObject(value)) return false;
  const steps = arrayAt(value, 'trajectory');
  if (steps === undefined || (steps.length > 0 && !isStep(steps[0]))) return false;
  const info = objectAt(value, 'info');
  return Array.isArray(value.history) || (steps.length > 0 && info !== undefined);
}

/** The attempts of a retrying agent, or the run itself. */
function runsOf(document: JsonValue): JsonObject[] {
  if (!isJsonObject(document)) return [];
  const attempts = objectsIn(document.attempts).filter(isRun);
  return attempts.length > 0 ? attempts : isRun(document) ? [document] : [];
}

/**
 * Trajectories of SWE-agent (`*.traj`; shape of SWE-agent 1.1, commit 3ea751c0, and of the demonstrations of 0.x).
 *
 * Turns come from `history`, which is what the model saw. `trajectory` has in addition the answers that could not be
 * parsed and were asked for again: they come in at their place. What a reviewing or choosing model said of the run
 * (`info.review`, `info.chooser`) is a grade and is not read. Tokens are counted for the whole run only.
 */
export const sweAgent: TranscriptFormat = {
  id: 'swe-agent',
  title: 'SWE-agent trajectories',
  knownBy: '{trajectory: [{action, observation, response}], history, info: {exit_status}}',
  from: 'the `*.traj` file of a run in SWE-agent’s output folder',
  checkedOn: 'SWE-agent 1.1 (commit 3ea751c0) and demonstrations of 0.x',

  recognise(document) {
    return runsOf(document).length > 0 ? { match: 'yes', sure: 0.98 } : { match: 'no' };
  },

  read(document, source) {
    const runs = runsOf(document);
    const sessions = runs.map((run, index) => {
      const config = configOf(
        run.replay_config ?? (isJsonObject(document) ? document.replay_config : undefined),
      );
      const problem = objectAt(config, 'problem_statement') ?? {};
      const id = textAt(problem, 'id') ?? sourceStem(source);
      const model = textAt(objectAt(objectAt(config, 'agent') ?? {}, 'model') ?? {}, 'name');
      const history = objectsIn(run.history);
      const turns = history.length > 0 ? historyTurns(history, run) : stepTurns(objectsIn(run.trajectory));
      return buildConversation({
        sessionId: runs.length === 1 ? id : `${id}#attempt-${index}`,
        format: this.id,
        turns: [...turns.map((turn) => withModel(turn, model)), ...endOf(run, turns)],
        goal: taskOf(history) ?? textAt(problem, 'text') ?? null,
      });
    });
    return { sessions, unread: [] };
  },
};

function withModel(turn: Turn, model: string | undefined): Turn {
  return turn.role === 'assistant' && model !== undefined ? { ...turn, model } : turn;
}

/** The configuration of a run: JSON text in newer files. */
function configOf(value: JsonValue | undefined): JsonObject {
  if (isJsonObject(value)) return value;
  const parsed = typeof value === 'string' ? parseJson(value) : null;
  return parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value : {};
}

const isDemonstration = (message: JsonObject): boolean =>
  message.is_demo === true || message.message_type === 'demonstration';

/** The first thing said by who wants something; a demonstration is set-up. */
function taskOf(history: readonly JsonObject[]): string | undefined {
  const task = history.find((message) => message.role === 'user' && !isDemonstration(message));
  return task === undefined ? undefined : plainText(task.content) || undefined;
}

function historyTurns(history: readonly JsonObject[], run: JsonObject): Turn[] {
  const turns: Turn[] = [];
  const dropped = droppedSteps(history, objectsIn(run.trajectory));
  /** The action before, where no call of it stands in the message: its observation comes as the user's words. */
  let acted: string | null = null;
  history.forEach((message, position) => {
    for (const step of dropped.get(message) ?? []) turns.push(...mistakeTurns(step, position));
    const agent = textAt(message, 'agent') ?? null;
    if (isDemonstration(message)) {
      turns.push(noteTurn(position, 'demonstration', plainText(message.content)));
    } else if (message.role === 'assistant') {
      const turn = actionTurn(message, position, agent);
      acted = turn.acted;
      turns.push(turn.turn);
    } else if (message.role === 'tool') {
      const [id] = arrayAt(message, 'tool_call_ids') ?? [];
      turns.push(readChatTurn(typeof id === 'string' ? { ...message, tool_call_id: id } : message, position));
    } else if (message.role === 'user' && acted !== null) {
      turns.push(answerTurn({ position, toolCallId: acted, content: plainText(message.content) }));
      acted = null;
    } else {
      turns.push(readChatTurn(message, position));
    }
  });
  return turns;
}

function actionTurn(
  message: JsonObject,
  position: number,
  agent: string | null,
): { turn: Turn; acted: string | null } {
  const flags = new Set<SpanFlag>();
  const calls = readToolCalls(message, flags);
  const action = textAt(message, 'action');
  const acted = calls.length === 0 && action !== undefined ? `action-${position}` : null;
  const thinking = objectsIn(message.thinking_blocks).map((part) => textAt(part, 'thinking') ?? '');
  const blocks = [
    ...reasoningBlocks(thinking.join('\n')),
    ...readBlocks(message.content, flags),
    ...calls,
    ...(acted === null ? [] : [commandUse(acted, action ?? '', flags)]),
  ];
  return { turn: { position, role: 'assistant', agent, blocks, flags: [...flags] }, acted };
}

/** A command in the agent's own text: its first word is the tool. */
function commandUse(id: string, action: string, flags: Set<SpanFlag>) {
  return toolUse(id, /^\s{0,64}(\S{1,80})/.exec(action)?.[1] ?? 'unknown', { command: action }, flags);
}

/** Steps that were asked for again and left no message, by the message that they come before. */
function droppedSteps(history: readonly JsonObject[], steps: readonly JsonObject[]) {
  const dropped = new Map<JsonObject, JsonObject[]>();
  const actions = history.filter((message) => message.role === 'assistant' && !isDemonstration(message));
  let next = 0;
  let waiting: JsonObject[] = [];
  for (const step of steps.length > actions.length ? steps : []) {
    const message = actions[next];
    if (message === undefined) break;
    const same =
      plainText(message.content).trim() === String(step.response ?? '').trim() ||
      (step.action !== '' && String(message.action ?? '').trim() === String(step.action).trim());
    if (!same) {
      waiting.push(step);
      continue;
    }
    if (waiting.length > 0) dropped.set(message, waiting);
    waiting = [];
    next += 1;
  }
  return dropped;
}

function mistakeTurns(step: JsonObject, position: number): Turn[] {
  const answer: Turn = { position, role: 'assistant', blocks: textBlocks(textAt(step, 'response') ?? '') };
  const observation = textAt(step, 'observation') ?? '';
  return [answer, ...(observation === '' ? [] : [noteTurn(position, 'asked again', observation)])];
}

/** A run that kept no history: one model call and its observation a step. */
function stepTurns(steps: readonly JsonObject[]): Turn[] {
  return steps.flatMap((step, position): Turn[] => {
    const flags = new Set<SpanFlag>();
    const action = textAt(step, 'action');
    const id = `action-${position}`;
    const blocks = [
      ...textBlocks(textAt(step, 'response', 'thought') ?? ''),
      ...(action === undefined ? [] : [commandUse(id, action, flags)]),
    ];
    const answer: Turn = { position, role: 'assistant', blocks, flags: [...flags] };
    const content = textAt(step, 'observation') ?? '';
    return action === undefined
      ? mistakeTurns(step, position)
      : [answer, answerTurn({ position, toolCallId: id, content })];
  });
}

const LIMITS: ReadonlySet<string> = new Set(['exit_cost', 'exit_context', 'exit_total_execution_time']);
/** Ends that the agent chose. */
const CHOSEN: ReadonlySet<string> = new Set(['submitted', 'exit_command', 'exit_forfeit']);

/** `submitted (exit_cost)`: handed in by the harness after what stands in the brackets. */
function endOf(run: JsonObject, turns: readonly Turn[]): Turn[] {
  const status = textAt(objectAt(run, 'info') ?? {}, 'exit_status');
  const cause = /\(([^()]{1,80})\)/.exec(status ?? '')?.[1] ?? status;
  if (cause === undefined || CHOSEN.has(cause)) return [];
  return [brokenEnd((turns.at(-1)?.position ?? -1) + 1, LIMITS.has(cause) ? 'limit' : 'fault', cause)];
}
