import type { JsonValue } from '../base/json.ts';
import { isJsonObject } from '../base/json.ts';
import { errorClassRow } from '../vocabulary/error-classes.ts';
import { mannerOf, readsTexts } from '../vocabulary/tool-verbs.ts';
import { type Classified, classifyError } from './classify-error.ts';
import { type ErrorSpot, findError, isUserRefusal, looksLikeLog } from './error-signals.ts';
import { resultView } from './result-view.ts';
import { type Asked, statedFault } from './stated-fault.ts';
import type { Step, ToolExchange, Trajectory } from './trajectory.ts';
import { readUtterances } from './utterances.ts';

/** How a tool call went, by its result. */
export type ToolOutcome =
  /** No result was recorded. */
  | { readonly state: 'unanswered' }
  | { readonly state: 'done' }
  /** Carried out, and there was nothing: an empty list, no row, no match. */
  | { readonly state: 'empty' }
  /** What was asked about has not ended yet. */
  | { readonly state: 'pending' }
  /** A person said no, or the run was paused or stopped on purpose. */
  | { readonly state: 'interrupted'; readonly spot: ErrorSpot }
  /** Not carried out. `class` is null where nothing tells what kind of error it was. */
  | ({ readonly state: 'failed'; readonly spot: ErrorSpot } & Classified);

const cache = new WeakMap<ToolExchange, ToolOutcome>();

export function toolOutcome(exchange: ToolExchange): ToolOutcome {
  const known = cache.get(exchange);
  if (known !== undefined) return known;
  const outcome = readOutcome(exchange, exchange);
  cache.set(exchange, outcome);
  return outcome;
}

/** What ran at a step, and how it went. */
export interface StepOutcome {
  readonly step: Step;
  /** `null` where the log does not pair the result with a call. */
  readonly exchange: ToolExchange | null;
  readonly name: string;
  readonly text: string;
  readonly outcome: ToolOutcome;
}

/** Every result of the session: of paired calls, and what executors report that no call is paired with. */
export function stepOutcomes(trajectory: Trajectory): readonly StepOutcome[] {
  const found: StepOutcome[] = [];
  const paired = new Set<number>();
  for (const exchange of trajectory.exchanges) {
    const step = trajectory.steps[exchange.resultStep ?? exchange.callStep];
    if (step === undefined || exchange.result === null) continue;
    paired.add(step.index);
    found.push({
      step,
      exchange,
      name: exchange.name,
      text: exchange.result,
      outcome: toolOutcome(exchange),
    });
  }
  for (const utterance of readUtterances(trajectory)) {
    if (utterance.voice !== 'executor' || paired.has(utterance.step.index)) continue;
    const name = utterance.speaker ?? utterance.step.span.name;
    const outcome = readOutcome(utterance, {
      name: 'execute',
      arguments: null,
      result: utterance.text,
      isError: null,
    });
    found.push({ step: utterance.step, exchange: null, name, text: utterance.text, outcome });
  }
  return found.sort((a, b) => a.step.index - b.step.index);
}

/** Whether the call was refused by a rule of the business, which no caller could know: no fault by itself. */
export function isBusinessRefusal(outcome: ToolOutcome): boolean {
  return (
    outcome.state === 'failed' && outcome.class !== null && errorClassRow(outcome.class).blame === 'nobody'
  );
}

function readOutcome(
  owner: object,
  exchange: Pick<ToolExchange, 'name' | 'arguments' | 'result' | 'isError'>,
): ToolOutcome {
  const { result, isError } = exchange;
  if (result === null) return { state: 'unanswered' };
  if (isUserRefusal(result)) return { state: 'interrupted', spot: whole(result) };
  const { text, json } = resultView(owner, result);
  const keys = isJsonObject(exchange.arguments) ? Object.keys(exchange.arguments) : [];
  const asked: Asked = {
    manner: mannerOf(exchange.name),
    text: readsTexts(exchange.name, keys),
    values: scalarsOf(exchange.arguments),
  };
  const fault = json === undefined ? textFault(text, asked, isError) : statedFault(json, asked);
  if (fault === 'report') return { state: 'done' };
  if (fault === 'empty') return { state: 'empty' };
  if (fault !== null) return failed(fault, spotOf(result, fault.words));
  if (isError === true) {
    return failed(classifyError({ text, otherwise: 'tool-schema' }), { start: 0, end: 0 });
  }
  if (json === undefined ? text.trim() === '' || NOTHING.test(text) : isEmpty(json, asked))
    return { state: 'empty' };
  return json !== undefined && isPending(json) ? { state: 'pending' } : { state: 'done' };
}

function failed(fault: Classified, spot: ErrorSpot): ToolOutcome {
  return fault.class === 'interrupted'
    ? { state: 'interrupted', spot }
    : { state: 'failed', class: fault.class, certain: fault.certain, spot };
}

const whole = (text: string): ErrorSpot => ({ start: 0, end: Math.min(text.length, 200) });

/** Where the words stand in the result as it was recorded; its head where they are escaped there. */
function spotOf(result: string, words: string): ErrorSpot {
  const wanted = words.slice(0, 200);
  const at = wanted === '' ? -1 : result.indexOf(wanted);
  return at < 0 ? { start: 0, end: 0 } : { start: at, end: at + wanted.length };
}

/** The closing line of a test runner. */
const TEST_REPORT =
  /\b\d{1,6} (?:tests? )?(?:passed|passing)\b[^\n]{0,60}\b\d{1,6} (?:tests? )?(?:failed|failing)\b|\b\d{1,6} (?:tests? )?(?:failed|failing)\b[^\n]{0,60}\b\d{1,6} (?:tests? )?(?:passed|passing)\b/i;

/** Content that is read is judged only where it is short enough to be nothing but a message. */
const SHORT_MESSAGE = 600;

function textFault(
  text: string,
  asked: Asked,
  isError: boolean | null,
): (Classified & { readonly words: string }) | 'empty' | 'report' | null {
  if (isQuietExit(text)) return 'empty';
  // The tests ran: what they found is what was asked.
  if (TEST_REPORT.test(text)) return 'report';
  if (isError !== true) {
    if (looksLikeLog(text)) return null;
    if (asked.text && (text.length > SHORT_MESSAGE || /\n.*\n/.test(text.trim())) && !isErrorPage(text)) {
      if (!ERROR_HEAD_OF_SERVICE.test(text)) return null;
    }
  }
  const spot = findError(text);
  if (spot === null) return null;
  const words = text.slice(spot.start, spot.end);
  const told = text.slice(0, spot.end > 2_000 ? text.length : Math.max(spot.end, 4_000));
  return { ...classifyError({ text: told, otherwise: spot.otherwise }), words };
}

/** Forms that only the service behind a tool uses for its own failure, however many lines it takes. */
const ERROR_HEAD_OF_SERVICE =
  /^\s{0,8}(?:ERROR:\s[^\n]{0,300}\n\s{0,8}(?:SQLSTATE|LINE \d|DETAIL|HINT|CONTEXT|POSITION)\b|ERROR \d{4} \(|ORA-\d{5}|rpc error:|HTTP\/\d(?:\.\d)? [45]\d\d|<tool_use_error>|(?:fatal|Error):\s)/;

function isErrorPage(text: string): boolean {
  return /^\s{0,20}<(?:!doctype html|html)\b/i.test(text);
}

/** `grep`, `diff`, `test` answer "nothing" with exit code 1 and no word. */
function isQuietExit(text: string): boolean {
  return /^\s{0,20}(?:process )?exit(?:ed with)?[ _]?(?:code|status)\s{0,3}[:=]?\s{0,3}1\s*$/i.test(text);
}

const NOTHING =
  /^\s{0,20}(?:\(?(?:no|0|zero) (?:matching |such )?(?:results?|matches|match|rows?|records?|entries|items?|hits?|files?|data|documents?|output)(?: (?:were |was )?(?:found|returned|match(?:ed)?))?\)?|nothing found|none|null|\[\]|\{\})[.!]?\s{0,20}$/i;

/** Nothing was found: every list is empty, every value null or zero, but for what the call had said itself. */
function isEmpty(value: JsonValue, asked: Asked): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (!isJsonObject(value)) return false;
  const members = Object.entries(value);
  if (members.length === 0) return true;
  let hollow = 0;
  for (const [key, item] of members) {
    if (Array.isArray(item) || isJsonObject(item)) {
      if (!isEmpty(item, asked)) return false;
      hollow += 1;
    } else if (item === null) hollow += 1;
    else if (item === 0 || item === false || item === '') {
      if (/^(?:count|total|found|hits|matches|results?|size|length|n|num\w*|total\w*|\w*count)$/i.test(key))
        hollow += 1;
    } else if (!ECHO_KEYS.test(key) && !asked.values.has(String(item))) return false;
  }
  return hollow > 0;
}

const ECHO_KEYS =
  /^(?:ok|success|status|query|q|page|page_?size|per_?page|limit|offset|next\w*|cursor|has_?more|request_?id|took\w*|message|note|hint|as_?of|searched\w*|source|filters?)$/i;

function isPending(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(
    ([key, item]) =>
      /(?:^|_)(?:status|state|phase)$/i.test(key) && typeof item === 'string' && PENDING.test(item),
  );
}

const PENDING =
  /^(?:pending|running|queued|in[_ -]?progress|processing|starting|started|waiting|moving|scheduled|submitted|accepted|not[_ -]?ready|building|deploying|creating|updating)$/i;

/** Scalars among the arguments, as text. Bounded. */
function scalarsOf(value: JsonValue): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (item: JsonValue, depth: number): void => {
    if (depth > 4 || found.size > 200) return;
    if (typeof item === 'string' || typeof item === 'number') found.add(String(item));
    else if (Array.isArray(item)) for (const inner of item) visit(inner, depth + 1);
    else if (isJsonObject(item)) for (const inner of Object.values(item)) visit(inner, depth + 1);
  };
  visit(value, 0);
  return found;
}
