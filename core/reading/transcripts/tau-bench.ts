import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { SessionInvalidError } from '../../errors/errors.ts';
import type { Session, Unread } from '../../session/session.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { readTools } from './blocks.ts';
import { isChatList } from './chat-completions.ts';
import { readChatTurns } from './chat-turns.ts';
import { buildConversation } from './conversation.ts';
import { objectAt, sourceStem, textAt } from './fields.ts';

/** `traj`, or `messages` beside the marks of a scored task run. */
function messagesOf(run: JsonObject): JsonValue | undefined {
  if (run.traj !== undefined) return run.traj;
  return run.task_id !== undefined && (run.reward !== undefined || run.reward_info !== undefined)
    ? run.messages
    : undefined;
}

function isRun(value: JsonValue | undefined): value is JsonObject {
  return isJsonObject(value) && isChatList(messagesOf(value));
}

/**
 * Runs of tau-bench and of harnesses that write the same records: one run, or a list of them.
 *
 * A run carries its own answers (`reward`, `reward_info`, `info.task.actions`, `info.task.outputs`, `records`). Only
 * the messages, tool definitions and the simulated user's instruction are taken from it, so no answer can follow.
 */
export const tauBench: TranscriptFormat = {
  id: 'tau-bench',
  title: 'tau-bench task runs',
  knownBy: '{task_id, traj: [{role, content}], info.task} or a list of these',
  from: 'the results file of tau-bench’s `run.py` (`--log-dir`), or one run of it',
  checkedOn: 'the historical trajectories in sierra-research/tau-bench',

  recognise(document) {
    const first = Array.isArray(document) ? document[0] : document;
    return isRun(first) ? { match: 'yes', sure: 0.9 } : { match: 'no' };
  },

  read(document, source) {
    const sessions: Session[] = [];
    const unread: Unread[] = [];
    const runs = Array.isArray(document) ? document : [document];
    runs.forEach((run, index) => {
      if (isRun(run)) sessions.push(readRun(run, source, runs.length === 1 ? null : index));
      else unread.push({ where: `${source}[${index}]`, reason: 'not a run with messages', count: 1 });
    });
    if (sessions.length === 0) {
      throw new SessionInvalidError(
        `${source}: found ${runs.length} run(s) without messages. Expected "traj" with a list of chat messages.`,
      );
    }
    return { sessions, unread };
  },
};

function readRun(run: JsonObject, source: string, index: number | null): Session {
  const info = objectAt(run, 'info') ?? {};
  const task = objectAt(info, 'task') ?? objectAt(run, 'task') ?? {};
  const messages = messagesOf(run);
  const hasIds = run.task_id !== undefined;
  const suffix = hasIds ? `#task-${run.task_id}-trial-${run.trial ?? 0}` : index === null ? '' : `#${index}`;
  return buildConversation({
    sessionId: `${sourceStem(source)}${suffix}`,
    format: tauBench.id,
    turns: readChatTurns(isChatList(messages) ? messages : []),
    goal: textAt(task, 'instruction') ?? null,
    tools: readTools(run) ?? readTools(info),
  });
}
