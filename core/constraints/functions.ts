import { EvaluationFault, type Meter } from '../cel/meter.ts';
import { list, text, typeFault } from '../cel/operators.ts';
import { equals, hasKey, isList, isMap, readKey, type Value, type ValueMap } from '../cel/values.ts';
import type { ToolExchange } from '../trajectory/trajectory.ts';
import { numbersIn, type ValueSources } from '../trajectory/value-sources.ts';

/** What the own functions need beyond their arguments. */
export interface FunctionContext {
  readonly meter: Meter;
  readonly sources: ValueSources;
  /** Index of the step the question is asked at. */
  readonly now: number;
  /** The call behind a `Call` value. */
  exchangeOf(call: ValueMap): ToolExchange | null;
  /** Empty when valid; `null` when the tool or its schema is not recorded. */
  schemaErrors(exchange: ToolExchange): readonly string[] | null;
  /** Tool names recorded for the session; empty when none are. */
  readonly toolNames: ReadonlySet<string>;
  /** User turns before a step, oldest first. */
  userTurnsBefore(step: number): readonly string[];
}

export interface LanguageFunction {
  readonly name: string;
  /** In cel-js' notation. */
  readonly signature: string;
  readonly meaning: string;
  run(args: readonly Value[], context: FunctionContext): Value;
}

const isCalls = (value: Value): value is readonly ValueMap[] => isList(value) && value.every(isMap);
const calls = (value: Value | undefined): readonly ValueMap[] => {
  if (value === undefined || !isCalls(value)) throw new EvaluationFault('type', 'expected a list of calls');
  return value;
};
const asText = (value: Value | undefined): string => text(value ?? null);
const asCall = (value: Value | undefined): ValueMap => {
  if (value === undefined || !isMap(value)) throw new EvaluationFault('type', 'expected a call');
  return value;
};
const asList = (value: Value | undefined): readonly Value[] => list(value ?? null);

/** A number, also when it is written as text, with its currency sign or separators. */
function asNumber(value: Value): number {
  if (typeof value === 'number') return value;
  const [only, ...rest] =
    typeof value === 'string' && value.length <= 40 ? numbersIn(value.replace(/[$€£]/g, '')) : [];
  if (only === undefined || rest.length > 0) throw typeFault('a number', value);
  return only;
}

function exchange(value: Value | undefined, context: FunctionContext): ToolExchange {
  const found = context.exchangeOf(asCall(value));
  if (found === null) throw new EvaluationFault('type', 'expected a call of this session');
  return found;
}

/** Values at a dotted path; `*` stands for every item of a list or map. Missing fields give nothing. */
function pick(value: Value, path: string, meter: Meter): readonly Value[] {
  let found: readonly Value[] = [value];
  for (const part of path.split('.').slice(0, 12)) {
    const next: Value[] = [];
    for (const item of found) {
      const inside = picked(item, part);
      meter.charge(inside.length + 1);
      if (next.length + inside.length > 20_000) {
        throw new EvaluationFault('budget', 'the path selects too many values');
      }
      next.push(...inside);
    }
    found = next;
  }
  return found;
}

function picked(item: Value, part: string): readonly Value[] {
  if (part === '*') return isList(item) ? item : isMap(item) ? Object.values(item) : [];
  if (isMap(item)) return hasKey(item, part) ? [readKey(item, part)] : [];
  const at = isList(item) && /^\d{1,6}$/.test(part) ? item[Number(part)] : undefined;
  return at === undefined ? [] : [at];
}

/** Ids as people and systems write them: case, spaces and a leading # or "id:" do not matter. */
function sameId(a: Value, b: Value, meter: Meter): boolean {
  const plain = (value: Value): string => {
    if (typeof value !== 'string' && typeof value !== 'number') throw typeFault('an id', value);
    const id = String(value);
    meter.charge(1 + id.length / 8);
    return id
      .toLowerCase()
      .replace(/^\s*(?:id\s*[:=]\s*)?#?/, '')
      .replace(/\s+/g, '');
  };
  return plain(a) === plain(b);
}

/** Whether every scalar inside the value was named before the step. Empty values and booleans need no source. */
function isSupported(value: Value, byUserOnly: boolean, context: FunctionContext): boolean {
  const { meter, sources, now } = context;
  meter.charge(1);
  if (value === null || typeof value === 'boolean' || value === '') return true;
  if (isList(value)) return value.every((item) => isSupported(item, byUserOnly, context));
  if (isMap(value)) {
    const items = Object.values(value);
    meter.charge(items.length);
    return items.every((item) => isSupported(item, byUserOnly, context));
  }
  if (typeof value === 'string') meter.charge(value.length / 8);
  for (const source of sources.before(value, now, (units) => meter.charge(units))) {
    if (source.byUser || !byUserOnly) return true;
  }
  return false;
}

const YES =
  /^[\s\p{P}]*(?:yes|yeah|yep|yup|sure|ok(?:ay)?|correct|confirm(?:ed)?|agreed?|absolutely|definitely|please (?:do|go ahead|proceed)|go ahead|proceed|do it|sounds good|that(?:'|’)?s (?:right|correct|fine)|i (?:confirm|agree|approve))\b|\b(?:yes,? please|please (?:proceed|go ahead)|i (?:confirm|agree|approve)|you (?:can|may) (?:proceed|go ahead))\b/iu;
const NO = /^[\s\p{P}]*(?:no|nope|don(?:'|’)?t|do not|stop|wait|cancel that|not yet|hold on)\b/iu;

export const FUNCTIONS: readonly LanguageFunction[] = [
  {
    name: 'schemaValid',
    signature: 'schemaValid(Call): bool',
    meaning: "the arguments are valid by the tool's JSON Schema; unknown when no schema is recorded",
    run: ([call], context) => {
      const asked = exchange(call, context);
      const errors = context.schemaErrors(asked);
      if (errors === null) throw new EvaluationFault('unknown', `no schema is recorded for '${asked.name}'`);
      return errors.length === 0;
    },
  },
  {
    name: 'knownTool',
    signature: 'knownTool(Call): bool',
    meaning: 'the called tool is among those offered; unknown when no tools are recorded',
    run: ([call], context) => {
      if (context.toolNames.size === 0) throw new EvaluationFault('unknown', 'no tools are recorded');
      return context.toolNames.has(asText(asCall(call).name));
    },
  },
  {
    name: 'called',
    signature: 'called(list<Call>, string): bool',
    meaning: 'the list has a call of this tool',
    run: ([list, name], context) => {
      context.meter.charge(calls(list).length);
      return calls(list).some((call) => call.name === name);
    },
  },
  {
    name: 'callsTo',
    signature: 'callsTo(list<Call>, string): list<Call>',
    meaning: 'the calls of this tool',
    run: ([list, name], context) => {
      context.meter.charge(calls(list).length);
      return calls(list).filter((call) => call.name === name);
    },
  },
  {
    name: 'count',
    signature: 'count(list<Call>, string): int',
    meaning: 'how many calls of this tool',
    run: ([list, name], context) => {
      context.meter.charge(calls(list).length);
      return calls(list).filter((call) => call.name === name).length;
    },
  },
  {
    name: 'inOrder',
    signature: 'inOrder(list<Call>, list<string>): bool',
    meaning: 'the first calls of these tools come in this order; tools not called are passed over',
    run: ([list, names], context) => {
      const all = calls(list);
      context.meter.charge(all.length * (asList(names).length + 1));
      const firsts = asList(names)
        .map((name) => all.findIndex((call) => call.name === name))
        .filter((at) => at >= 0);
      return firsts.every((at, place) => place === 0 || at > (firsts[place - 1] ?? -1));
    },
  },
  {
    name: 'sameCall',
    signature: 'sameCall(Call, Call): bool',
    meaning: 'same tool and same arguments',
    run: ([a, b], { meter }) => {
      const [left, right] = [asCall(a), asCall(b)];
      return left.name === right.name && equals(left.args ?? null, right.args ?? null, meter);
    },
  },
  {
    name: 'pick',
    signature: 'pick(dyn, string): list<dyn>',
    meaning: "values at a dotted path, `*` for every item: pick(call.json, 'items.*.price')",
    run: ([value, path], { meter }) => pick(value ?? null, asText(path), meter),
  },
  {
    name: 'sum',
    signature: 'sum(list<dyn>): double',
    meaning: 'total of a list of numbers, also written as text such as "$1,200.50"',
    run: ([list], { meter }) => {
      meter.charge(asList(list).length);
      return asList(list).reduce((total: number, item) => total + asNumber(item), 0);
    },
  },
  {
    name: 'greatest',
    signature: 'greatest(list<dyn>): double',
    meaning: 'greatest of a list of numbers',
    run: ([list], { meter }) => extreme(asList(list), meter, (a, b) => a > b),
  },
  {
    name: 'least',
    signature: 'least(list<dyn>): double',
    meaning: 'least of a list of numbers',
    run: ([list], { meter }) => extreme(asList(list), meter, (a, b) => a < b),
  },
  {
    name: 'near',
    signature: 'near(dyn, dyn): bool',
    meaning: 'two numbers are equal to within half a cent',
    run: ([a, b]) => Math.abs(asNumber(a ?? null) - asNumber(b ?? null)) <= 0.005,
  },
  {
    name: 'numbersIn',
    signature: 'numbersIn(string): list<double>',
    meaning: 'the numbers written in a text',
    run: ([text], { meter }) => {
      meter.charge(asText(text).length / 8);
      return numbersIn(asText(text));
    },
  },
  {
    name: 'subset',
    signature: 'subset(list<dyn>, list<dyn>): bool',
    meaning: 'every item of the first list is in the second',
    run: ([a, b], { meter }) =>
      asList(a).every((item) => asList(b).some((other) => equals(item, other, meter))),
  },
  {
    name: 'sameId',
    signature: 'sameId(dyn, dyn): bool',
    meaning: 'two ids are the same apart from case, spaces and a leading #',
    run: ([a, b], { meter }) => sameId(a ?? null, b ?? null, meter),
  },
  {
    name: 'supported',
    signature: 'supported(dyn): bool',
    meaning:
      'the value (each value inside it) was said by the user, the system or a tool result before this step',
    run: ([value], context) => isSupported(value ?? null, false, context),
  },
  {
    name: 'saidByUser',
    signature: 'saidByUser(dyn): bool',
    meaning: 'the value was said by the user before this step',
    run: ([value], context) => isSupported(value ?? null, true, context),
  },
  {
    name: 'confirmedBefore',
    signature: 'confirmedBefore(Call): bool',
    meaning:
      "the user's last turn before the call agrees (English wordings); unknown when there is no user turn",
    run: ([call], context) => {
      const last = context.userTurnsBefore(exchange(call, context).callStep).at(-1);
      if (last === undefined)
        throw new EvaluationFault('unknown', 'no user turn is recorded before the call');
      const said = last.slice(0, 2_000);
      context.meter.charge(said.length / 8);
      return !NO.test(said) && YES.test(said);
    },
  },
];

function extreme(list: readonly Value[], meter: Meter, better: (a: number, b: number) => boolean): number {
  meter.charge(list.length);
  const [first, ...rest] = list.map(asNumber);
  if (first === undefined) throw new EvaluationFault('missing', 'the list is empty');
  return rest.reduce((best, item) => (better(item, best) ? item : best), first);
}

const BY_NAME: ReadonlyMap<string, LanguageFunction> = new Map(FUNCTIONS.map((entry) => [entry.name, entry]));

export function callFunction(name: string, args: readonly Value[], context: FunctionContext): Value {
  const found = BY_NAME.get(name);
  if (found === undefined) throw new EvaluationFault('type', `there is no function '${name}'`);
  return found.run(args, context);
}
