import type { Block, SpanFlag } from '../../session/session.ts';
import { finishReason } from '../../vocabulary/finish-reasons.ts';
import { breaksOff } from '../decode/decode-json.ts';
import type { RawSpan } from '../decode/format.ts';
import { isTelling } from './records.ts';
import { blocksOf, type InferenceContent, isInference, isTool, type Work } from './work.ts';

/**
 * Tells apart why content is not there, in this order:
 * lost (the exporter says it dropped attributes) · not arrived (the span is still open, or its resource names a log
 * group for the content and no record came) · absent (nothing else explains it: recording is switched off).
 * Redacted and truncated are read off the content itself. `isAlone`: the session has no model call and no tool run,
 * where an agent's own prompt and answer may stand alone.
 */
export function flagContent(work: Work, isAlone: boolean): void {
  if (work.raw.inProgress) work.flags.add('in-progress');
  const missing = isInference(work)
    ? work.content.input.length === 0 && work.content.output.length === 0
    : isTool(work)
      ? work.content.toolCall.arguments === null && work.content.toolResult === null
      : work.content.kind === 'invoke_agent' &&
          work.content.userPrompt === null &&
          work.content.agentResponse === null
        ? isAlone || isKnownGap(work)
        : false;
  if (missing) work.flags.add(whyMissing(work));
  else if (isInference(work) && asksUnseen(work.content)) work.flags.add('content-lost');
  for (const text of ownWords(work)) if (PLAIN_CUT.test(text.slice(-40))) work.flags.add('content-truncated');
  for (const text of texts(work)) {
    if (isRedacted(text)) work.flags.add('content-redacted');
    if (TELEMETRY_CUT.test(text.slice(-80)) || breaksOff(text)) work.flags.add('content-truncated');
  }
}

function whyMissing(work: Work): SpanFlag {
  if (work.flags.has('content-redacted')) return 'content-redacted';
  if (Number(work.raw.attributes['otel.dropped_attributes_count'] ?? 0) > 0) return 'content-lost';
  if (work.raw.inProgress) return 'content-not-arrived';
  return isKnownGap(work) ? 'content-not-arrived' : 'content-absent';
}

function isKnownGap(work: Work): boolean {
  return isSplitLayout(work.raw) && !work.logs.some(isTelling);
}

/** The resource names the log group that receives the content (AgentCore's split layout). */
export function isSplitLayout(span: RawSpan): boolean {
  const groups = span.resource['aws.log.group.names'];
  return typeof groups === 'string' ? groups !== '' : Array.isArray(groups) && groups.length > 0;
}

/** Marks that SDKs and collectors leave in place of a whole value. */
const REDACTION_MARK =
  /^[<[(*_\s]{0,4}(redacted|elided|masked|filtered|content[ _-]hidden|hidden)[>\])*_\s]{0,4}$/i;
/**
 * Remarks of telemetry limits at the end of a value; what has a structure is told by that (`breaksOff`). The plain
 * `...[truncated]` is also how agents shorten a tool's result for the model: in results it says nothing of the
 * telemetry.
 */
const TELEMETRY_CUT =
  /(?:\[This value has been truncated\]|<truncated due to size exceeding limit>|\[Truncated\s?(?:\.\.\.|…)\]|(?:\.\.\.|…)\s?\(truncated\))\s{0,4}$/i;
const PLAIN_CUT = /(?:\.\.\.|…)\s?[[(<]truncated[\])>]\s{0,4}$/i;

/** The model stopped to call a tool, but no call can be seen: it stands in a form that is not read. */
function asksUnseen({ output, finishReasons }: InferenceContent): boolean {
  return (
    (finishReasons ?? []).some((word) => finishReason(word) === 'tool-calls') &&
    !blocksOf(output).some((block) => block.type === 'tool_use')
  );
}

function isRedacted(text: string): boolean {
  return text.length <= 40 && REDACTION_MARK.test(text);
}

/** What people and models wrote. */
function ownWords(work: Work): string[] {
  if (!isInference(work)) return [];
  return blocksOf([...work.content.input, ...work.content.output]).flatMap((block) =>
    block.type === 'text' ? [block.text] : [],
  );
}

function texts(work: Work): string[] {
  const { content } = work;
  switch (content.kind) {
    case 'inference':
      return blocksOf([...content.input, ...content.output]).flatMap(textOf);
    case 'execute_tool': {
      const args = content.toolCall.arguments;
      const values =
        typeof args === 'object' && args !== null && !Array.isArray(args) ? Object.values(args) : [args];
      return [
        ...values.filter((value) => typeof value === 'string'),
        ...(content.toolResult ? [content.toolResult.content] : []),
      ];
    }
    case 'invoke_agent':
      return [content.userPrompt ?? '', content.agentResponse ?? ''];
    case 'message':
      return blocksOf([content.message]).flatMap(textOf);
    case 'other':
      return [];
  }
}

function textOf(block: Block): string[] {
  switch (block.type) {
    case 'text':
      return [block.text];
    case 'tool_result':
      return [block.content];
    default:
      return [];
  }
}
