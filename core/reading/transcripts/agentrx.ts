import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { parseJson } from '../decode/decode-json.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { readChatTurn } from './chat-turns.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { numberAt, objectAt, objectsIn, textAt } from './fields.ts';
import { readSpeakerTurns } from './speakers.ts';

function isTrajectory(value: JsonValue | undefined): value is JsonObject {
  if (
    !isJsonObject(value) ||
    typeof value.trajectory_id !== 'string' ||
    typeof value.instruction !== 'string'
  )
    return false;
  const [first] = objectsIn(value.steps);
  return Array.isArray(value.steps) && (first === undefined || Number.isInteger(first.index));
}

/**
 * Trajectories in AgentRx's normal form (microsoft/AgentRx commit f228165b, `agentrx/ir/trajectory_ir.py`): steps with
 * an index, each of what one or several speakers said. Labels count steps, so a span's position is its step's: index
 * less one where the first is 1. Content is text; calls were appended to it as a JSON list, and are read back.
 */
export const agentrx: TranscriptFormat = {
  id: 'agentrx',
  title: 'AgentRx trajectories (normal form)',
  knownBy:
    '{trajectory_id, instruction, steps: [{index, substeps: [{sub_index, role, content}]}]} or a list of these',
  from: 'trajectories in AgentRx’s normal form (`agentrx/ir/trajectory_ir.py`)',
  checkedOn: 'microsoft/AgentRx commit f228165b',

  recognise(document) {
    const first = Array.isArray(document) ? document[0] : document;
    return isTrajectory(first) ? { match: 'yes', sure: 0.97 } : { match: 'no' };
  },

  read(document, source) {
    const records = Array.isArray(document) ? document : [document];
    const known = records.filter(isTrajectory);
    const skipped = records.length - known.length;
    return {
      sessions: known.map((record) =>
        buildConversation({
          sessionId: textAt(record, 'trajectory_id') ?? source,
          format: this.id,
          turns: readSteps(objectsIn(record.steps)),
          goal: textAt(record, 'instruction') ?? null,
        }),
      ),
      unread: skipped === 0 ? [] : [{ where: source, reason: 'not a trajectory', count: skipped }],
    };
  },
};

function readSteps(steps: readonly JsonObject[]): Turn[] {
  const indices = steps.map((step) => numberAt(step, 'index') ?? 0);
  const base = indices.some((index) => index < 1) ? 0 : 1;
  return steps.flatMap((step, at) => {
    const position = Math.max(0, Math.floor((indices[at] ?? 0) - base));
    return objectsIn(step.substeps).map((substep) => readSubstep(substep, position));
  });
}

const CHAT_ROLES: ReadonlySet<string> = new Set(['system', 'user', 'human', 'assistant', 'tool']);

function readSubstep(substep: JsonObject, position: number): Turn {
  const role = textAt(substep, 'role') ?? 'user';
  const content = textAt(substep, 'content') ?? '';
  const kind = role.toLowerCase();
  if (!CHAT_ROLES.has(kind)) {
    const [turn] = readSpeakerTurns([{ name: role, content }]);
    if (turn !== undefined) return { ...turn, position };
  }
  const { text, calls } = kind === 'assistant' ? withoutCalls(content) : { text: content, calls: [] };
  return readChatTurn({ role: kind, content: text, tool_calls: calls }, position);
}

/** Calls stand as a printed JSON list behind the text, and sometimes what was asked of them in blocks behind that. */
function withoutCalls(content: string): { text: string; calls: JsonObject[] } {
  const start = /(?:^|\n\n)\[\s{0,8}\n?\s{0,8}\{/.exec(content);
  if (start === null) return { text: content, calls: [] };
  const list = content.slice(start.index).trim();
  const end = list.search(/\n\[(?:function|response)\]\n/);
  const parsed = parseJson(end === -1 ? list : list.slice(0, end));
  const calls = parsed.ok ? objectsIn(parsed.value) : [];
  const isCalls = calls.length > 0 && calls.every((call) => objectAt(call, 'function')?.name !== undefined);
  return isCalls ? { text: content.slice(0, start.index), calls } : { text: content, calls: [] };
}
