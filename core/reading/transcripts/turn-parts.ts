import type { JsonObject } from '../../base/json.ts';
import type { Block, SpanError, SpanFlag } from '../../session/session.ts';
import { readToolCalls } from './blocks.ts';
import type { Turn } from './conversation.ts';

/** Pieces of turns that logs of agents have in common, whatever words they are written in. */

/** The error of a command that ended with another code than 0; none for 0 and where no code is stated. */
export function exitErrors(code: number | undefined, output: string): SpanError[] {
  if (code === undefined || code === 0) return [];
  return [{ source: 'exit-code', code, message: (output.trimEnd().split('\n').at(-1) ?? '').slice(0, 300) }];
}

interface ToolAnswer {
  readonly position: number;
  readonly toolCallId: string | null;
  readonly content: string;
  /** `null`: the log does not say. A code other than 0 says it too. */
  readonly isError?: boolean | null;
  readonly exitCode?: number | undefined;
  readonly toolName?: string | undefined;
  readonly agent?: string | null;
  readonly time?: string | null;
  readonly flags?: readonly SpanFlag[];
}

/** The result of one call. */
export function answerTurn(answer: ToolAnswer): Turn {
  const { position, toolCallId, content, exitCode, toolName } = answer;
  const isError =
    exitCode === undefined ? (answer.isError ?? null) : exitCode !== 0 || answer.isError === true;
  return {
    position,
    role: 'tool',
    blocks: [{ type: 'tool_result', toolCallId, content, isError }],
    errors: exitErrors(exitCode, content),
    flags: answer.flags ?? [],
    ...timed(answer.time ?? null),
    ...(answer.agent === undefined ? {} : { agent: answer.agent }),
    ...(toolName === undefined ? {} : { toolName }),
  };
}

/** Something that the framework wrote between the turns. */
export function noteTurn(position: number, name: string, text: string, time: string | null = null): Turn {
  return { position, role: 'system', note: true, name, blocks: textBlocks(text), ...timed(time) };
}

/** How a run ended, where it did not end as it should: at a limit that somebody set, or by a fault. */
export function brokenEnd(
  position: number,
  how: 'limit' | 'fault',
  status: string,
  text = '',
  time: string | null = null,
): Turn {
  const said =
    how === 'limit' ? `the run was stopped at its limit: ${status}` : `the run broke off: ${status}`;
  const message = text === '' || text === status ? said : `${said}: ${text.slice(0, 300)}`;
  return {
    ...noteTurn(position, 'end of run', text === '' ? said : text, time),
    errors: [{ source: 'status', type: status, message }],
  };
}

export function textBlocks(text: string): Block[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

export function reasoningBlocks(text: string): Block[] {
  return text === '' ? [] : [{ type: 'reasoning', text }];
}

/** One call, in whatever words an API wrote it. */
export function callBlocks(call: JsonObject, flags: Set<SpanFlag>): Block[] {
  return readToolCalls({ tool_calls: [call] }, flags);
}

export function timed(time: string | null): Pick<Turn, 'startTimeUnixNano' | 'endTimeUnixNano'> {
  return { startTimeUnixNano: time, endTimeUnixNano: time };
}
