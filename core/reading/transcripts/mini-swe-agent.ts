import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SpanFlag } from '../../session/session.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { plainText, toolUse } from './blocks.ts';
import { readChatItem, readUsage } from './chat-turns.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { numberAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { answerTurn, brokenEnd, exitErrors, noteTurn, timed } from './turn-parts.ts';

const BASH = /```(?:mswea_bash_command|bash)\s{0,8}\n([\s\S]*?)\n?```/;
const RETURN_CODE = /^\s{0,8}<returncode>(-?\d{1,9})<\/returncode>/;

function isRun(document: JsonValue): document is JsonObject {
  if (!isJsonObject(document) || !Array.isArray(document.messages)) return false;
  const info = objectAt(document, 'info');
  return (
    /^mini-swe-agent-/.test(textAt(document, 'trajectory_format') ?? '') ||
    (info !== undefined && textAt(info, 'mini_version') !== undefined)
  );
}

/** The messages alone, as tests and third parties store them: known by the mark of the agent's own prompt. */
function isBareList(document: JsonValue): document is JsonValue[] {
  if (!Array.isArray(document) || document.length === 0) return false;
  const messages = document.filter(isJsonObject);
  const says = (message: JsonObject, role: string, mark: RegExp): boolean =>
    message.role === role && typeof message.content === 'string' && mark.test(message.content);
  return (
    messages.length === document.length &&
    messages.some((message) => says(message, 'assistant', BASH)) &&
    messages.some((message) => says(message, 'user', RETURN_CODE))
  );
}

/**
 * Runs of mini-SWE-agent (`*.traj.json`; shape of version 2.4.6, commit a83fcae8, and of its versions 1): chat
 * messages, or items of the Responses API, with an `extra` that holds the answer as it came, its cost and time, and
 * a command's return code. In the text modes the command is the one fenced block of an answer.
 */
export const miniSweAgent: TranscriptFormat = {
  id: 'mini-swe-agent',
  title: 'mini-SWE-agent runs',
  knownBy: '{trajectory_format: "mini-swe-agent-…", messages: [{role, content, extra}], info}',
  from: 'the `*.traj.json` file that `mini` writes (`-o`), or of a batch run',
  checkedOn: 'mini-SWE-agent 2.4.6 (commit a83fcae8) and its versions 1',

  recognise(document) {
    if (isRun(document)) return { match: 'yes', sure: 0.99 };
    return isBareList(document) ? { match: 'yes', sure: 0.96 } : { match: 'no' };
  },

  read(document, source) {
    const run: JsonObject = isJsonObject(document) ? document : { messages: document };
    const info = objectAt(run, 'info') ?? {};
    const config = objectAt(info, 'config') ?? {};
    const model = textAt(objectAt(config, 'model') ?? {}, 'model_name');
    const turns = readMessages(objectsIn(run.messages)).map((turn) =>
      turn.role === 'assistant' && turn.model === undefined && model !== undefined
        ? { ...turn, model }
        : turn,
    );
    const status = textAt(info, 'exit_status') ?? textAt(run, 'exit_status');
    const told = turns.some((turn) => turn.name === 'end of run');
    if (!told && status !== undefined && status !== SUBMITTED)
      turns.push(endTurn(turns.length, status, info));
    const session = buildConversation({
      sessionId: textAt(run, 'instance_id') ?? sourceStem(source),
      format: this.id,
      turns,
    });
    return { sessions: [session], unread: [] };
  },
};

const SUBMITTED = 'Submitted';
const LIMITS: ReadonlySet<string> = new Set(['LimitsExceeded', 'TimeExceeded', 'ContextWindowExceededError']);
/** A person stopped it: no fault of the run. */
const INTERRUPTED = 'UserInterruption';

function readMessages(messages: readonly JsonObject[]): Turn[] {
  const turns: Turn[] = [];
  /** Ids of calls that nothing answered yet; a run that is handed in ends inside its last call. */
  let open: string[] = [];
  messages.forEach((message, position) => {
    const extra = objectAt(message, 'extra') ?? {};
    if (message.role === 'exit') {
      turns.push(exitTurn(message, extra, position, open));
      return;
    }
    if (extra.interrupt_type !== undefined) {
      turns.push(...interruptTurns(message, extra, position));
      return;
    }
    const result = readResult(message, extra, position, open);
    if (result !== null) {
      turns.push(result);
      const [answered] = result.blocks;
      open = open.filter((id) => answered?.type !== 'tool_result' || id !== answered.toolCallId);
      return;
    }
    const turn = readAnswer(message, extra, position);
    turns.push(turn);
    if (turn.role === 'assistant')
      open = turn.blocks.flatMap((block) => (block.type === 'tool_use' ? [block.toolCallId ?? ''] : []));
  });
  return turns;
}

function readAnswer(message: JsonObject, extra: JsonObject, position: number): Turn {
  // With the Responses API the answer is the response object itself.
  const items = message.object === 'response' ? objectsIn(message.output) : [];
  const parts = (items.length > 0 ? items : [message]).flatMap((item) => readChatItem(item, position));
  const blocks = parts.flatMap((part) => [...part.blocks]);
  const flags = new Set<SpanFlag>(parts.flatMap((part) => [...(part.flags ?? [])]));
  const role = items.length > 0 ? 'assistant' : (parts[0]?.role ?? 'user');
  const time = toUnixNano(extra.timestamp);
  if (role !== 'assistant') return { position, role, blocks, flags: [...flags], ...timed(time) };
  const response = items.length > 0 ? message : (objectAt(extra, 'response') ?? {});
  const usage = objectAt(response, 'usage');
  const model = textAt(response, 'model');
  const responseId = textAt(response, 'id');
  const finish = textAt(objectsIn(response.choices)[0] ?? {}, 'finish_reason');
  if (!blocks.some((block) => block.type === 'tool_use')) {
    const command =
      textAt(objectsIn(extra.actions)[0] ?? {}, 'command') ?? BASH.exec(plainText(message.content))?.[1];
    if (command !== undefined) blocks.push(toolUse(`command-${position}`, 'bash', { command }, flags));
  }
  return {
    position,
    role,
    blocks,
    flags: [...flags],
    ...timed(time),
    ...(usage === undefined ? {} : { usage: readUsage(usage) }),
    ...(model === undefined ? {} : { model }),
    ...(responseId === undefined ? {} : { responseId }),
    ...(finish === undefined ? {} : { finishReasons: [finish.toLowerCase()] }),
  };
}

function readResult(
  message: JsonObject,
  extra: JsonObject,
  position: number,
  open: readonly string[],
): Turn | null {
  const content = plainText(message.content ?? message.output);
  const stated = RETURN_CODE.exec(content)?.[1];
  const exitCode = numberAt(extra, 'returncode') ?? (stated === undefined ? undefined : Number(stated));
  const isResult = message.role === 'tool' || message.type === 'function_call_output';
  if (!isResult && (exitCode === undefined || message.role !== 'user')) return null;
  const exception = textAt(extra, 'exception_info');
  const turn = answerTurn({
    position,
    toolCallId: textAt(message, 'tool_call_id', 'call_id') ?? open[0] ?? null,
    content,
    exitCode,
    time: toUnixNano(extra.timestamp),
  });
  const printed = textAt(extra, 'raw_output') ?? content.replace(/\s{0,64}<\/output>\s{0,64}$/, '');
  const errors = exitErrors(exitCode, printed);
  if (exception !== undefined) errors.push({ source: 'exception', message: exception.slice(0, 300) });
  return { ...turn, errors };
}

/** An answer that could not be parsed stands only inside the note that it could not. */
function interruptTurns(message: JsonObject, extra: JsonObject, position: number): Turn[] {
  const response = objectAt(extra, 'response') ?? objectAt(extra, 'model_response') ?? {};
  const answer = objectAt(objectsIn(response.choices)[0] ?? {}, 'message');
  const type = textAt(extra, 'interrupt_type') ?? 'interrupt';
  const note = noteTurn(position, type, plainText(message.content), toUnixNano(extra.timestamp));
  return answer === undefined
    ? [note]
    : [readAnswer({ ...answer, role: 'assistant' }, { ...extra, response }, position), note];
}

/** The end of the run. What is handed in is the output of the command that handed it in. */
function exitTurn(message: JsonObject, extra: JsonObject, position: number, open: readonly string[]): Turn {
  const content = plainText(message.content);
  const status = textAt(extra, 'exit_status') ?? '';
  if (status !== SUBMITTED && status !== '') return endTurn(position, status, extra, content);
  const [toolCallId] = open;
  return toolCallId === undefined
    ? noteTurn(position, 'end of run', content)
    : answerTurn({ position, toolCallId, content, isError: false });
}

function endTurn(position: number, status: string, info: JsonObject, content = ''): Turn {
  const text = textAt(info, 'exception_str') ?? content;
  if (status === INTERRUPTED) return noteTurn(position, 'end of run', text || status);
  return brokenEnd(position, LIMITS.has(status) ? 'limit' : 'fault', status, text);
}
