import type { Block, Span, SpanError } from '../session/session.ts';
import type { Part, Step, ToolExchange, Trajectory } from '../trajectory/trajectory.ts';
import { finishReason } from '../vocabulary/finish-reasons.ts';
import { type PromptReference, referToPrompt } from './prompt-reference.ts';
import { compactJson, escapeText, jsonOnOneLine, renderName, renderSeconds } from './render-text.ts';
import { makeSpanAliases, type SpanAliases } from './span-aliases.ts';

/**
 * Renders steps for prompts as numbered plain lines: about a third of the tokens of indented JSON.
 *
 * A step begins `@<alias> <word> <name> [notes]: text`, its further parts begin `@<word> …`; every other line is
 * text of the session, which cannot begin so (`render-text.ts`). Words: `model` (inference), `tool` (its run),
 * `agent` (invocation), `span` (anything else); messages go by their role: `user`, `system`, `assistant`, `output`.
 *
 * Kept: order, ids, agents and speakers, all text, calls with arguments, results, errors, flags. Left out: the white
 * space between the tokens of JSON results (compare quotes without white space); call ids (a result says `for` which
 * call it is unless it follows that call); times unless somebody waited; and what the system prompt in the header
 * says already (`prompt-reference.ts`).
 */
export interface StepRenderer {
  readonly aliases: SpanAliases;
  /** Text of one step, without a line end. Well-formed, never empty. */
  render(stepIndex: number): string;
}

/** A wait between steps or a run as long as this is worth telling, in seconds. A minute is where timeouts begin. */
const LONG_WAIT_S = 60;
const LONG_RUN_S = 30;
/** Beside an error any time a person could notice may explain it. */
const LONG_RUN_WITH_ERROR_S = 1;

/** How a model call ends that is not worth telling. */
const isOrdinary = (word: string): boolean => ['stop', 'tool-calls'].includes(finishReason(word));

/** `systemPromptAbove`: the text stands in the header, so a step that repeats it only says so. */
export function makeStepRenderer(
  trajectory: Trajectory,
  { systemPromptAbove = true }: { readonly systemPromptAbove?: boolean } = {},
): StepRenderer {
  const { steps } = trajectory;
  const aliases = makeSpanAliases(trajectory);
  const systemPrompt = systemPromptAbove ? (trajectory.systemPrompt?.trim() ?? null) : null;
  const exchangesByResult = groupBy(trajectory.exchanges, (exchange) => exchange.resultStep);
  const exchangesByCall = groupBy(trajectory.exchanges, (exchange) => exchange.callStep);

  /** `for s3 #2`, or nothing where it is the only call of the step before or of this step. */
  const reference = (exchange: ToolExchange | undefined, step: Step): string[] => {
    if (exchange === undefined) return [];
    const siblings = exchangesByCall.get(exchange.callStep) ?? [];
    const near = exchange.callStep === step.index - 1 || exchange.callStep === step.index;
    if (near && siblings.length === 1) return [];
    const number = siblings.length > 1 ? ` #${siblings.indexOf(exchange) + 1}` : '';
    return [`for ${aliases.of(exchange.callStep)}${number}`];
  };

  const promptReference = ({ role, block }: Part): PromptReference | null =>
    role === 'system' && block.type === 'text' && systemPrompt !== null
      ? referToPrompt(block.text, systemPrompt)
      : null;

  const renderPart = (part: Part, step: Step, pending: ToolExchange[]): string => {
    const { block } = part;
    switch (block.type) {
      case 'text': {
        const reference = promptReference(part);
        return reference === null
          ? `@${part.role}${nameAfter(part.speaker, step)}: ${escapeText(block.text)}`
          : `@system${bracket([reference.note])}${afterColon(reference.replacement)}`;
      }
      case 'reasoning':
        return `@thinking: ${escapeText(block.text)}`;
      case 'tool_use':
        return `@call ${renderCall(block)}`;
      case 'tool_result': {
        const at = pending.findIndex((exchange) => exchange.result === block.content);
        const exchange = at === -1 ? undefined : pending.splice(at, 1)[0];
        const notes = [...reference(exchange, step), ...(block.isError === true ? ['error'] : [])];
        return `@result${bracket(notes)}: ${escapeText(compactJson(block.content))}`;
      }
      case 'media':
        return `@media ${renderName(block.mediaType)}, ${block.byteLength} bytes, ${renderName(block.digest.slice(0, 12))}`;
    }
  };

  return {
    aliases,
    render(stepIndex) {
      const step = steps[stepIndex];
      if (step === undefined) throw new RangeError(`no step ${stepIndex} among ${steps.length}`);
      const { span } = step;
      const pending = [...(exchangesByResult.get(stepIndex) ?? [])];
      const parts = [...step.parts];
      const notes: string[] = [];
      let inline = '';
      let name = nameAfter(step.agent ?? headSpeaker(parts), null);

      if (span.kind === 'execute_tool') {
        const ownCall = parts[0]?.block.type === 'tool_use' ? parts.shift() : undefined;
        name = ` ${ownCall?.block.type === 'tool_use' ? renderCall(ownCall.block) : renderName(span.toolCall.name)}`;
        if (ownCall === undefined) notes.push(...reference(pending[0], step));
        else if (step.agent !== null && step.agent !== steps[stepIndex - 1]?.agent)
          notes.push(`by ${renderName(step.agent)}`);
        if (span.toolResult === null) notes.push('no result');
      }
      if (span.kind === 'other') {
        name = ` ${renderName(span.name)}${Object.keys(span.attributes).length > 0 ? ` ${jsonOnOneLine(span.attributes)}` : ''}`;
        const parent = trajectory.stepBySpan.get(span.parentSpanId ?? '');
        if (parent !== undefined && parent.index !== step.index - 1)
          notes.push(`in ${aliases.of(parent.index)}`);
      }
      const first = parts[0];
      if (first !== undefined && isMain(first, step)) {
        parts.shift();
        if (span.kind !== 'execute_tool' && step.agent !== null && first.speaker !== null)
          name = nameAfter(first.speaker, null);
        if (first.block.type === 'tool_result') {
          pending.shift();
          if (first.block.isError === true) notes.push('error');
          inline = `: ${escapeText(compactJson(first.block.content))}`;
        } else if (first.block.type === 'text') {
          const reference = promptReference(first);
          if (reference !== null) notes.push(reference.note);
          inline = afterColon(reference === null ? first.block.text : reference.replacement);
        }
      }
      notes.push(...spanNotes(span, steps[stepIndex - 1]?.span));
      return [
        `@${aliases.of(stepIndex)} ${headWord(step)}${name}${bracket(notes)}${inline}`,
        ...parts.map((part) => renderPart(part, step, pending)),
        ...span.errors.map(renderError),
      ].join('\n');
    },
  };
}

/** The speaker that names the step when no agent is known: a person in a group chat. */
function headSpeaker(parts: readonly Part[]): string | null {
  const first = parts[0];
  return first?.block.type === 'text' ? first.speaker : null;
}

/** Whether the part is what one expects first at such a step, so that it needs no word of its own. */
function isMain(part: Part, step: Step): boolean {
  const { block, role } = part;
  const known = part.speaker === null || part.speaker === step.agent || step.agent === null;
  const speakerShown = known || (step.agent !== null && part.speaker?.startsWith(step.agent) === true);
  switch (step.span.kind) {
    case 'execute_tool':
      return block.type === 'tool_result';
    case 'inference':
      return block.type === 'text' && role === 'assistant' && speakerShown;
    case 'invoke_agent':
      return block.type === 'text' && role === 'user' && speakerShown;
    case 'message':
      return (block.type === 'text' || (block.type === 'tool_result' && role === 'tool')) && speakerShown;
    case 'other':
      return false;
  }
}

function headWord(step: Step): string {
  switch (step.span.kind) {
    case 'inference':
      return 'model';
    case 'execute_tool':
      return 'tool';
    case 'invoke_agent':
      return 'agent';
    case 'message':
      return step.span.message.role === 'tool' ? 'output' : step.span.message.role;
    case 'other':
      return 'span';
  }
}

function nameAfter(name: string | null, step: Step | null): string {
  return name === null || (step !== null && name === step.agent) ? '' : ` ${renderName(name)}`;
}

type UseBlock = Extract<Block, { type: 'tool_use' }>;

/** `name {…}`; arguments that were no JSON stand as the producer wrote them, as one JSON string after `raw`. */
function renderCall(call: Omit<UseBlock, 'type'>): string {
  const args =
    call.argumentsRaw === undefined
      ? jsonOnOneLine(call.arguments)
      : `raw ${jsonOnOneLine(call.argumentsRaw)}`;
  return `${renderName(call.name)} ${args}`;
}

function renderError(error: SpanError): string {
  const type = error.type === undefined ? '' : ` ${renderName(error.type)}`;
  const code = error.code === undefined ? '' : ` ${error.code}`;
  return `@error ${error.source}${type}${code}: ${escapeText(error.message)}`;
}

function spanNotes(span: Span, before: Span | undefined): string[] {
  const notes: string[] = [];
  if (span.status === 'error' && span.errors.length === 0) notes.push('status error');
  if (span.kind === 'inference' && !span.errors.some((error) => error.source === 'finish-reason'))
    for (const reason of span.finishReasons ?? [])
      if (!isOrdinary(reason)) notes.push(`finish ${/^[\w-]{1,40}$/.test(reason) ? reason : 'unknown'}`);
  const wait = secondsBetween(before?.endTimeUnixNano ?? before?.startTimeUnixNano, span.startTimeUnixNano);
  if (wait !== null && wait >= LONG_WAIT_S) notes.push(`after ${renderSeconds(wait)}`);
  const run = secondsBetween(span.startTimeUnixNano, span.endTimeUnixNano);
  const noteworthy = span.errors.length > 0 ? LONG_RUN_WITH_ERROR_S : LONG_RUN_S;
  if (run !== null && run >= noteworthy) notes.push(`took ${renderSeconds(run)}`);
  return [...notes, ...span.flags];
}

function secondsBetween(from: string | null | undefined, to: string | null | undefined): number | null {
  if (from === null || from === undefined || to === null || to === undefined) return null;
  if (!/^\d{1,25}$/.test(from) || !/^\d{1,25}$/.test(to)) return null;
  return Number((BigInt(to) - BigInt(from)) / 1_000_000n) / 1000;
}

const afterColon = (text: string | null): string => (text === null ? '' : `: ${escapeText(text)}`);

const bracket = (notes: readonly string[]): string => (notes.length === 0 ? '' : ` [${notes.join('; ')}]`);

function groupBy<K, V>(values: readonly V[], key: (value: V) => K): Map<K, V[]> {
  const groups = new Map<K, V[]>();
  for (const value of values) {
    const group = groups.get(key(value));
    if (group === undefined) groups.set(key(value), [value]);
    else group.push(value);
  }
  return groups;
}
