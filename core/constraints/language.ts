import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import { CONSTRAINT_LIMITS } from '../diagnosis/constraint.ts';
import { FUNCTIONS } from './functions.ts';

/**
 * The constraint language: CEL as parsed and type-checked by cel-js (docs/decisions/0004), with the variables,
 * types and functions of this file and nothing else. Evaluation is ours (`evaluate.ts`), because it has to be metered.
 */
export interface Expression {
  readonly source: string;
  readonly ast: ASTNode;
}

export type Compiled =
  | { readonly ok: true; readonly expression: Expression }
  | { readonly ok: false; readonly error: string };

/** Parser limits. Deep nesting is what blows stacks; comprehension nesting is limited in `validate` below. */
const LIMITS = {
  maxAstNodes: 400,
  maxDepth: 32,
  maxListElements: 100,
  maxMapEntries: 50,
  maxCallArguments: 4,
};
const MAX_LOOPS = 3;

const CALL_FIELDS = {
  id: 'string',
  name: 'string',
  args: 'map<string, dyn>',
  step: 'int',
  agent: 'string',
  result: 'string',
  hasResult: 'bool',
  json: 'dyn',
  failed: 'bool',
} as const;

const STEP_FIELDS = {
  index: 'int',
  position: 'int',
  kind: 'string',
  role: 'string',
  agent: 'string',
  text: 'string',
  calls: 'list<Call>',
  results: 'list<Call>',
  first: 'bool',
  last: 'bool',
} as const;

const SESSION_FIELDS = { goal: 'string', policy: 'string', tools: 'list<string>' } as const;

/** Only a constraint on the whole session may see its end. */
const WHOLE_SESSION_FIELDS = {
  ...SESSION_FIELDS,
  steps: 'int',
  answer: 'string',
  calls: 'list<Call>',
} as const;

/** Scopes by what a constraint is asked about; each sees only what had happened by then. */
export type Scope = 'call' | 'step' | 'session';

const neverCalled = (): never => {
  throw new Error('cel-js only parses and checks: evaluation is ours');
};

function makeEnvironment(scope: Scope): Environment {
  const env = new Environment({ homogeneousAggregateLiterals: false, limits: LIMITS })
    .registerType('Call', { fields: CALL_FIELDS })
    .registerType('Step', { fields: STEP_FIELDS })
    .registerType('Session', { fields: scope === 'session' ? WHOLE_SESSION_FIELDS : SESSION_FIELDS })
    .registerVariable('session', 'Session')
    .registerVariable('userTurns', 'list<string>');
  if (scope !== 'session') {
    env
      .registerVariable('step', 'Step')
      .registerVariable('earlier', 'list<Step>')
      .registerVariable('prior', 'list<Call>');
  }
  if (scope === 'call') env.registerVariable('call', 'Call');
  // One kind of number: the checker must not object to what JSON does not tell apart. `==` is symmetric by itself.
  env.registerOperator('double == int', neverCalled);
  for (const operator of ['+', '-', '*', '/']) {
    env
      .registerOperator(`double ${operator} int`, neverCalled)
      .registerOperator(`int ${operator} double`, neverCalled);
  }
  for (const { signature } of FUNCTIONS) env.registerFunction(signature, neverCalled);
  return env;
}

const environments = new Map<Scope, Environment>();
function environmentFor(scope: Scope): Environment {
  const known = environments.get(scope);
  if (known !== undefined) return known;
  const made = makeEnvironment(scope);
  environments.set(scope, made);
  return made;
}

export const MACROS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
/** Of CEL's standard library, what `evaluate.ts` carries out. Time zones, bytes and `cel.bind` are left out. */
export const STANDARD_CALLS: ReadonlySet<string> = new Set(['has', 'size', 'string', 'int', 'double', 'dyn']);
export const STANDARD_METHODS: ReadonlySet<string> = new Set([
  'size',
  'contains',
  'startsWith',
  'endsWith',
  'lowerAscii',
  'upperAscii',
  'trim',
  'split',
  'join',
  'matches',
]);
const OWN_CALLS: ReadonlySet<string> = new Set(FUNCTIONS.map((entry) => entry.name));
const UNSUPPORTED = new Set(['.?', '[?]']);

/** Direct operands of a node, whatever its shape. */
export function operands(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    case '.?':
      return [node.args[0]];
    case 'call':
      return node.args[1];
    case 'rcall':
      return [node.args[1], ...node.args[2]];
    case 'map':
      return node.args.flat();
    case '!_':
    case '-_':
      return [node.args];
    default:
      return node.args;
  }
}

/** What the library accepts and we do not. Returns the first objection. */
function objection(node: ASTNode, loops: number): string | null {
  if (UNSUPPORTED.has(node.op)) return `optional access is not part of the language: use has()`;
  if (node.op === 'call' && !STANDARD_CALLS.has(node.args[0]) && !OWN_CALLS.has(node.args[0])) {
    return `there is no function '${node.args[0].slice(0, 40)}'`;
  }
  let inside = loops;
  if (node.op === 'rcall') {
    if (MACROS.has(node.args[0])) {
      inside += 1;
      if (node.args[2].length !== 2) return `${node.args[0]}() takes a variable and one expression`;
    } else if (!STANDARD_METHODS.has(node.args[0])) {
      return `there is no method '${node.args[0].slice(0, 40)}'`;
    }
  }
  if (inside > MAX_LOOPS) return `loops are nested deeper than ${MAX_LOOPS}`;
  if (node.op === 'value' && !isPlain(node.args)) {
    return 'only text, numbers, true, false and null may be written as literals';
  }
  for (const operand of operands(node)) {
    const found = objection(operand, inside);
    if (found !== null) return found;
  }
  return null;
}

function isPlain(value: unknown): boolean {
  if (typeof value === 'bigint') return value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER;
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

/** Text of a library error on one line, without its drawing of the source. */
function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.split('\n')[0] ?? '').slice(0, 200);
}

/** Parses and type-checks; the result must be a bool. Never throws. */
export function compileExpression(source: string, scope: Scope): Compiled {
  if (source.length > CONSTRAINT_LIMITS.expressionLength) {
    return { ok: false, error: `longer than ${CONSTRAINT_LIMITS.expressionLength} characters` };
  }
  const environment = environmentFor(scope);
  try {
    const parsed = environment.parse(source);
    const refused = objection(parsed.ast, 0);
    if (refused !== null) return { ok: false, error: refused };
    const checked = parsed.check();
    if (!checked.valid) return { ok: false, error: oneLine(checked.error) };
    if (checked.type !== 'bool' && checked.type !== 'dyn') {
      return { ok: false, error: `gives ${checked.type}, and must give true or false` };
    }
    return { ok: true, expression: { source, ast: parsed.ast } };
  } catch (error) {
    return { ok: false, error: oneLine(error) };
  }
}
