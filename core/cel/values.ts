import { EvaluationFault, type Meter } from './meter.ts';

/** What an expression sees: JSON, nothing else. Numbers are JSON numbers, also where the type checker says int. */
export type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value };
export type ValueMap = { readonly [key: string]: Value };

const FORBIDDEN: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);
export const isMap = (value: Value): value is ValueMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isScalar = (value: Value): value is string | number | boolean | null =>
  typeof value !== 'object' || value === null;

export function typeName(value: Value): string {
  if (value === null) return 'null';
  if (isList(value)) return 'list';
  return typeof value === 'object' ? 'map' : typeof value;
}

/** Own keys only; names that reach a prototype do not exist. */
export function hasKey(map: ValueMap, key: string): boolean {
  return !FORBIDDEN.has(key) && Object.hasOwn(map, key);
}

export function readKey(map: ValueMap, key: string): Value {
  const value = hasKey(map, key) ? map[key] : undefined;
  if (value === undefined) throw new EvaluationFault('missing', `there is no '${key.slice(0, 60)}'`);
  return value;
}

/** Levels of a value that are walked. Sessions nest a dozen; a thousand, as a reader lets through, is the stack's end. */
export const MAX_LEVELS = 100;

/** Deep equality as JSON, charged by size. */
export function equals(a: Value, b: Value, meter: Meter, level = 0): boolean {
  meter.charge(1);
  if (level > MAX_LEVELS) throw new EvaluationFault('budget', 'the values are nested too deeply to compare');
  if (a === b) return true;
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length === b.length) meter.chargeText(a.length);
    return a === b;
  }
  if (isList(a) && isList(b)) {
    return (
      a.length === b.length && a.every((item, index) => equals(item, b[index] ?? null, meter, level + 1))
    );
  }
  if (isMap(a) && isMap(b)) {
    const keys = Object.keys(a);
    meter.charge(keys.length);
    if (keys.length !== Object.keys(b).length) return false;
    return keys.every((key) => hasKey(b, key) && equals(readKey(a, key), readKey(b, key), meter, level + 1));
  }
  return false;
}

/** Short JSON for evidence. What is beyond the limit is not looked at: copies inside copies would grow without end. */
export function show(value: Value, limit = 120): string {
  const text = writeJson(value, limit, 0);
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}

/** The value as JSON, broken off soon after `limit` characters and below the levels that are walked. */
export function writeJson(value: Value, limit: number, level = 0): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, limit));
  if (isScalar(value)) return JSON.stringify(value);
  if (level > MAX_LEVELS) return '…';
  const [open, close] = isList(value) ? '[]' : '{}';
  let text = open ?? '';
  for (const key of Object.keys(value)) {
    if (text.length > limit) return text;
    if (text.length > 1) text += ',';
    if (isMap(value)) text += `${writeJson(key, limit)}:`;
    const item = isList(value) ? value[Number(key)] : value[key];
    text += writeJson(item ?? null, limit - text.length, level + 1);
  }
  return text + close;
}
