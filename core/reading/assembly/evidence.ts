import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { isBrokenFinish } from '../../vocabulary/finish-reasons.ts';
import { numberAt, textAt } from '../conventions/attributes.ts';
import { parseJson } from '../decode/decode-json.ts';
import type { RawSpan } from '../decode/format.ts';
import { ancestors } from './duplicates.ts';
import { isErrorLine } from './records.ts';
import { addError, blocksOf, isInference, isTool, type Work } from './work.ts';

/** Longest text of an error kept; stack traces in messages run to tens of kilobytes. */
const MAX_MESSAGE = 2000;

/** Facts that the span's own record states: status, error.type, exceptions, HTTP codes, error lines of its log. */
export function gatherStated(work: Work): void {
  const { raw } = work;
  const a = raw.attributes;
  for (const event of raw.events) {
    if (event.name === 'exception' || event.attributes['exception.type'] !== undefined)
      addException(work, event.attributes);
  }
  if (a['exception.type'] !== undefined || a['exception.message'] !== undefined) addException(work, a);
  const type = textAt(a, 'error.type');
  const cause = textAt(a, 'error.message', 'aws.xray.cause.message') ?? xrayCause(a['aws.xray.cause']);
  const told = work.errors[0]?.message;
  if (type !== null)
    addError(work, { source: 'error-type', type, message: cut(cause ?? raw.status.message ?? told ?? type) });
  if (raw.status.code === 'error') {
    addError(work, {
      source: 'status',
      message: cut(raw.status.message ?? cause ?? told ?? 'the span ended with status ERROR'),
    });
  }
  const code = httpCode(raw);
  if (code !== null)
    addError(work, {
      source: 'http',
      message: `HTTP ${code} from ${raw.name || 'a client span'}${cause === null ? '' : `: ${cut(cause)}`}`,
      code,
    });
  for (const log of work.logs) {
    if (isErrorLine(log) && typeof log.body === 'string') {
      addError(work, {
        source: 'exception',
        message: cut(textAt(log.attributes, 'exception.message') ?? log.body),
      });
    }
  }
}

/** X-Ray's `cause`: `{message}`, or `{exceptions: [{type, message}]}`, the first being the innermost. */
function xrayCause(cause: JsonValue | undefined): string | null {
  if (!isJsonObject(cause)) return null;
  const list = Array.isArray(cause.exceptions) ? cause.exceptions.filter(isJsonObject) : [];
  for (const { message, type } of [cause, ...list]) {
    if (typeof message === 'string' && message !== '')
      return typeof type === 'string' && type !== '' ? `${type}: ${message}` : message;
  }
  return null;
}

function addException(work: Work, attributes: RawSpan['attributes']): void {
  const type = textAt(attributes, 'exception.type');
  const message = textAt(attributes, 'exception.message') ?? type ?? 'an exception without a message';
  addError(work, { source: 'exception', ...(type !== null ? { type } : {}), message: cut(message) });
}

function httpCode(raw: RawSpan): number | null {
  const code = numberAt(raw.attributes, 'http.response.status_code', 'http.status_code');
  return code !== null && code >= 400 ? code : null;
}

/** Facts that content states: finish reasons, tool results, exit codes; and HTTP failures below a call or tool. */
export function gatherFromContent(works: readonly Work[]): void {
  const byId = new Map(works.map((work) => [work.spanId, work]));
  const withSpan = new Set(
    works.flatMap((work) => (isTool(work) ? (work.content.toolCall.toolCallId ?? []) : [])),
  );
  const told = new Set<string>();
  for (const work of works) {
    if (isInference(work)) {
      for (const reason of work.content.finishReasons ?? []) {
        if (isBrokenFinish(reason))
          addError(work, {
            source: 'finish-reason',
            type: reason,
            message: `the model stopped with ${reason}`,
          });
      }
      // Failed calls without a span of their own show at the first call that carries their result.
      for (const block of blocksOf([...work.content.input, ...work.content.output])) {
        if (block.type !== 'tool_result') continue;
        const key = block.toolCallId ?? block.content;
        if (told.has(key) || withSpan.has(key)) continue;
        told.add(key);
        addResultErrors(work, block.content, block.isError);
      }
    } else if (isTool(work) && work.content.toolResult !== null) {
      addResultErrors(work, work.content.toolResult.content, work.content.toolResult.isError);
    }
    const isClient =
      work.content.kind === 'other' && work.raw.kind === 'CLIENT' && !work.flags.has('merged-duplicate');
    const code = isClient ? httpCode(work.raw) : null;
    if (code !== null) {
      const owner = stepAbove(work, byId);
      if (owner !== null) {
        addError(owner, {
          source: 'http',
          message: `HTTP ${code} from ${work.raw.name || 'a client span'} (span ${work.spanId})`,
          code,
        });
      }
    }
  }
}

function stepAbove(work: Work, byId: ReadonlyMap<string, Work>): Work | null {
  for (const above of ancestors(work, byId)) {
    if (above.content.kind === 'inference' || above.content.kind === 'execute_tool') return above;
    if (above.content.kind === 'invoke_agent') return null;
  }
  return null;
}

function addResultErrors(work: Work, content: string, isError: boolean | null): void {
  const exit = exitOf(content);
  if (exit !== null) addError(work, exit);
  else if (isError === true)
    addError(work, { source: 'tool-status', message: cut(content) || 'the tool reported an error' });
}

/** Exit code of a command, in the JSON shapes of shells and sandboxes or as the first line that harnesses write. */
function exitOf(content: string): { source: 'exit-code'; message: string; code?: number } | null {
  const line = /^(?:Error: )?Exit code:? (\d{1,3})\b/.exec(content);
  if (line)
    return line[1] === '0' ? null : { source: 'exit-code', code: Number(line[1]), message: cut(content) };
  if (!content.startsWith('{') || content.length > 1_000_000) return null;
  const parsed = parseJson(content);
  if (!parsed.ok || !isJsonObject(parsed.value)) return null;
  return exitOfObject(parsed.value);
}

function exitOfObject(result: JsonObject): { source: 'exit-code'; message: string; code?: number } | null {
  const stderr = typeof result.stderr === 'string' ? result.stderr : '';
  for (const key of ['exit_code', 'exitCode', 'returncode', 'return_code']) {
    const code = result[key];
    if (typeof code === 'number') {
      return code === 0 ? null : { source: 'exit-code', code, message: cut(stderr) || `exit code ${code}` };
    }
  }
  if (result.interrupted === true)
    return { source: 'exit-code', message: cut(stderr) || 'the command was interrupted' };
  // Warnings go to stderr too: without an exit code it counts only when there is no other output.
  return stderr.trim() !== '' && result.stdout === '' ? { source: 'exit-code', message: cut(stderr) } : null;
}

function cut(text: string): string {
  if (text.length <= MAX_MESSAGE) return text.toWellFormed();
  return `${text.slice(0, MAX_MESSAGE).toWellFormed()}… [${text.length - MAX_MESSAGE} characters cut]`;
}
