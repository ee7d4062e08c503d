import type * as z from 'zod';
import type { JsonValue } from '../base/json.ts';
import { repairJson } from '../base/repair-json.ts';
import type { AnswerDefect } from './answer-defect.ts';
import { findJsonSpans } from './find-json.ts';

export type ReadResult<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly defect: AnswerDefect;
      readonly detail: string;
      /** The JSON value that was there but does not fit; absent if there was none or it was cut. */
      readonly json?: JsonValue;
    };

/** Longer than any model's answer. UTF-16 units. */
const LONGEST_ANSWER = 2_000_000;
/**
 * Reads a model's text as a value of the schema. JSON.parse on the whole comes first. The second try looks at each
 * bracketed run, last first since models put the answer last, and repairs what is not JSON (single quotes, trailing
 * commas, Python literals, raw line breaks). A run whose brackets never close is a cut answer: repairing would close
 * it and lose the rest of the list in silence, so it is never accepted.
 */
export function readAnswer<T>(text: string, schema: z.ZodType<T>): ReadResult<T> {
  const body = dropThinking(text).trim();
  if (body === '') return { ok: false, defect: 'empty', detail: 'there was no text' };
  if (body.length > LONGEST_ANSWER) {
    return { ok: false, defect: 'malformed', detail: `${body.length} characters are too many to read` };
  }
  const whole = parseJson(body);
  if (whole !== undefined) return check(unwrapText(whole), schema);

  const spans = findJsonSpans(body);
  const lastOpen = spans.reduce((last, span) => (span.open ? Math.max(last, span.start) : last), -1);
  const closed = spans
    .filter((span) => !span.open)
    .map((span) => ({ ...span, json: parseJson(span.text) ?? parseMended(span.text) }));
  const values = closed
    .flatMap(({ start, fenced, json }) =>
      json !== undefined && (fenced || saysSomething(json)) ? [{ start, json }] : [],
    )
    .toSorted((a, b) => b.start - a.start);
  for (const { start, json } of values) {
    const result = check(json, schema);
    // What stands before the place where the text broke off is a draft, not the answer.
    if (result.ok && start > lastOpen) return result;
  }
  if (lastOpen >= 0) {
    return { ok: false, defect: 'cut', detail: 'the JSON text ends before its brackets are closed' };
  }
  const biggest = values.toSorted((a, b) => JSON.stringify(b.json).length - JSON.stringify(a.json).length)[0];
  if (biggest !== undefined) return check(biggest.json, schema);
  if (closed.some(({ json }) => json === undefined)) {
    return { ok: false, defect: 'not-json', detail: 'the bracketed text is not JSON, nor close to it' };
  }
  return REFUSAL.test(body.slice(0, 200))
    ? { ok: false, defect: 'refused', detail: 'the model declined to answer' }
    : { ok: false, defect: 'prose', detail: 'there was text but no JSON value in it' };
}

const REFUSAL = /\b(?:sorry|apologi[sz]e|can(?:no|['’])t|unable to|not able to|won['’]t|decline)\b/i;

/**
 * "the tool returned [] and …", "as in [1]": in running text an empty or scalar list is a quotation. A caller that
 * takes any list would read it as "nothing found".
 */
function saysSomething(json: JsonValue): boolean {
  if (Array.isArray(json)) return json.some((item) => typeof item === 'object' && item !== null);
  return typeof json === 'object' && json !== null && Object.keys(json).length > 0;
}

/** Open models put their reasoning before the answer, and drafts of the answer in it. */
function dropThinking(text: string): string {
  const trimmed = text.trimStart();
  for (const tag of ['think', 'thinking', 'reasoning']) {
    if (!trimmed.startsWith(`<${tag}>`)) continue;
    const end = trimmed.indexOf(`</${tag}>`);
    return end < 0 ? '' : trimmed.slice(end + tag.length + 3);
  }
  return text;
}

/**
 * Refuses keys that could reach an object's prototype when somebody copies them; no answer of ours has them. Half an
 * emoji becomes U+FFFD: stores refuse it.
 */
function atTheDoor(key: string, value: JsonValue): JsonValue {
  if (key === '__proto__' || key === 'constructor' || key === 'prototype') {
    throw new SyntaxError(`key ${key} is refused`);
  }
  return typeof value === 'string' ? value.toWellFormed() : value;
}

function parseJson(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text, atTheDoor);
    return value;
  } catch {
    return undefined;
  }
}

function parseMended(text: string): JsonValue | undefined {
  const repaired = repairJson(text);
  return repaired === null ? undefined : parseJson(repaired);
}

/** A JSON text inside a JSON string, as some servers send tool arguments. */
function unwrapText(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  return parseJson(value) ?? value;
}

function check<T>(value: JsonValue, schema: z.ZodType<T>): ReadResult<T> {
  const result = schema.safeParse(value);
  if (result.success) return { ok: true, value: result.data };
  return { ok: false, defect: 'wrong-shape', detail: describeIssues(result.error), json: value };
}

/** `failures[0].span`. Zod's own `z.core.toDotPath` would bring all of zod, locales included, into each bundle. */
function dotPath(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) =>
      typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`,
    )
    .join('');
}

/** The first few issues with their paths; long unions would drown the rest. */
function describeIssues(error: z.ZodError): string {
  const lines = error.issues
    .slice(0, 8)
    .map((issue) => `at ${issue.path.length === 0 ? 'the top' : dotPath(issue.path)}: ${issue.message}`);
  if (error.issues.length > 8) lines.push(`and ${error.issues.length - 8} more`);
  return lines.join('; ').slice(0, 2000);
}

/** Valid items of a list, and the others with the reason, for quarantine: one bad item never costs its neighbours. */
export function sortItems<T>(
  items: readonly unknown[],
  schema: z.ZodType<T>,
): { valid: T[]; invalid: { index: number; item: unknown; reason: string }[] } {
  const valid: T[] = [];
  const invalid: { index: number; item: unknown; reason: string }[] = [];
  for (const [index, item] of items.entries()) {
    const result = schema.safeParse(item);
    if (result.success) valid.push(result.data);
    else invalid.push({ index, item, reason: describeIssues(result.error) });
  }
  return { valid, invalid };
}
