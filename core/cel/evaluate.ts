import type { ASTNode } from '@marcbachmann/cel-js';
import type { Expression } from './language.ts';
import { EvaluationFault, type Meter } from './meter.ts';
import {
  binary,
  index,
  list,
  literal,
  member,
  number,
  standardFunction,
  standardMethod,
  text,
  truth,
  typeFault,
} from './operators.ts';
import type { Patterns } from './patterns.ts';
import { hasKey, isList, isMap, isScalar, readKey, show, type Value, type ValueMap } from './values.ts';

/**
 * The evaluator. It differs from CEL on purpose in one thing: a number is a JSON number, so `args.amount + 1`
 * works whether the producer wrote 3 or 3.0, and `/` divides exactly. As in CEL, `||`, `&&` and the quantifiers
 * ignore a fault on one side when the other side decides; running out of work is never ignored.
 */
export interface Scene {
  readonly variables: ValueMap;
  readonly meter: Meter;
  readonly patterns: Patterns;
  /** Functions of the environment. Only names that it declared are called. */
  call(name: string, args: readonly Value[]): Value;
}

export interface Outcome {
  readonly value: boolean;
  /** Source of each looked-up value with the value, for evidence: `call.args.amount` → `12`. */
  readonly seen: ReadonlyMap<string, string>;
}

const MAX_SEEN = 8;
/** What throwing and catching takes, in units of work. */
const FAULT_UNITS = 8;

/** A scope of names: that of the scene, or inside it one loop variable. */
class Frame {
  readonly scene: Scene;
  readonly seen: Map<string, string>;
  readonly #outer: Frame | null;
  readonly #name: string;
  readonly #value: Value;

  constructor(
    scene: Scene,
    seen: Map<string, string>,
    outer: Frame | null = null,
    name = '',
    value: Value = null,
  ) {
    this.scene = scene;
    this.seen = seen;
    this.#outer = outer;
    this.#name = name;
    this.#value = value;
  }

  with(name: string, value: Value): Frame {
    return new Frame(this.scene, this.seen, this, name, value);
  }

  lookup(name: string): Value {
    if (this.#outer === null) {
      const value = readKey(this.scene.variables, name);
      // A variable may be a getter that makes its list anew at each look-up.
      if (isList(value)) this.scene.meter.charge(value.length / 64);
      return value;
    }
    return this.#name === name ? this.#value : this.#outer.lookup(name);
  }

  get inLoop(): boolean {
    return this.#outer !== null;
  }
}

/** Throws EvaluationFault; a value that is not a bool is one of fault `type`. */
export function evaluate(expression: Expression, scene: Scene): Outcome {
  const seen = new Map<string, string>();
  const value = run(expression.ast, new Frame(scene, seen));
  if (typeof value !== 'boolean') throw typeFault('true or false', value);
  return { value, seen };
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
      return decide(node.args, (side) => run(side, frame), false, frame);
    case '||':
      return decide(node.args, (side) => run(side, frame), true, frame);
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
      throw new EvaluationFault('type', 'optional access is not part of the language');
    default:
      return binary(node.op, run(node.args[0], frame), run(node.args[1], frame), frame.scene.meter);
  }
}

/** Keeps scalars and short lists of them that were looked up outside loops, as evidence of a verdict. */
function note(node: ASTNode, value: Value, frame: Frame): Value {
  if (!frame.inLoop && frame.seen.size < MAX_SEEN) {
    const short = isScalar(value) || (isList(value) && value.length <= 10 && value.every(isScalar));
    const source = node.input.slice(node.start, node.end).trim();
    if (short && source.length <= 80) frame.seen.set(source, show(value));
  }
  return value;
}

function mapLiteral(entries: readonly (readonly [ASTNode, ASTNode])[], frame: Frame): Value {
  const made: { [key: string]: Value } = Object.create(null);
  for (const [key, value] of entries) made[text(run(key, frame))] = run(value, frame);
  return made;
}

function absorbable(error: unknown): EvaluationFault {
  if (error instanceof EvaluationFault && error.because !== 'budget') return error;
  throw error;
}

function standardCall(name: string, args: readonly ASTNode[], frame: Frame): Value {
  if (name === 'has') return has(args[0], frame);
  const values = args.map((arg) => run(arg, frame));
  const { scene } = frame;
  const standard = standardFunction(name, values, scene.meter);
  if (standard !== undefined) return standard;
  return name === 'matches' ? matches(values, scene) : scene.call(name, values);
}

function matches([subject = null, pattern = null]: readonly Value[], { patterns, meter }: Scene): boolean {
  return patterns.occurs(text(subject), text(pattern), meter);
}

/** `has(a.b.c)`: the last field may be absent, what leads to it may not. */
function has(node: ASTNode | undefined, frame: Frame): boolean {
  if (node?.op !== '.') throw new EvaluationFault('type', 'has() takes a field, as in has(call.args.id)');
  const target = run(node.args[0], frame);
  return isMap(target) && hasKey(target, node.args[1]);
}

function method(name: string, receiver: ASTNode, args: readonly ASTNode[], frame: Frame): Value {
  const [variable, body] = args;
  if (variable?.op === 'id' && body !== undefined && isLoop(name)) {
    return loop(name, elements(run(receiver, frame)), variable.args, body, frame);
  }
  const target = run(receiver, frame);
  const values = args.map((arg) => run(arg, frame));
  if (name === 'matches') return matches([target, ...values], frame.scene);
  return standardMethod(name, target, values, frame.scene.meter);
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
      return decide(items, at, false, frame);
    case 'exists':
      return decide(items, at, true, frame);
  }
}

/**
 * `&&` and `all` decide on false, `||` and `exists` on true; a fault counts only when nothing else decides. That work
 * has run out is looked for at every fault: a loop that passes over it would go on for ever.
 */
function decide<T>(items: readonly T[], at: (item: T) => Value, deciding: boolean, frame: Frame): boolean {
  let first: EvaluationFault | null = null;
  for (const item of items) {
    try {
      if (truth(at(item)) === deciding) return deciding;
    } catch (error) {
      const fault = absorbable(error);
      frame.scene.meter.charge(FAULT_UNITS);
      first ??= fault;
    }
  }
  if (first !== null) throw first;
  return !deciding;
}
