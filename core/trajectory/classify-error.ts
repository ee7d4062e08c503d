import {
  classOfGrpc,
  classOfHttp,
  classOfJsonRpc,
  classOfPhrases,
  classOfSqlState,
  classOfType,
  classOfTypeParts,
  ERROR_CLASS_ROWS,
  type ErrorClass,
  errorClassRow,
} from '../vocabulary/error-classes.ts';

/** What is stated of an error, as far as its form tells the parts apart. */
export interface ErrorFacts {
  /** Names of types and codes, the most telling first. */
  readonly types?: readonly string[];
  readonly http?: number | null;
  readonly grpc?: number | null;
  readonly jsonRpc?: number | null;
  readonly sqlState?: string | null;
  /** A place in the arguments is named, as validators do. */
  readonly namesArgument?: boolean;
  readonly text: string;
  /** What an error is that says no more than that. */
  readonly otherwise?: ErrorClass | null | undefined;
}

export interface Classified {
  /** `null`: something failed, and nothing tells what kind of error it was. */
  readonly class: ErrorClass | null;
  /** False when only "it failed" is known and the class is a guess. */
  readonly certain: boolean;
}

/**
 * The class of an error, by the most precise of what is stated: the whole name of its type, codes whose meaning is
 * fixed, parts of its name, the argument it points to, its wording. "Bad request" and "internal error" say little,
 * so everything else goes before them. Text beyond 4,000 characters is not read.
 */
export function classifyError(facts: ErrorFacts): Classified {
  const text =
    facts.text.length > 4_000 ? `${facts.text.slice(0, 2_000)}\n${facts.text.slice(-2_000)}` : facts.text;
  const types = [...(facts.types ?? []), ...namesIn(text)];
  const http = facts.http ?? statedHttpStatus(text);
  const byHttp = http === null ? null : classOfHttp(http);
  const vague = http === 400 || http === 500;
  const known =
    first(
      types.filter((name) => !VAGUE.test(name)),
      classOfType,
    ) ??
    (vague ? null : byHttp) ??
    sqlClass(facts.sqlState ?? sqlStateIn(text)) ??
    first(
      types.filter((name) => !VAGUE.test(name)),
      classOfTypeParts,
    ) ??
    grpcClass(facts.grpc ?? (types.some((name) => /^resource_?exhausted$/i.test(name)) ? 8 : null), text) ??
    (facts.namesArgument === true ? 'tool-schema' : null) ??
    classOfPhrases(text) ??
    (facts.jsonRpc == null ? null : classOfJsonRpc(facts.jsonRpc)) ??
    byHttp ??
    first(types, classOfType);
  // A command or a test run that ended badly did run: nothing says that the call was wrong, nor what was.
  return known === null
    ? { class: COMMAND_FAILED.test(text) ? null : (facts.otherwise ?? null), certain: false }
    : { class: known, certain: true };
}

const COMMAND_FAILED = /\bexit(?:ed)?(?: with)? (?:code|status)[ :=]{1,3}[1-9]|^\s{0,8}(?:FAIL|FAILED)\b/im;

/** Names under which services put any refusal of a call, or any fault at all. */
const VAGUE =
  /^(?:\S*[.#])?(?:bad_?request|client|runtime|value|type|key|index|attribute|assertion|unknown|internal|api|tool|http|os|io|base|generic|invalid_?request|validation|error|exception|failed?|failure)?(?:_?(?:error|exception|failure|fault))?$/i;

function first(names: readonly string[], classOf: (name: string) => ErrorClass | null): ErrorClass | null {
  for (const name of names) {
    const found = classOf(name);
    if (found !== null) return found;
  }
  return null;
}

/** RESOURCE_EXHAUSTED stands for quotas as well as for sizes and memory: then the wording decides. */
function grpcClass(code: number | null | undefined, text: string): ErrorClass | null {
  const found = code == null ? null : classOfGrpc(code);
  return found === 'rate-limiting' ? (classOfPhrases(text) ?? found) : found;
}

const sqlClass = (state: string | null): ErrorClass | null =>
  state === null ? null : classOfSqlState(state);

const TYPE_NAME =
  /\b(?:[a-z][\w]{0,40}[.#:]{1,2}){0,6}([A-Z][A-Za-z0-9]{2,60}(?:Exception|Error|Exhausted|Expired|Denied|Exceeded|Interrupt))\b|\((?:code |code: )?([A-Z][A-Za-z]{3,50})\)(?= when calling)|\bcode ?= ?([A-Z][A-Za-z]{3,40})\b|\b([A-Z]{3,20}(?:_[A-Z]{2,20}){1,5})\b|\b(E[A-Z]{4,12})\b/g;

/** Names of error types inside a text, the last raised first: `botocore.exceptions.ClientError`, `code = Unavailable`. */
function namesIn(text: string): string[] {
  const names: string[] = [];
  for (const match of text.matchAll(TYPE_NAME)) {
    const name = match.slice(1).find((part) => part !== undefined);
    if (name !== undefined) names.push(name);
    if (names.length >= 20) break;
  }
  return names.reverse();
}

const HTTP_STATUS =
  /\b(?:HTTP(?:\/\d(?:\.\d)?)?(?: error)?|status(?: ?code)?|HTTPError|response code|error code)["']?\s{0,3}[:=]?\s{0,3}([45]\d\d)\b|\b([45]\d\d) (?:Client|Server) Error\b|(?:^|[>:]\s{0,3}|\()([45]\d\d) (?:[A-Z][a-z]{2,20}\b|unauthorized|forbidden|not found)/im;
/** A bare number after a verb of answering. Only asked of texts that are known to be errors: "returned 404 rows" is none. */
const ANSWERED_STATUS =
  /\b(?:answered|returned|responded|replied|failed|error)(?: with)?(?: an?)?:?\s{1,3}\(?([45]\d\d)\b(?! ?(?:items?|rows?|results?|records?|bytes|ms|seconds|characters|tokens))/i;

export function statedHttpStatus(text: string): number | null {
  const found = HTTP_STATUS.exec(text) ?? ANSWERED_STATUS.exec(text);
  const digits = found?.slice(1).find((part) => part !== undefined);
  return digits === undefined ? null : Number(digits);
}

const SQL_STATE = /\bSQLSTATE\b[\s:[("=]{0,4}([0-9A-Z]{5})\b|\bERROR \d{4} \(([0-9A-Z]{5})\)/;

function sqlStateIn(text: string): string | null {
  const found = SQL_STATE.exec(text);
  return found?.[1] ?? found?.[2] ?? null;
}

const CALLERS: ReadonlySet<string> = new Set(
  ERROR_CLASS_ROWS.filter(({ blame }) => blame === 'caller').map(({ category }) => category),
);

/** Whether a failure of this category speaks of the call as it was made. */
export function blamesCallerByCategory(category: string): boolean {
  return CALLERS.has(category);
}

/** Whether an error of this class speaks of the call as it was made, not of what stood behind the tool. */
export function blamesCaller(id: ErrorClass): boolean {
  return errorClassRow(id).blame === 'caller';
}
