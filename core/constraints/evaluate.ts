import type { ASTNode, BinaryOperator } from '@marcbachmann/cel-js';
import { callFunction, type FunctionContext } from './functions.ts';
import type { Expression } from './language.ts';
import { EvaluationError } from './meter.ts';
import { matchesPattern } from './patterns.ts';
import {
  equals,
  hasKey,
  isList,
  isMap,
  readKey,
  show,
  typeName,
  type Value,
  type ValueMap,
} from './values.ts';

/**
 * The evaluator. It differs from CEL on purpose in one thing: a number is a JSON number, so `args.amount + 1`
 * works whether the producer wrote 3 or 3.0, and `/` divides exactly. As in CEL, `||`, `&&` and the quantifiers
 * ignore a fault on one side when the other side decides; running out of work is never ignored.
 */
export interface Scene extends FunctionContext {
  readonly variables: ValueMap;
}

export interface Outcome {
  readonly value: boolean;
  /** Source of each looked-up value with the value, for evidence: `call.args.amount` → `12`. */
  readonly seen: ReadonlyMap<string, string>;
}

const MAX_TEXT = 200_000;
const MAX_LIST = 20_000;
const MAX_SEEN = 8;

class Frame {
  readonly scene: Scene;
  readonly seen: Map<string, string>;
  readonly #locals: ReadonlyMap<string, Value>;

  constructor(scene: Scene, seen: Map<string, string>, locals: ReadonlyMap<string, Value> = new Map()) {
    this.scene = scene;
    this.seen = seen;
    this.#locals = locals;
  }

  with(name: string, value: Value): Frame {
    return new Frame(this.scene, this.seen, new Map(this.#locals).set(name, value));
  }

  lookup(name: string): Value {
    const local = this.#locals.get(name);
    return local !== undefined ? local : readKey(this.scene.variables, name);
  }

  get inLoop(): boolean {
    return this.#locals.size > 0;
  }
}

/** Throws EvaluationError; a value that is not a bool is one of fault `type`. */
export function evaluate(expression: Expression, scene: Scene): Outcome {
  const seen = new Map<string, string>();
  const value = run(expression.ast, new Frame(scene, seen));
  if (typeof value !== 'boolean') throw typeFault('true or false', value);
  return { value, seen };
}

function typeFault(expected: string, value: Value): EvaluationError {
  return new EvaluationError('type', `expected ${expected}, found ${typeName(value)} ${show(value, 60)}`);
}

function run(node: ASTNode, frame: Frame): Value {
  frame.scene.meter.charge(1);
  switch (node.op) {
    case 'value':
      return literal(node.args);
    case 'id':
      return note(node, frame.lookup(node.args), frame);
    case '.':
      return note(node, member(run(node.args[0], frame), node.args[1]), frame);
    case '[]':
      return note(node, index(run(node.args[0], frame), run(node.args[1], frame)), frame);
    case 'list':
      return node.args.map((item) => run(item, frame));
    case 'map':
      return mapLiteral(node.args, frame);
    case '?:':
      return truth(run(node.args[0], frame)) ? run(node.args[1], frame) : run(node.args[2], frame);
    case '&&':
      return decided(node.args, frame, false);
    case '||':
      return decided(node.args, frame, true);
    case '!_':
      return !truth(run(node.args, frame));
    case '-_':
      return -number(run(node.args, frame));
    case 'call':
      return note(node, standardCall(node.args[0], node.args[1], frame), frame);
    case 'rcall':
      return note(node, method(node.args[0], node.args[1], node.args[2], frame), frame);
    case '.?':
    case '[?]':
      throw new EvaluationError('type', 'optional access is not part of the language');
    default:
      return binary(node.op, run(node.args[0], frame), run(node.args[1], frame), frame);
  }
}

/** Keeps scalars and short lists that were looked up outside loops, as evidence of a verdict. */
function note(node: ASTNode, value: Value, frame: Frame): Value {
  if (!frame.inLoop && frame.seen.size < MAX_SEEN) {
    const scalar = value === null || typeof value !== 'object' || (isList(value) && value.length <= 10);
    const source = node.input.slice(node.start, node.end).trim();
    if (scalar && source.length <= 80) frame.seen.set(source, show(value));
  }
  return value;
}

function literal(value: unknown): Value {
  if (typeof value === 'bigint') return Number(value);
  if (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    typeof value === 'number'
  ) {
    return value;
  }
  throw new EvaluationError('type', 'this kind of literal is not part of the language');
}

function truth(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  throw typeFault('true or false', value);
}

function number(value: Value): number {
  if (typeof value === 'number') return value;
  throw typeFault('a number', value);
}

function text(value: Value): string {
  if (typeof value === 'string') return value;
  throw typeFault('text', value);
}

function list(value: Value): readonly Value[] {
  if (isList(value)) return value;
  throw typeFault('a list', value);
}

function member(target: Value, key: string): Value {
  if (isMap(target)) return readKey(target, key);
  if (target === null) throw new EvaluationError('missing', `there is no '${key}' in null`);
  throw typeFault(`something with a field '${key}'`, target);
}

function index(target: Value, key: Value): Value {
  if (isMap(target)) return readKey(target, typeof key === 'string' ? key : show(key));
  const found = list(target)[number(key)];
  if (found === undefined) throw new EvaluationError('missing', `there is no item ${show(key)} in the list`);
  return found;
}

function mapLiteral(entries: readonly (readonly [ASTNode, ASTNode])[], frame: Frame): Value {
  const made: { [key: string]: Value } = Object.create(null);
  for (const [key, value] of entries) made[text(run(key, frame))] = run(value, frame);
  return made;
}

function absorbable(error: unknown): EvaluationError {
  if (error instanceof EvaluationError && error.because !== 'budget') return error;
  throw error;
}

/** `&&` (decides on false) and `||` (decides on true). */
function decided(sides: readonly [ASTNode, ASTNode], frame: Frame, deciding: boolean): Value {
  let fault: EvaluationError | null = null;
  for (const side of sides) {
    try {
      if (truth(run(side, frame)) === deciding) return deciding;
    } catch (error) {
      fault ??= absorbable(error);
    }
  }
  if (fault !== null) throw fault;
  return !deciding;
}

function binary(op: BinaryOperator, left: Value, right: Value, frame: Frame): Value {
  const { meter } = frame.scene;
  switch (op) {
    case '==':
      return equals(left, right, meter);
    case '!=':
      return !equals(left, right, meter);
    case 'in':
      if (isMap(right)) return hasKey(right, text(left));
      return list(right).some((item) => equals(left, item, meter));
    case '+':
      return add(left, right, frame);
    case '-':
      return number(left) - number(right);
    case '*':
      return number(left) * number(right);
    case '/':
    case '%':
      if (number(right) === 0) throw new EvaluationError('arithmetic', 'division by zero');
      return op === '/' ? number(left) / number(right) : number(left) % number(right);
    default:
      return compare(op, left, right);
  }
}

function add(left: Value, right: Value, frame: Frame): Value {
  if (typeof left === 'string') {
    const right_ = text(right);
    if (left.length + right_.length > MAX_TEXT) throw new EvaluationError('budget', 'the text grew too long');
    frame.scene.meter.chargeText(left.length + right_.length);
    return left + right_;
  }
  if (isList(left)) {
    const right_ = list(right);
    if (left.length + right_.length > MAX_LIST) throw new EvaluationError('budget', 'the list grew too long');
    frame.scene.meter.charge(left.length + right_.length);
    return [...left, ...right_];
  }
  return number(left) + number(right);
}

function compare(op: '<' | '<=' | '>' | '>=', left: Value, right: Value): boolean {
  const comparable =
    (typeof left === 'number' && typeof right === 'number') ||
    (typeof left === 'string' && typeof right === 'string');
  if (!comparable) throw typeFault(`two numbers or two texts to compare (left is ${typeName(left)})`, right);
  if (op === '<') return left < right;
  if (op === '<=') return left <= right;
  return op === '>' ? left > right : left >= right;
}

function standardCall(name: string, args: readonly ASTNode[], frame: Frame): Value {
  if (name === 'has') return has(args[0], frame);
  const values = args.map((arg) => run(arg, frame));
  const first = values[0] ?? null;
  switch (name) {
    case 'dyn':
      return first;
    case 'size':
      return size(first, frame);
    case 'string':
      return typeof first === 'string' ? first : show(first, MAX_TEXT);
    case 'int':
    case 'double': {
      const value = typeof first === 'string' && first.trim() !== '' ? Number(first) : number(first);
      if (!Number.isFinite(value)) throw typeFault('a number', first);
      return name === 'int' ? Math.trunc(value) : value;
    }
    default:
      return callFunction(name, values, frame.scene);
  }
}

/** `has(a.b.c)`: the last field may be absent, what leads to it may not. */
function has(node: ASTNode | undefined, frame: Frame): boolean {
  if (node?.op !== '.') throw new EvaluationError('type', 'has() takes a field, as in has(call.args.id)');
  const target = run(node.args[0], frame);
  return isMap(target) && hasKey(target, node.args[1]);
}

function size(value: Value, frame: Frame): number {
  if (typeof value === 'string') {
    frame.scene.meter.chargeText(value.length);
    return [...value].length;
  }
  if (isList(value)) return value.length;
  if (isMap(value)) return Object.keys(value).length;
  throw typeFault('text, a list or a map', value);
}

function method(name: string, receiver: ASTNode, args: readonly ASTNode[], frame: Frame): Value {
  const [variable, body] = args;
  if (variable?.op === 'id' && body !== undefined && isLoop(name)) {
    return loop(name, elements(run(receiver, frame)), variable.args, body, frame);
  }
  const target = run(receiver, frame);
  const values = args.map((arg) => run(arg, frame));
  if (typeof target === 'string') frame.scene.meter.chargeText(target.length);
  switch (name) {
    case 'size':
      return size(target, frame);
    case 'contains':
      return text(target).includes(text(values[0] ?? null));
    case 'startsWith':
      return text(target).startsWith(text(values[0] ?? null));
    case 'endsWith':
      return text(target).endsWith(text(values[0] ?? null));
    case 'lowerAscii':
      return text(target).toLowerCase();
    case 'upperAscii':
      return text(target).toUpperCase();
    case 'trim':
      return text(target).trim();
    case 'split':
      return split(text(target), text(values[0] ?? null), frame);
    case 'join':
      return join(list(target), values.length === 0 ? '' : text(values[0] ?? null), frame);
    case 'matches':
      return matchesPattern(text(target), text(values[0] ?? null), frame.scene.meter);
    default:
      throw new EvaluationError('type', `there is no method '${name}'`);
  }
}

function split(target: string, separator: string, frame: Frame): Value {
  const parts = target.split(separator);
  if (parts.length > MAX_LIST) throw new EvaluationError('budget', 'the list grew too long');
  frame.scene.meter.charge(parts.length);
  return parts;
}

function join(items: readonly Value[], separator: string, frame: Frame): Value {
  const total = items.reduce((sum: number, item) => sum + text(item).length + separator.length, 0);
  if (total > MAX_TEXT) throw new EvaluationError('budget', 'the text grew too long');
  frame.scene.meter.chargeText(total);
  return items.map(text).join(separator);
}

type Loop = 'all' | 'exists' | 'exists_one' | 'map' | 'filter';
const isLoop = (name: string): name is Loop =>
  ['all', 'exists', 'exists_one', 'map', 'filter'].includes(name);

function elements(value: Value): readonly Value[] {
  return isMap(value) ? Object.keys(value) : list(value);
}

function loop(kind: Loop, items: readonly Value[], variable: string, body: ASTNode, frame: Frame): Value {
  frame.scene.meter.charge(items.length);
  const at = (item: Value): Value => run(body, frame.with(variable, item));
  switch (kind) {
    case 'map':
      return items.map(at);
    case 'filter':
      return items.filter((item) => truth(at(item)));
    case 'exists_one':
      return items.filter((item) => truth(at(item))).length === 1;
    case 'all':
      return quantify(items, at, false);
    case 'exists':
      return quantify(items, at, true);
  }
}

function quantify(items: readonly Value[], at: (item: Value) => Value, deciding: boolean): boolean {
  let fault: EvaluationError | null = null;
  for (const item of items) {
    try {
      if (truth(at(item)) === deciding) return deciding;
    } catch (error) {
      fault ??= absorbable(error);
    }
  }
  if (fault !== null) throw fault;
  return !deciding;
}
