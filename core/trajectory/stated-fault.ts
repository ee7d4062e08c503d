import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { classOfType, type ErrorClass, errorClassRow } from '../vocabulary/error-classes.ts';
import type { ToolManner } from '../vocabulary/tool-verbs.ts';
import { type Classified, classifyError } from './classify-error.ts';
import { parseJson } from './result-view.ts';

/** A fault that a JSON result states by its structure. */
export interface StatedFault extends Classified {
  /** Words of the result that show it; may be empty. */
  readonly words: string;
}

/** What a tool was asked, as far as it decides what its answer means. */
export interface Asked {
  readonly manner: ToolManner;
  /** It was asked for a text as it stands. */
  readonly text: boolean;
  /** Values of the call's arguments: a record that bears one of them is a thing that was asked for. */
  readonly values: ReadonlySet<string>;
}

const MAX_LEVELS = 4;

const ERROR_KEYS = new Set(
  'error errors exception exceptions fault faults errormessage errorcode errortype errorname errordetails err validationerrors violations problems failure iserror haserror'.split(
    ' ',
  ),
);
const TYPE_KEYS = new Set(
  'type code name errorcode errortype errorname status reason kind title extype'.split(' '),
);
const TEXT_KEYS = new Set(
  'stderr message msg errormessage reason detail details description title why cause explanation body text hint error err status note info error_description errordescription defaultmessage summary'.split(
    ' ',
  ),
);
const EXPLAINS = new Set(
  'reason message msg detail details why cause explanation error errors errormessage description code errorcode hint title'.split(
    ' ',
  ),
);
/** Keys of an answer that say how the call went and nothing of a thing. */
const ENVELOPE = new Set([
  ...EXPLAINS,
  ...ERROR_KEYS,
  ...'status state result outcome responsestatus resultstatus callstatus toolstatus executionstatus requeststatus operationstatus resultcode statuscode httpstatus httpstatuscode httpcode success ok type instance requestid traceid timestamp time path meta metadata responsemetadata retryafter retryable retryafterseconds retryin body content text data response output payload value structuredcontent jsonrpc id version headers docs docurl documentationurl helpurl name method warnings xtraceid correlationid iserror returncode exitcode details support'.split(
    ' ',
  ),
]);
/** Keys under which an answer hands on what it wraps. */
const WRAPPERS = new Set(
  'result response data output body content payload value structuredcontent text status error answer returnvalue toolresult'.split(
    ' ',
  ),
);
/** Keys under which the address of a wrong argument stands, as validators and JSON:API give it. */
const LOCATION_KEYS = new Set(
  'field path loc location pointer param parameter property argument instancepath datapath attribute column source input fieldname propertypath'.split(
    ' ',
  ),
);
const EXIT_KEYS = new Set(['exitcode', 'returncode']);
const STATUS_KEYS = new Set('status state result outcome type'.split(' '));
const FAILED_WORDS = new Set(
  'error failed failure fail fatal exception rejected refused denied invalid unavailable aborted timeout timedout'.split(
    ' ',
  ),
);
const PLAIN_SUCCESS = new Set('ok success successful succeeded'.split(' '));
/** Booleans that tell of a deed: `accepted`, `created`, `sent`. */
const DEED =
  /^(?:is|was|has)?[a-z]{2,20}(?:ed|sent|done|put|set|written|paid|built|made|taken|given|held|sold|kept)$/;

const bare = (key: string): string => key.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** The fault that the value states about the call itself, or `null`. */
export function statedFault(value: JsonValue, asked: Asked, level = 0): StatedFault | null {
  if (level > MAX_LEVELS) return null;
  if (Array.isArray(value)) {
    // A batch of which every item failed, or one answer in a list.
    if (value.length === 0 || value.length > 50) return null;
    const faults = value.map((item) => statedFault(item, asked, level + 1));
    return faults.every((fault) => fault !== null) ? (faults[0] ?? null) : null;
  }
  if (!isJsonObject(value)) {
    const inner = typeof value === 'string' ? parseJson(value) : undefined;
    return inner === undefined ? null : statedFault(inner, asked, level + 1);
  }
  const members = Object.entries(value).map(([key, item]) => [bare(key), item] as const);
  const envelopeOnly = members.every(([key]) => ENVELOPE.has(key) || TYPE_KEYS.has(key));
  const record = isRecord(members, asked, envelopeOnly);
  const explains = members.some(([key, item]) => EXPLAINS.has(key) && says(item));
  const fault = (otherwise: ErrorClass | null): StatedFault => toFault(value, otherwise);

  const error = members.find(
    ([key, item]) => (ERROR_KEYS.has(key) && says(item)) || (key === 'detail' && namesPlaces(item)),
  );
  if (error !== undefined && !record) {
    const stated = fault(isObjectOrList(error[1]) || typeof error[1] === 'string' ? 'tool-schema' : null);
    // The list of errors that a checking tool was asked for is its answer, but for what hindered it.
    const isAnswer = asked.manner === 'checks' && Array.isArray(error[1]);
    if (!isAnswer || (stated.class !== null && errorClassRow(stated.class).blame === 'outside'))
      return stated;
  }
  if (members.some(([key, item]) => EXIT_KEYS.has(key) && typeof item === 'number' && item !== 0))
    return fault(null);
  if (value.__type !== undefined || members.some(([key, item]) => key === 'type' && item === 'error')) {
    return fault(null);
  }
  if (
    !record &&
    explains &&
    members.some(([key, item]) => typeof item === 'string' && namesError(key, item))
  ) {
    return fault(null);
  }
  for (const [key, item] of members) {
    if (item !== false) continue;
    if (PLAIN_SUCCESS.has(key) && asked.manner !== 'checks')
      return fault(explains ? 'business-refusal' : null);
    if (DEED.test(key) && asked.manner === 'acts' && explains) return fault('business-refusal');
  }
  const status = failedStatus(members);
  if (status !== null && asked.manner !== 'checks' && !record) {
    if (envelopeOnly || (explains && asked.manner === 'acts'))
      return fault(explains ? (isOfCall(status, members) ? 'tool-schema' : 'business-refusal') : null);
  }
  if (!record && (httpOf(members) !== null || grpcOf(value) !== null)) return fault(null);
  if (rpcOf(value) !== null) return fault(null);
  if (!envelopeOnly) return null;
  const nothing = members.some(([key, item]) => WRAPPERS.has(key) && item === null);
  if (nothing && explains) return fault('business-refusal');
  if (
    members.length > 0 &&
    members.every(([key]) => TEXT_KEYS.has(key) || key === 'requestid' || key === 'status')
  ) {
    const lone = toFault(value, null);
    if (lone.class !== null && lone.words.length <= 300 && LONE_ERROR.test(lone.words)) return lone;
  }
  for (const [key, item] of members) {
    if (!WRAPPERS.has(key)) continue;
    const inner = statedFault(item, asked, level + 1);
    if (inner !== null) return inner;
  }
  return null;
}

/** A sentence by itself is an error where it begins as one: a type's name, a status, a refusal. */
const LONE_ERROR =
  /^(?:[\w.#]{0,80}(?:Exception|Error)\b|(?:[45]\d\d )?(?:unauthorized|forbidden|not found|bad request|internal server error|service unavailable|bad gateway|gateway time-?out|too many requests|rate limit|rate exceeded|access denied|permission denied|missing authentication|method not allowed|endpoint request timed out|invalid|missing|no such|could not|cannot|unable|failed|timed? ?out|user is not authorized|the (?:security token|request|conditional)|(?:an? )?(?:internal|unexpected|unknown) (?:server )?error)\b|[A-Z]{3,20}(?:_[A-Z]{2,20}){1,5}\b)/i;

function says(value: JsonValue): boolean {
  if (value === null || value === false || value === 0) return false;
  if (typeof value === 'string') return !/^\s*(?:none|null|no|ok|0|n\/a|no errors?)?\s*$/i.test(value);
  if (typeof value === 'object') return Object.keys(value).length > 0;
  return true;
}

/** A code or type that is the name of an error. */
function namesError(key: string, value: string): boolean {
  if (key === 'code' || key === 'errorcode') return classOfType(value) !== null;
  return (key === 'type' || key === 'name') && /^[\w.#]{1,100}(?:Exception|Error)$/.test(value);
}

/** `[{loc: ['body', 'age'], msg: 'must be …'}]`: what validators answer. */
function namesPlaces(value: JsonValue): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((item) => isJsonObject(item) && Object.keys(item).some((key) => LOCATION_KEYS.has(bare(key))))
  );
}

const isObjectOrList = (value: JsonValue): boolean => typeof value === 'object' && value !== null;

type Members = readonly (readonly [string, JsonValue])[];

/** A thing that was asked for, with a state and perhaps errors of its own: a job, a run, an order. */
function isRecord(members: Members, asked: Asked, envelopeOnly: boolean): boolean {
  if (envelopeOnly) return false;
  const bearsAskedId = members.some(
    ([, item]) => (typeof item === 'string' || typeof item === 'number') && asked.values.has(String(item)),
  );
  const content = members.filter(([key]) => !ENVELOPE.has(key) && !TYPE_KEYS.has(key)).length;
  return asked.manner === 'reads' && (bearsAskedId || content >= 2);
}

function failedStatus(members: Members): { readonly key: string; readonly word: string } | null {
  for (const [key, item] of members) {
    if (!STATUS_KEYS.has(key) && !CALL_STATUS_KEYS.has(key)) continue;
    const word = typeof item === 'string' ? bare(item.split(/[\s:]/)[0] ?? '') : '';
    if (FAILED_WORDS.has(word)) return { key, word };
  }
  return null;
}

/** Keys of a status that can only be that of the call, never of a thing that it tells of. */
const CALL_STATUS_KEYS = new Set(
  'responsestatus resultstatus callstatus toolstatus executionstatus requeststatus operationstatus'.split(
    ' ',
  ),
);
const ERROR_WORDS = new Set('error fatal exception'.split(' '));

/** Called an error, not a refusal, and that of the call itself, or in words that begin as an error too. */
function isOfCall({ key, word }: { readonly key: string; readonly word: string }, members: Members): boolean {
  if (!ERROR_WORDS.has(word)) return false;
  return (
    CALL_STATUS_KEYS.has(key) ||
    members.some(
      ([, item]) => typeof item === 'string' && /^\s{0,8}(?:error|exception|fatal)\s?:/i.test(item),
    )
  );
}

const HTTP_KEYS = new Set('status statuscode httpstatus httpstatuscode httpcode responsecode'.split(' '));

function httpOf(members: Members): number | null {
  const explained = members.some(([key, item]) => TEXT_KEYS.has(key) && key !== 'status' && says(item));
  for (const [key, item] of members) {
    if (!(HTTP_KEYS.has(key) || (key === 'code' && explained))) continue;
    const status = statusNumber(item);
    if (status !== null) return status;
  }
  return null;
}

function statusNumber(value: JsonValue | undefined): number | null {
  const found = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
  return /^[45]\d\d(?:\s+[A-Za-z ]{1,40})?$/.test(found) ? Number(found.slice(0, 3)) : null;
}

/** google.rpc.Status and what gRPC gateways answer: a small code with a message. */
function grpcOf(value: JsonObject): number | null {
  const { code, message, details, status } = value;
  if (typeof code !== 'number' || code < 1 || code > 16 || !Number.isInteger(code)) return null;
  return typeof message === 'string' &&
    (typeof status === 'string' ||
      Array.isArray(details) ||
      /^[A-Z_]{4,30}\b/.test(message) ||
      Object.keys(value).length <= 3)
    ? code
    : null;
}

function rpcOf(value: JsonObject): number | null {
  const { code, message } = value;
  return typeof code === 'number' && code <= -32000 && code >= -32768 && typeof message === 'string'
    ? code
    : null;
}

/** All that is stated of the fault, gathered from the object and what it nests. */
function toFault(value: JsonObject, otherwise: ErrorClass | null): StatedFault {
  const types: string[] = [];
  const texts: string[] = [];
  let http: number | null = null;
  let grpc: number | null = null;
  let jsonRpc: number | null = null;
  let namesArgument = false;
  const visit = (item: JsonValue, level: number, inError: boolean): void => {
    if (level > MAX_LEVELS || texts.length > 40) return;
    if (typeof item === 'string') {
      const inner = parseJson(item);
      if (inner !== undefined) visit(inner, level + 1, inError);
      else if (inError) texts.push(item.slice(0, 1_000));
      return;
    }
    if (Array.isArray(item)) {
      for (const inner of item.slice(0, 10)) visit(inner, level + 1, inError);
      return;
    }
    if (!isJsonObject(item)) return;
    const members = Object.entries(item).map(([key, inner]) => [bare(key), inner] as const);
    http ??= httpOf(members);
    grpc ??= grpcOf(item);
    jsonRpc ??= rpcOf(item);
    for (const [key, inner] of members) {
      if (inError && LOCATION_KEYS.has(key) && says(inner) && members.length <= 8) namesArgument = true;
      if (
        typeof inner === 'string' &&
        (key === 'type' || TYPE_KEYS.has(key)) &&
        /^[\w.#:-]{3,120}$/.test(inner)
      ) {
        types.push(inner);
      }
      if (typeof inner === 'string' && TEXT_KEYS.has(key) && !/^about:blank$/.test(inner)) {
        const nested = parseJson(inner);
        if (nested === undefined) texts.push(inner.slice(0, 1_000));
        else visit(nested, level + 1, inError);
      } else if (
        isObjectOrList(inner) &&
        (ERROR_KEYS.has(key) || WRAPPERS.has(key) || EXPLAINS.has(key) || key === 'responsemetadata')
      ) {
        visit(inner, level + 1, inError || ERROR_KEYS.has(key) || key === 'detail' || key === 'details');
      }
    }
  };
  visit(value, 0, false);
  // A status word as `failed` is no name of a type.
  const names = types.filter((name) => !FAILED_WORDS.has(bare(name)));
  const words = texts.find((text) => /\s/.test(text.trim())) ?? texts[0] ?? names[0] ?? '';
  return {
    ...classifyError({ types: names, http, grpc, jsonRpc, namesArgument, text: texts.join('\n'), otherwise }),
    words,
  };
}
