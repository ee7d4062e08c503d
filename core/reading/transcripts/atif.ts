import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SpanFlag, Unread } from '../../session/session.ts';
import { readUsage } from '../conventions/provider-bodies.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { plainText, readBlocks, readTools, toolUse } from './blocks.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { numberAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { answerTurn, noteTurn, reasoningBlocks, timed } from './turn-parts.ts';

function isTrajectory(value: JsonValue | undefined): value is JsonObject {
  return (
    isJsonObject(value) &&
    /^ATIF-v\d{1,3}\.\d{1,3}$/.test(textAt(value, 'schema_version') ?? '') &&
    Array.isArray(value.steps) &&
    isJsonObject(value.agent)
  );
}

/**
 * Agent Trajectory Interchange Format, versions 1.0 to 1.8 (harbor 0.26.0, `harbor/models/trajectories`): what Harbor's
 * agents, VS Code's Copilot Chat and others write. A result belongs to a call of its own step. Trajectories of
 * sub-agents inside the file follow the step that started them, under their agent's name; one in another file is said
 * to be unread. Steps that repeat earlier ones after a summary are left out. Rewards in `extra` are not read.
 */
export const atif: TranscriptFormat = {
  id: 'atif',
  title: 'ATIF trajectories',
  knownBy:
    '{schema_version: "ATIF-v1.x", agent, steps: [{step_id, source, message, tool_calls, observation}]}',
  from: '`trajectory.json` of Harbor’s agents, VS Code Copilot Chat’s export, and others that write ATIF',
  checkedOn: 'ATIF 1.0 to 1.8 (harbor 0.26.0)',

  recognise(document) {
    return isTrajectory(document) ? { match: 'yes', sure: 0.99 } : { match: 'no' };
  },

  read(document, source) {
    const root = isTrajectory(document) ? document : {};
    const agent = objectAt(root, 'agent') ?? {};
    const reader = makeReader(objectsIn(root.subagent_trajectories), source);
    reader.steps(root, 0);
    const session = buildConversation({
      sessionId: textAt(root, 'session_id', 'trajectory_id') ?? sourceStem(source),
      format: this.id,
      turns: reader.turns,
      agent: textAt(agent, 'name') ?? null,
      tools: readTools({ tools: agent.tool_definitions ?? null }),
    });
    return { sessions: [session], unread: reader.unread() };
  },
};

/** A sub-agent of a sub-agent of …: deeper than any file seen. */
const MAX_NESTING = 10;

function makeReader(embedded: readonly JsonObject[], source: string) {
  const turns: Turn[] = [];
  const elsewhere = new Set<string>();
  let copied = 0;
  let position = -1;

  const addSteps = (trajectory: JsonObject, depth: number): void => {
    const agent = objectAt(trajectory, 'agent') ?? {};
    const name = textAt(agent, 'name') ?? null;
    for (const step of objectsIn(trajectory.steps)) {
      if (step.is_copied_context === true) {
        copied += 1;
        continue;
      }
      position += 1;
      turns.push(readStep(step, position, name, textAt(agent, 'model_name')));
      const calls = objectsIn(step.tool_calls);
      for (const result of objectsIn(objectAt(step, 'observation')?.results)) {
        for (const reference of objectsIn(result.subagent_trajectory_ref)) addReferred(reference, depth);
        turns.push(readResult(result, step, calls, position, name));
      }
    }
  };
  const addReferred = (reference: JsonObject, depth: number): void => {
    const id = textAt(reference, 'trajectory_id', 'session_id');
    const found = embedded.find(
      (candidate) => id !== undefined && textAt(candidate, 'trajectory_id', 'session_id') === id,
    );
    if (found !== undefined && depth < MAX_NESTING) addSteps(found, depth + 1);
    else elsewhere.add(textAt(reference, 'trajectory_path') ?? id ?? 'unnamed');
  };
  return {
    turns,
    steps: addSteps,
    unread(): Unread[] {
      return [
        ...[...elsewhere].map((file) => ({
          where: file,
          reason: 'a sub-agent’s trajectory in another file',
          count: 1,
        })),
        ...(copied === 0
          ? []
          : [{ where: source, reason: 'steps that repeat earlier ones after a summary', count: copied }]),
      ];
    },
  };
}

function readStep(step: JsonObject, position: number, agent: string | null, model: string | undefined): Turn {
  const flags = new Set<SpanFlag>();
  const time = timed(toUnixNano(step.timestamp));
  const blocks = readBlocks(step.message, flags);
  if (step.source !== 'agent') {
    const role = step.source === 'system' ? 'system' : 'user';
    return { position, role, blocks, flags: [...flags], ...time };
  }
  const metrics = objectAt(step, 'metrics');
  const used = textAt(step, 'model_name') ?? model;
  const calls = objectsIn(step.tool_calls).map((call) =>
    toolUse(
      textAt(call, 'tool_call_id') ?? null,
      textAt(call, 'function_name') ?? 'unknown',
      call.arguments,
      flags,
    ),
  );
  const status = errorOf(objectAt(step, 'extra') ?? {});
  return {
    position,
    role: 'assistant',
    agent,
    blocks: [...reasoningBlocks(textAt(step, 'reasoning_content') ?? ''), ...blocks, ...calls],
    flags: [...flags],
    ...time,
    ...(used === undefined ? {} : { model: used }),
    ...(metrics === undefined ? {} : { usage: readUsage(metrics) }),
    ...(status.isError ? { errors: [{ source: 'status', message: status.message }] } : {}),
  };
}

/** A result that names no call is of the only call of its step, else of the step: a screen, say. */
function readResult(
  result: JsonObject,
  step: JsonObject,
  calls: readonly JsonObject[],
  position: number,
  agent: string | null,
): Turn {
  const only = calls.length === 1 ? textAt(calls[0] ?? {}, 'tool_call_id') : undefined;
  const id = textAt(result, 'source_call_id') ?? only;
  const content = plainText(result.content);
  const time = toUnixNano(step.timestamp);
  if (id === undefined) return noteTurn(position, 'observation', content, time);
  const extra = objectAt(result, 'extra') ?? {};
  const status = errorOf(extra);
  return answerTurn({
    position,
    toolCallId: id,
    content,
    isError: status.isError || (extra.is_error === false ? false : null),
    exitCode: numberAt(extra, 'exit_code') ?? numberAt(objectAt(extra, 'metadata') ?? {}, 'exit_code'),
    agent,
    time,
  });
}

/** The format has no mark of failure; its writers keep theirs in `extra`. */
function errorOf(extra: JsonObject): { isError: boolean; message: string } {
  const message =
    textAt(extra, 'error') ?? (objectAt(extra, 'error') === undefined ? '' : plainText(extra.error));
  const isError =
    extra.is_error === true || message !== '' || extra.status === 'error' || extra.status === 'failed';
  return { isError, message: message || 'error' };
}
