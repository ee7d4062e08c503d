import type { CriticalCategory } from '../vocabulary/critical-categories.ts';
import type { CategoryId } from '../vocabulary/taxonomy.ts';
import { reportedExitCode } from './execution-report.ts';

export interface ErrorClass {
  readonly category: CategoryId;
  readonly critical: CriticalCategory;
  /** False when only the word "error" is known: the class is then a guess. */
  readonly certain: boolean;
}

interface Rule {
  readonly category: CategoryId;
  readonly critical: CriticalCategory;
  readonly words: RegExp;
  readonly codes: readonly number[];
}

/**
 * The nine execution errors by the words that runtimes, shells and services use, most telling first: "429 too
 * many requests, service unavailable" is rate limiting. Every pattern is a plain alternation with bounded
 * repetition, hence linear.
 */
const RULES: readonly Rule[] = [
  {
    category: 'execution-error-category-rate-limiting',
    critical: 'system-failure',
    words:
      /rate.?limit|too many requests|throttl(?:ed|ing)|quota (?:exceeded|used up)|exceeded (?:your|the) (?:current )?quota|requests per (?:minute|second|day)/i,
    codes: [429],
  },
  {
    category: 'execution-error-category-resource-exhaustion',
    critical: 'system-failure',
    words:
      /out of memory|\bMemoryError\b|\bOOM(?:Killed)?\b|no space left|disk (?:is )?full|\bENOSPC\b|heap limit|too many open files|\bEMFILE\b|context (?:length|window) exceeded|maximum context length|(?:input|prompt) is too long|\b(?:step|turn|token|cost|message|iteration|budget)s?[ _]limit\b|\bstopped at (?:its|the|a) limit\b|\blimits[ _]?exceeded\b/i,
    codes: [507],
  },
  {
    category: 'execution-error-category-timeout',
    critical: 'system-failure',
    words: /\btimed? ?out\b|\btimeout\b|Timeout(?:Error|Exception|Expired)|deadline exceeded|\bETIMEDOUT\b/i,
    codes: [408, 504, 524],
  },
  {
    category: 'execution-error-category-environment',
    critical: 'system-failure',
    words:
      /ModuleNotFoundError|\bImportError\b|no module named|cannot find (?:module|package)|command not found|: not found$|is not recognized as an internal|not installed|environment variable|(?:Errno 13|EACCES|Operation not permitted)|cannot open shared object|missing configuration|config(?:uration)? file/im,
    codes: [],
  },
  {
    category: 'execution-error-category-authentication',
    critical: 'guardrail',
    words:
      /unauthori[sz]ed|forbidden|access.?denied|permission.?denied|not authori[sz]ed|authentication (?:failed|required|error)|(?:invalid|incorrect|expired|missing|bad) (?:api.?key|token|credential|password|signature)|not subscribed to|login required|credentials? (?:not|could not|expired)/i,
    codes: [401, 403, 407],
  },
  {
    category: 'execution-error-category-formatting',
    critical: 'invalid-invocation',
    words:
      /JSONDecodeError|\bSyntaxError\b|\bIndentationError\b|\b(?:parse|parsing) error|(?:invalid|malformed|unexpected end of) JSON|unexpected token|syntax error|unterminated string|malformed/i,
    codes: [],
  },
  {
    category: 'execution-error-category-tool-schema',
    critical: 'invalid-invocation',
    words:
      /validation ?(?:error|exception|failed)|missing \d{0,3} ?(?:required|positional)|required (?:argument|parameter|field|property)|unexpected (?:keyword )?(?:argument|parameter)|invalid (?:argument|parameter|input|value|type|request)|does not match (?:the )?schema|unknown (?:argument|parameter|field|tool|function)|\bZodError\b|InputValidation/i,
    codes: [400, 422],
  },
  {
    category: 'execution-error-category-resource-not-found',
    critical: 'invalid-invocation',
    words:
      /\bnot[ _]found\b|NotFound|no such (?:file|key|table|column|directory|index|bucket)|does not exist|doesn't exist|could not be found|cannot be found|\bENOENT\b|unknown (?:id|user|order|resource)/i,
    codes: [404, 410],
  },
  {
    category: 'execution-error-category-service-errors',
    critical: 'system-failure',
    words:
      /internal (?:server )?error|service (?:is )?(?:temporarily )?unavailable|bad gateway|connection (?:refused|reset|aborted|error|closed)|\bECONN(?:REFUSED|RESET|ABORTED)\b|\bENOTFOUND\b|name resolution|overloaded|upstream|ServiceException|server error|ConnectionError|network (?:error|unreachable)/i,
    codes: [],
  },
];

/** The class of an error that is known to be one. `code` is an HTTP status. Text beyond 4,000 characters is not read. */
export function classifyError(text: string, code: number | null): ErrorClass {
  const head = text.length > 4_000 ? `${text.slice(0, 2_000)}\n${text.slice(-2_000)}` : text;
  const status = code ?? statedHttpStatus(head);
  // "Bad request" says nothing yet: an input that is too long, a filter and an unknown model all get a 400.
  if (status !== null && status !== 400) {
    const byCode = RULES.find((rule) => rule.codes.includes(status));
    if (byCode !== undefined) return { category: byCode.category, critical: byCode.critical, certain: true };
    if (status >= 500 && status < 600) {
      return {
        category: 'execution-error-category-service-errors',
        critical: 'system-failure',
        certain: true,
      };
    }
  }
  const byWord = RULES.find((rule) => rule.words.test(head));
  if (byWord !== undefined) return { category: byWord.category, critical: byWord.critical, certain: true };
  // A command or a test run that ended badly did run: nothing says that the call was wrong, nor what was.
  if (COMMAND_FAILED.test(head)) return { category: 'other', critical: 'inconclusive', certain: false };
  // A tool that answers "error" without saying more refused this call as it was made.
  return {
    category: 'execution-error-category-tool-schema',
    critical: 'invalid-invocation',
    certain: status === 400,
  };
}

const COMMAND_FAILED = /\bexit(?:ed)?(?: with)? (?:code|status)[ :=]{1,3}[1-9]|^\s{0,8}(?:FAIL|FAILED)\b/im;

const HTTP_STATUS =
  /\b(?:HTTP(?:\/\d(?:\.\d)?)?(?: error)?|status(?: ?code)?|HTTPError|response code|error code)["']?\s{0,3}[:=]?\s{0,3}([45]\d\d)\b|\b([45]\d\d) (?:Client|Server) Error\b/i;
/** A bare number after a verb of answering. Only asked of texts that are known to be errors: "returned 404 rows" is none. */
const ANSWERED_STATUS =
  /\b(?:answered|returned|responded|replied|failed|error)(?: with)?(?: an?)?:?\s{1,3}\(?([45]\d\d)\b(?! ?(?:items?|rows?|results?|records?|bytes|ms|seconds|characters|tokens))/i;

function statedHttpStatus(text: string): number | null {
  const found = HTTP_STATUS.exec(text) ?? ANSWERED_STATUS.exec(text);
  const digits = found?.[1] ?? found?.[2];
  return digits === undefined ? null : Number(digits);
}

const BLAMES_CALLER: ReadonlySet<string> = new Set(
  RULES.filter(({ critical }) => critical === 'invalid-invocation').map(({ category }) => category),
);

/** Whether an error of this category speaks of the call as it was made, not of what stood behind the tool. */
export function blamesCaller(category: string): boolean {
  return BLAMES_CALLER.has(category);
}

/** Where a text says that something failed. */
export interface ErrorSpot {
  readonly start: number;
  readonly end: number;
}

const AT_HEAD =
  /^[\s"'[(<{*#]{0,12}(?:an? )?(?:(?:fatal|internal|runtime|unexpected|tool|execution|validation|http|api|server|\w{1,40})[ _-]?)?(?:error|exception|failure|failed)\b(?! ?(?:handling|rate|bars?|margins?|analysis|free|codes? (?:list|table)))[\s:>,.\]!(-]/i;
const TRACEBACK = /^\s{0,8}Traceback \(most recent call last\)/m;
const JSON_ERROR =
  /^\s{0,20}\{\s{0,20}(?:"(?:type|status|code|success|ok|statusCode)"\s{0,5}:\s{0,5}(?:"[^"]{0,60}"|\d{1,6}|true|false|null)\s{0,5},\s{0,20}){0,4}"(?:error|errors|errorMessage|error_message|exception|fault)"\s{0,5}:(?!\s{0,5}(?:null|""|\[\s{0,5}\]|\{\s{0,5}\}|false|0\b))/;
const JSON_FLAG =
  /^\s{0,20}\{[^{}]{0,400}"(?:is_?error"\s{0,5}:\s{0,5}true|success"\s{0,5}:\s{0,5}false|ok"\s{0,5}:\s{0,5}false|status"\s{0,5}:\s{0,5}"(?:error|failed|failure)"|(?:exit_?code|return_?code)"\s{0,5}:\s{0,5}-?[1-9])/i;
const SHELL =
  /^(?:\/?[\w./-]{1,60}: (?:line )?(?:\d{1,6}: )?)[^\n]{0,120}(?:command not found|No such file or directory|Permission denied|: not found)\s*$/m;

/** "Skill 'x' not found. Available: …" says it in its first words; a longer text may only mention it. */
const NOT_FOUND = /^[^.\n]{1,120}?\b(?:not found|does not exist|doesn't exist|could not be found)\b/i;

/** A runtime that did not carry a call out says so in a sentence: of several hand-offs at once only one is followed. */
const NOT_DONE =
  /\b(?:ignor(?:ing|ed)|skipp(?:ing|ed)) (?:this|the) (?:one|call|request|tool|hand-?off|transfer)\b|\b(?:call|request|tool use|hand-?off|transfer) (?:was |has been |is )?(?:ignored|skipped|not (?:executed|performed|carried out))\b/i;

/**
 * Whether a result is an error by its own words: an error prefix, an error object, a traceback, a shell's
 * complaint. A long text that merely talks about errors is not one, so all but the traceback must stand at its
 * head. `null` when it does not look like an error.
 */
export function findError(text: string): ErrorSpot | null {
  const head = text.slice(0, 2_000);
  for (const pattern of [AT_HEAD, JSON_ERROR, JSON_FLAG]) {
    const found = pattern.exec(head);
    if (found !== null) return { start: found.index, end: found.index + found[0].length };
  }
  if ((reportedExitCode(head) ?? 0) !== 0) return { start: 0, end: Math.min(head.length, 40) };
  const short = text.length <= 20_000 ? text : text.slice(0, 20_000);
  const trace = TRACEBACK.exec(short);
  if (trace !== null) return { start: trace.index, end: trace.index + trace[0].length };
  if (text.length <= 600) {
    for (const pattern of [SHELL, NOT_FOUND, NOT_DONE]) {
      const found = pattern.exec(text);
      if (found !== null) return { start: found.index, end: found.index + found[0].length };
    }
  }
  return null;
}

/** Error words at the head of a short result: believed even where the framework marks the call a success. */
export function findPlainError(text: string): ErrorSpot | null {
  return text.length > 2_000 || TRACEBACK.test(text) ? null : findError(text);
}

/** A traceback in what an agent says: its runtime failed in the middle of its turn. */
export function findTraceback(text: string): ErrorSpot | null {
  const found = TRACEBACK.exec(text);
  return found === null ? null : { start: found.index, end: found.index + found[0].length };
}

/** A person who says no to a call is not a fault of the tool. */
const USER_REFUSAL =
  /\b(?:user|human|operator) (?:has )?(?:rejected|declined|denied|refused|cancel+ed|interrupted|did(?: not|n't) (?:approve|allow)|does(?: not|n't) want)|(?:rejected|declined|denied|cancel+ed|interrupted) by (?:the )?(?:user|human|operator)|tool use was rejected/i;

export function isUserRefusal(text: string): boolean {
  return USER_REFUSAL.test(text.slice(0, 1_000));
}
