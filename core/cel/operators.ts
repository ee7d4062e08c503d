import type { BinaryOperator } from '@marcbachmann/cel-js';
import { EvaluationFault, type Meter } from './meter.ts';
import {
  equals,
  hasKey,
  isList,
  isMap,
  isScalar,
  readKey,
  show,
  typeName,
  type Value,
  writeJson,
} from './values.ts';

/** Operators and standard functions over values, without the syntax tree. No loop may grow a value past these. */
const MAX_TEXT = 200_000;
const MAX_LIST = 20_000;

/** Shows scalars only: a fault costs the same whatever it is about, for `||` may pass over thousands of them. */
export function typeFault(expected: string, value: Value): EvaluationFault {
  const shown = isScalar(value) ? ` ${show(value, 60)}` : '';
  return new EvaluationFault('type', `expected ${expected}, found ${typeName(value)}${shown}`);
}

export function literal(value: unknown): Value {
  if (typeof value === 'bigint') return Number(value);
  if (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    typeof value === 'number'
  ) {
    return value;
  }
  throw new EvaluationFault('type', 'this kind of literal is not part of the language');
}

export function truth(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  throw typeFault('true or false', value);
}

export function number(value: Value): number {
  if (typeof value === 'number') return value;
  throw typeFault('a number', value);
}

export function text(value: Value): string {
  if (typeof value === 'string') return value;
  throw typeFault('text', value);
}

export function list(value: Value): readonly Value[] {
  if (isList(value)) return value;
  throw typeFault('a list', value);
}

export function member(target: Value, key: string): Value {
  if (isMap(target)) return readKey(target, key);
  if (target === null) throw new EvaluationFault('missing', `there is no '${key}' in null`);
  throw typeFault(`something with a field '${key}'`, target);
}

export function index(target: Value, key: Value): Value {
  if (isMap(target)) return readKey(target, typeof key === 'number' ? String(key) : text(key));
  const found = list(target)[number(key)];
  if (found === undefined)
    throw new EvaluationFault('missing', `there is no item ${number(key)} in the list`);
  return found;
}

export function binary(op: BinaryOperator, left: Value, right: Value, meter: Meter): Value {
  switch (op) {
    case '==':
      return equals(left, right, meter);
    case '!=':
      return !equals(left, right, meter);
    case 'in':
      if (isMap(right)) return hasKey(right, text(left));
      return list(right).some((item) => equals(left, item, meter));
    case '+':
      return add(left, right, meter);
    case '-':
      return number(left) - number(right);
    case '*':
      return number(left) * number(right);
    case '/':
    case '%':
      if (number(right) === 0) throw new EvaluationFault('arithmetic', 'division by zero');
      return op === '/' ? number(left) / number(right) : number(left) % number(right);
    default:
      return compare(op, left, right);
  }
}

function add(left: Value, right: Value, meter: Meter): Value {
  if (typeof left === 'string') {
    const right_ = text(right);
    if (left.length + right_.length > MAX_TEXT) throw new EvaluationFault('budget', 'the text grew too long');
    meter.chargeText(left.length + right_.length);
    return left + right_;
  }
  if (isList(left)) {
    const right_ = list(right);
    if (left.length + right_.length > MAX_LIST) throw new EvaluationFault('budget', 'the list grew too long');
    meter.charge(left.length + right_.length);
    return [...left, ...right_];
  }
  return number(left) + number(right);
}

function compare(op: '<' | '<=' | '>' | '>=', left: Value, right: Value): boolean {
  const comparable =
    (typeof left === 'number' && typeof right === 'number') ||
    (typeof left === 'string' && typeof right === 'string') ||
    (typeof left === 'boolean' && typeof right === 'boolean');
  if (!comparable)
    throw typeFault(`two numbers, two texts or two truths to compare (left is ${typeName(left)})`, right);
  if (op === '<') return left < right;
  if (op === '<=') return left <= right;
  return op === '>' ? left > right : left >= right;
}

function size(value: Value, meter: Meter): number {
  if (typeof value === 'string') {
    meter.charge(value.length / 8);
    let characters = 0;
    for (const _ of value) characters += 1;
    return characters;
  }
  if (isList(value)) return value.length;
  if (isMap(value)) {
    const keys = Object.keys(value).length;
    meter.charge(keys);
    return keys;
  }
  throw typeFault('text, a list or a map', value);
}

/** At most `most` parts, the last with all that is left; as many as there are when it is negative. */
function split(target: string, separator: string, most: number, meter: Meter): Value {
  const parts = target.split(separator, MAX_LIST + 1);
  if (most >= 0 && parts.length > most)
    parts.splice(Math.max(0, most - 1), parts.length, ...rest(parts, separator, most));
  if (parts.length > MAX_LIST) throw new EvaluationFault('budget', 'the list grew too long');
  meter.charge(parts.length);
  return parts;
}

function rest(parts: readonly string[], separator: string, most: number): readonly string[] {
  return most === 0 ? [] : [parts.slice(most - 1).join(separator)];
}

function join(items: readonly Value[], separator: string, meter: Meter): Value {
  const total = items.reduce((sum: number, item) => sum + text(item).length + separator.length, 0);
  if (total > MAX_TEXT) throw new EvaluationFault('budget', 'the text grew too long');
  meter.chargeText(total);
  return items.map(text).join(separator);
}

function asJson(value: Value, meter: Meter): string {
  const written = writeJson(value, MAX_TEXT);
  meter.charge(written.length / 8);
  if (written.length > MAX_TEXT) throw new EvaluationFault('budget', 'the text grew too long');
  return written;
}

/** CEL's conversions and `size`; `undefined` when the name is not one of them. */
export function standardFunction(
  name: string,
  [first = null]: readonly Value[],
  meter: Meter,
): Value | undefined {
  switch (name) {
    case 'dyn':
      return first;
    case 'size':
      return size(first, meter);
    case 'string':
      return typeof first === 'string' ? first : asJson(first, meter);
    case 'int':
    case 'double': {
      const value = typeof first === 'string' && first.trim() !== '' ? Number(first) : number(first);
      if (!Number.isFinite(value)) throw typeFault('a number', first);
      return name === 'int' ? Math.trunc(value) : value;
    }
    default:
      return undefined;
  }
}

export function standardMethod(name: string, target: Value, args: readonly Value[], meter: Meter): Value {
  const [first = null] = args;
  if (typeof target === 'string') meter.chargeText(target.length);
  switch (name) {
    case 'size':
      return size(target, meter);
    case 'contains':
      return text(target).includes(text(first));
    case 'startsWith':
      return text(target).startsWith(text(first));
    case 'endsWith':
      return text(target).endsWith(text(first));
    case 'lowerAscii':
      return text(target).replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
    case 'upperAscii':
      return text(target).replace(/[a-z]+/g, (letters) => letters.toUpperCase());
    case 'trim':
      return text(target).trim();
    case 'split':
      return split(text(target), text(first), args.length < 2 ? -1 : number(args[1] ?? null), meter);
    case 'join':
      return join(list(target), args.length === 0 ? '' : text(first), meter);
    default:
      throw new EvaluationFault('type', `there is no method '${name}'`);
  }
}
