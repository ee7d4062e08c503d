import type { ErrorClass } from '../vocabulary/error-classes.ts';
import { reportedExitCode } from './execution-report.ts';

/** Where a text says that something failed. */
export interface ErrorSpot {
  readonly start: number;
  readonly end: number;
  /** What the failure is where its wording tells no class. */
  readonly otherwise?: ErrorClass | null;
}

const AT_HEAD =
  /^[\s"'[(<{*#]{0,12}(?:an? )?(?:(?:fatal|internal|runtime|unexpected|tool|execution|validation|http|api|server|[\w.]{1,80})[ _-]?)?(?:error|exception|failure|failed)\b(?! ?(?:handling|rate|bars?|margins?|analysis|free|codes? (?:list|table)))[\s:>,.\]!(-]/i;
const TRACEBACK =
  /^\s{0,8}Traceback \(most recent call last\)|^\s{0,8}(?:Exception in thread|Caused by:|Unhandled (?:exception|rejection))|^\s{0,12}at [\w.$<>]{1,120}\([\w.]{1,80}:\d{1,6}(?::\d{1,6})?\)$|^panic: |^goroutine \d{1,6} \[/m;
const SHELL =
  /^(?:\/?[\w./-]{1,60}: (?:line )?(?:\d{1,6}: )?)[^\n]{0,120}(?:command not found|No such file or directory|Permission denied|: not found)\s*$/m;
const SQL =
  /^\s{0,8}(?:ERROR:\s{1,4}[^\n]{1,300}\n[\s\S]{0,300}?\b(?:SQLSTATE|LINE \d|DETAIL|HINT|CONTEXT|POSITION)\b|ERROR \d{4} \([0-9A-Z]{5}\)|ORA-\d{5}|SQLSTATE\b)|\bpsycopg2?\.(?:errors\.)?\w{3,60}/;
const RPC = /^\s{0,8}rpc error: code = \w{3,40}/i;
/** Network devices and other command lines mark what they refuse with a percent sign. */
const COMMAND_LINE =
  /^\s{0,40}% ?(?:Invalid|Incomplete|Ambiguous|Unrecognized|Unknown|Bad|Error|Failed)\b[^\n]{0,120}/im;
const PAGE_TITLE =
  /^\s{0,20}<(?:!doctype html|html)\b[\s\S]{0,1500}?<(?:title|h1)[^>]{0,100}>\s{0,20}((?:Error )?[45]\d\d\b[^<]{0,100}|(?:Service Unavailable|Bad Gateway|Gateway Time-?out|Forbidden|Access Denied|Not Found|Internal Server Error|Too Many Requests|Unauthorized|Server Error)[^<]{0,60})</i;
/** `HTTP/1.1 503 Service Unavailable`, `GET /rooms.csv -> 404 Not Found`, `404 Not Found`. */
const STATUS_LINE =
  /^\s{0,8}(?:HTTP\/\d(?:\.\d)? )?[45]\d\d (?:[A-Z][A-Za-z-]{1,20}\b ?){1,4}|^\s{0,8}(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) \S{1,300}\s{0,3}(?:->|=>|→|:|returned|answered)\s{0,3}(?:HTTP\/\d(?:\.\d)? )?[45]\d\d\b[^\n]{0,60}/;

/** "Skill 'x' not found. Available: …" says it in its first words; a longer text may only mention it. */
const NOT_FOUND = /^[^.\n]{1,120}?\b(?:not found|does not exist|doesn't exist|could not be found)\b/i;

/** A runtime that did not carry a call out says so in a sentence: of several hand-offs at once only one is followed. */
const NOT_DONE =
  /\b(?:ignor(?:ing|ed)|skipp(?:ing|ed)) (?:this|the) (?:one|call|request|tool|hand-?off|transfer)\b|\b(?:call|request|tool use|hand-?off|transfer) (?:was |has been |is )?(?:ignored|skipped|not (?:executed|performed|carried out))\b/i;

/** A short answer that begins by saying no. */
const DECLINED =
  /^[\s"']{0,4}(?:(?:we(?:'re| are)|i(?:'m| am)) )?(?:sorry|apologies|unfortunately|regrettably|unable to|cannot|can(?:'|’)t|could not|couldn(?:'|’)t|failed to|not (?:allowed|permitted|authori[sz]ed|possible)|access denied|permission denied|request (?:denied|refused|rejected)|refused|rejected|denied|invalid|forbidden|unauthori[sz]ed|timed out|timeout|too many requests|rate limit|service unavailable|upstream connect error|no healthy upstream|bad gateway|gateway time-?out|internal (?:server )?error|connection (?:refused|reset|closed|timed out)|rate exceeded|throttl(?:ed|ing)|network error|\[?(?:error|denied|refused|rejected|failed)\]?:)(?![\w])/i;

/**
 * Whether a text that is no JSON is an error by its form: an error prefix, a status line, an error page, a stack
 * trace, a database's or shell's complaint, a refusal. A long text that merely talks about errors is not one, so all
 * but the trace must stand at its head. `null` when it does not look like an error.
 */
export function findError(text: string): ErrorSpot | null {
  const tag = /^\s{0,20}<(?:tool_use_error|error|tool_error)>/i.exec(text);
  if (tag !== null)
    return { start: 0, end: Math.min(text.length, tag[0].length + 160), otherwise: 'tool-schema' };
  const head = text.slice(0, 2_000);
  for (const pattern of [SQL, RPC, STATUS_LINE, PAGE_TITLE]) {
    const found = pattern.exec(head);
    if (found !== null) return spot(found, null);
  }
  if ((reportedExitCode(text) ?? 0) !== 0)
    return { start: 0, end: Math.min(head.length, 40), otherwise: null };
  const said = AT_HEAD.exec(head);
  if (said !== null) return spot(said, 'tool-schema');
  const trace = findTraceback(text.length <= 20_000 ? text : text.slice(0, 20_000));
  if (trace !== null) return trace;
  if (text.length > 600) return null;
  for (const pattern of [SHELL, NOT_FOUND, NOT_DONE]) {
    const found = pattern.exec(text);
    if (found !== null) return spot(found, 'tool-schema');
  }
  const refused = COMMAND_LINE.exec(text);
  if (refused !== null) return spot(refused, 'tool-schema');
  const declined = text.length > 300 ? null : DECLINED.exec(text);
  return declined === null ? null : { start: 0, end: text.length, otherwise: 'business-refusal' };
}

function spot(found: RegExpExecArray, otherwise: ErrorClass | null): ErrorSpot {
  return { start: found.index, end: found.index + found[0].length, otherwise };
}

/** A stack trace: of Python, Java, Node or Go. */
export function findTraceback(text: string): ErrorSpot | null {
  const found = TRACEBACK.exec(text);
  return found === null ? null : spot(found, null);
}

const LOG_LINE =
  /^\s{0,8}(?:\d+\t|\[)?(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\d\d\/\w{3}\/\d{4}|\w{3} {1,2}\d{1,2} \d\d:\d\d|(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|PASS|FAIL|OK)\b\s)/;

/** Dated or levelled line after line: a log that was read or a report, whatever it tells of. */
export function looksLikeLog(text: string): boolean {
  const lines = text
    .slice(0, 4_000)
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.length >= 3 && lines.filter((line) => LOG_LINE.test(line)).length * 2 >= lines.length;
}

/** A person who says no to a call, or who is still to be asked, is not a fault of the tool. */
const USER_REFUSAL =
  /\b(?:user|human|operator|person) (?:has )?(?:rejected|declined|denied|refused|cancel+ed|interrupted|did(?: not|n't) (?:approve|allow)|does(?: not|n't) want)|(?:rejected|declined|denied|cancel+ed|interrupted) by (?:the )?(?:user|human|operator)|tool use was rejected|permission to use \S{1,120} (?:has been|was) (?:rejected|denied|declined)/i;

export function isUserRefusal(text: string): boolean {
  return USER_REFUSAL.test(text.slice(0, 1_000));
}
