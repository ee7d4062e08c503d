import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SpanFlag, ToolDefinition } from '../../session/session.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { plainText, readTools, toolUse } from './blocks.ts';
import { readUsage } from './chat-turns.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { arrayAt, numberAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { answerTurn, brokenEnd, noteTurn, reasoningBlocks, textBlocks, timed } from './turn-parts.ts';

const SOURCES: ReadonlySet<string> = new Set(['agent', 'user', 'environment']);

function isEvent(value: JsonValue | undefined): value is JsonObject {
  if (!isJsonObject(value)) return false;
  if (value.source !== undefined && !SOURCES.has(String(value.source))) return false;
  return typeof value.action === 'string'
    ? isJsonObject(value.args)
    : typeof value.observation === 'string' && isJsonObject(value.extras) && 'content' in value;
}

/** Events: bare, as `trajectory` of a download, as `history` of an evaluation's line (there in pairs at first). */
export function eventsOf(document: JsonValue): JsonValue[] {
  if (Array.isArray(document)) return document;
  if (!isJsonObject(document)) return [];
  const list =
    arrayAt(document, 'trajectory') ?? arrayAt(document, 'history') ?? arrayAt(document, 'items') ?? [];
  return list.flatMap((item) => (Array.isArray(item) ? item : [item]));
}

/** The id of an evaluation's task, of which nothing else is taken: its answers stand beside it. */
export function sessionIdOf(document: JsonValue, source: string): string {
  const record = isJsonObject(document) ? document : {};
  return textAt(record, 'instance_id', 'conversation_id') ?? sourceStem(source);
}

/**
 * Event lists of OpenHands before its agent SDK (V0; shape of commit d6fab190): saved trajectories, downloads and the
 * `history` of evaluation lines. A tool call and its observation are two events; several calls of one answer share
 * the `model_response.id`, and usage is taken from that answer, since `llm_metrics` adds up over the run. What only
 * steers the client (state changes, recalls, condensations) is no turn.
 */
export const openhands: TranscriptFormat = {
  id: 'openhands',
  title: 'OpenHands event lists (V0)',
  knownBy:
    '[{source, action, args} | {source, observation, content, extras}], also as `trajectory` or `history`',
  from: 'a trajectory that OpenHands saved (`save_trajectory_path`) or the web client downloaded, and evaluation `output.jsonl`',
  checkedOn: 'OpenHands V0, commit d6fab190',

  recognise(document) {
    const sample = eventsOf(document).slice(0, 50);
    const known = sample.filter(isEvent).length;
    return known > 0 && known * 2 > sample.length ? { match: 'yes', sure: 0.98 } : { match: 'no' };
  },

  read(document, source) {
    const reader = makeReader();
    let unknown = 0;
    eventsOf(document).forEach((event, position) => {
      if (isEvent(event)) reader.add(event, position);
      else unknown += 1;
    });
    const session = buildConversation({
      sessionId: sessionIdOf(document, source),
      format: this.id,
      turns: reader.turns,
      tools: reader.tools(),
    });
    const unread =
      unknown === 0
        ? []
        : [{ where: source, reason: 'neither an action nor an observation', count: unknown }];
    return { sessions: [session], unread };
  },
};

/** Events that steer the client and say nothing that a model saw. */
const SILENT: ReadonlySet<string> = new Set([
  'change_agent_state',
  'recall',
  'null',
  'condense',
  'condensation',
  'condensation_request',
  'start',
  'pause',
  'resume',
  'loop_recovery',
]);
/** Observations that say that the call failed, whatever else they carry. */
const FAILED: ReadonlySet<string> = new Set(['error']);

function makeReader() {
  const turns: Turn[] = [];
  const answers = new Map<string, number>();
  /** Agents at work, the one that was called last at the end. */
  const agents: string[] = [];
  let tools: ToolDefinition[] | undefined;
  const agent = (): string | null => agents.at(-1) ?? null;

  const addCall = (event: JsonObject, args: JsonObject, position: number): void => {
    const metadata = objectAt(event, 'tool_call_metadata') ?? {};
    const response = objectAt(metadata, 'model_response') ?? {};
    const id = callId(metadata, event.id);
    const flags = new Set<SpanFlag>();
    const { thought, ...fields } = args;
    const asked = askedCall(response, id);
    const name = textAt(metadata, 'function_name') ?? textAt(event, 'action') ?? 'unknown';
    const use = toolUse(id, name, asked?.arguments ?? fields, flags);
    const responseId = textAt(response, 'id');
    const place = responseId === undefined ? undefined : answers.get(responseId);
    const before = place === undefined ? undefined : turns[place];
    if (place !== undefined && before !== undefined) {
      turns[place] = { ...before, blocks: [...before.blocks, use] };
      return;
    }
    const usage = objectAt(response, 'usage');
    const model = textAt(response, 'model');
    const message = objectAt(objectsIn(response.choices)[0] ?? {}, 'message') ?? {};
    const length = turns.push({
      position,
      role: 'assistant',
      agent: agent(),
      blocks: [
        ...reasoningBlocks(textAt(message, 'reasoning_content') ?? ''),
        ...textBlocks(typeof thought === 'string' ? thought : ''),
        use,
      ],
      flags: [...flags],
      ...timed(toUnixNano(event.timestamp)),
      ...(responseId === undefined ? {} : { responseId }),
      ...(usage === undefined ? {} : { usage: readUsage(usage) }),
      ...(model === undefined ? {} : { model }),
    });
    if (responseId !== undefined) answers.set(responseId, length - 1);
  };

  const addAction = (event: JsonObject, position: number): void => {
    const args = objectAt(event, 'args') ?? {};
    const time = toUnixNano(event.timestamp);
    switch (event.action) {
      case 'system': {
        tools ??= readTools(args);
        const name = textAt(args, 'agent_class');
        if (name !== undefined && agents.length === 0) agents.push(name);
        turns.push({
          position,
          role: 'system',
          blocks: textBlocks(textAt(args, 'content') ?? ''),
          ...timed(time),
        });
        return;
      }
      case 'message': {
        const blocks = textBlocks(textAt(args, 'content') ?? '');
        if (event.source === 'user') turns.push({ position, role: 'user', blocks, ...timed(time) });
        else turns.push({ position, role: 'assistant', agent: agent(), blocks, ...timed(time) });
        return;
      }
      case 'finish': {
        const text = textAt(args, 'final_thought', 'thought') ?? plainText(args.outputs);
        turns.push({ position, role: 'assistant', agent: agent(), blocks: textBlocks(text), ...timed(time) });
        return;
      }
      default:
        addCall(event, args, position);
        if (event.action === 'delegate') agents.push(textAt(args, 'agent') ?? 'delegate');
    }
  };

  const addObservation = (event: JsonObject, position: number): void => {
    const extras = objectAt(event, 'extras') ?? {};
    const metadata = objectAt(event, 'tool_call_metadata') ?? {};
    const content = plainText(event.content);
    const time = toUnixNano(event.timestamp);
    if (event.observation === 'agent_state_changed') {
      const reason = textAt(extras, 'reason') ?? '';
      if (extras.agent_state === 'error')
        turns.push(brokenEnd(position, 'fault', 'agent state error', reason, time));
      return;
    }
    if (event.observation === 'delegate' && agents.length > 1) agents.pop();
    const failed = FAILED.has(String(event.observation));
    const hasCall = metadata.tool_call_id !== undefined || typeof event.cause === 'number';
    if (!hasCall) {
      const note = noteTurn(position, String(event.observation), content, time);
      turns.push(failed ? { ...note, errors: [{ source: 'status', message: content.slice(0, 300) }] } : note);
      return;
    }
    const code = numberAt(objectAt(extras, 'metadata') ?? {}, 'exit_code');
    turns.push(
      answerTurn({
        position,
        toolCallId: callId(metadata, event.cause),
        content,
        // A person who says no is no failure of the tool.
        isError: event.observation === 'user_rejected' ? null : failed || event.success === false,
        // -1: still running when it was looked at.
        exitCode: code === -1 ? undefined : code,
        agent: agent(),
        time,
        flags: code === -1 ? ['in-progress'] : [],
      }),
    );
  };

  return {
    turns,
    tools: () => tools,
    add(event: JsonObject, position: number): void {
      if (typeof event.action === 'string') {
        if (!SILENT.has(event.action)) addAction(event, position);
      } else if (!SILENT.has(String(event.observation))) addObservation(event, position);
    },
  };
}

/** The provider's id, else one of the event that asked. */
function callId(metadata: JsonObject, event: JsonValue | undefined): string | null {
  return textAt(metadata, 'tool_call_id') ?? (typeof event === 'number' ? `event-${event}` : null);
}

/** The call as the model wrote it: an event holds what the client made of it. */
function askedCall(response: JsonObject, id: string | null): JsonObject | undefined {
  const message = objectAt(objectsIn(response.choices)[0] ?? {}, 'message') ?? {};
  const call = objectsIn(message.tool_calls).find((candidate) => candidate.id === id);
  return call === undefined ? undefined : objectAt(call, 'function');
}
