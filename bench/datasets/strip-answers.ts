import { isJsonObject, type JsonObject, type JsonValue } from '../../core/base/json.ts';

/** Where a record carries its answers, as paths of keys from the record. */
export type AnswerPaths = readonly (readonly string[])[];

/** tau-bench runs: the score and how it came about, the expected actions and outputs, raw evaluation records. */
export const TAU_ANSWERS: AnswerPaths = [
  ['reward'],
  ['reward_info'],
  ['records'],
  ['info', 'reward_info'],
  ['info', 'task', 'actions'],
  ['info', 'task', 'outputs'],
];

/** Who&When records, both halves. */
export const WHO_WHEN_ANSWERS: AnswerPaths = [
  ['ground_truth'],
  ['mistake_agent'],
  ['mistake_step'],
  ['mistake_reason'],
  ['mistake_type'],
  ['labels'],
  ['is_correct'],
  ['is_corrected'],
  ['level'],
];

export interface Stripped {
  readonly record: JsonValue;
  /** Every text and number found at the paths, for the leak guard. */
  readonly answers: readonly string[];
}

/**
 * A copy of the record without its answers, made before anything reads it. The document formats take named fields
 * only and would not carry them either; two independent bars, because a leak would make every figure worthless.
 */
export function stripAnswers(record: JsonValue, paths: AnswerPaths): Stripped {
  const answers: string[] = [];
  let out = record;
  for (const path of paths) out = without(out, path, answers);
  return { record: out, answers };
}

function without(value: JsonValue, path: readonly string[], answers: string[]): JsonValue {
  const [key, ...rest] = path;
  if (key === undefined || !isJsonObject(value) || !(key in value)) return value;
  const inner = value[key] ?? null;
  const copy: JsonObject = { ...value };
  if (rest.length > 0) copy[key] = without(inner, rest, answers);
  else {
    delete copy[key];
    collectTexts(inner, answers);
  }
  return copy;
}

/** Every text and number in the value, but for those under the keys to skip. */
export function collectTexts(value: JsonValue, into: string[], skip: ReadonlySet<string> = new Set()): void {
  if (typeof value === 'string') into.push(value);
  else if (typeof value === 'number') into.push(String(value));
  else if (Array.isArray(value)) for (const item of value) collectTexts(item, into, skip);
  else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) if (!skip.has(key)) collectTexts(item, into, skip);
  }
}
