import { type ASTNode, Environment } from '@marcbachmann/cel-js';

/**
 * The expression language: CEL as parsed and type-checked by cel-js (docs/decisions/0004), with the types, variables
 * and functions that an environment declares and nothing else. Evaluation is ours (`evaluate.ts`), because it has to
 * be metered.
 */
export interface Expression {
  readonly source: string;
  readonly ast: ASTNode;
}

export type Compiled =
  | { readonly ok: true; readonly expression: Expression }
  | { readonly ok: false; readonly error: string };

/** What expressions may name. Types in cel-js' notation: `string`, `list<Call>`, `map<string, dyn>`. */
export interface TypeEnvironment {
  /** Types with their fields; no other field of theirs exists. */
  readonly types: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly variables: Readonly<Record<string, string>>;
  /** Functions with their signatures, such as `sameId(dyn, dyn): bool`; `Scene.call` carries them out. */
  readonly functions: readonly { readonly name: string; readonly signature: string }[];
}

export interface Language {
  /** Parses and type-checks; the result must be a bool. Never throws. */
  compile(source: string): Compiled;
}

/** What a text may be. Levels of nesting bound the stack, of loops too; how long loops run is for the meter. */
export const EXPRESSION_LIMITS = { characters: 2_000, nodes: 400, levels: 32 } as const;
const PARSER_LIMITS = {
  maxAstNodes: EXPRESSION_LIMITS.nodes,
  maxDepth: EXPRESSION_LIMITS.levels,
  maxListElements: 100,
  maxMapEntries: 50,
  maxCallArguments: 4,
};

const MACROS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
/** Of CEL's standard library, what `evaluate.ts` carries out. Time zones, bytes and `cel.bind` are left out. */
const STANDARD_CALLS: ReadonlySet<string> = new Set([
  'has',
  'size',
  'string',
  'int',
  'double',
  'dyn',
  'matches',
]);
const STANDARD_METHODS: ReadonlySet<string> = new Set([
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
const UNSUPPORTED = new Set(['.?', '[?]']);

export function makeLanguage(types: TypeEnvironment): Language {
  const environment = makeEnvironment(types);
  const functions = new Set(types.functions.map(({ name }) => name));
  return {
    compile(source) {
      if (source.length > EXPRESSION_LIMITS.characters) {
        return { ok: false, error: `longer than ${EXPRESSION_LIMITS.characters} characters` };
      }
      try {
        const parsed = environment.parse(source);
        const refused = objection(parsed.ast, functions);
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
    },
  };
}

const neverCalled = (): never => {
  throw new Error('cel-js only parses and checks: evaluation is ours');
};

function makeEnvironment({ types, variables, functions }: TypeEnvironment): Environment {
  const env = new Environment({ homogeneousAggregateLiterals: false, limits: PARSER_LIMITS });
  for (const [name, fields] of Object.entries(types)) env.registerType(name, { fields });
  for (const [name, type] of Object.entries(variables)) env.registerVariable(name, type);
  // One kind of number: the checker must not object to what JSON does not tell apart. `==` is symmetric by itself.
  env.registerOperator('double == int', neverCalled);
  for (const operator of ['+', '-', '*', '/']) {
    env
      .registerOperator(`double ${operator} int`, neverCalled)
      .registerOperator(`int ${operator} double`, neverCalled);
  }
  env.registerFunction('matches(string, string): bool', neverCalled);
  for (const { signature } of functions) env.registerFunction(signature, neverCalled);
  return env;
}

/** Direct operands of a node, whatever its shape. */
function operands(node: ASTNode): readonly ASTNode[] {
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
function objection(node: ASTNode, functions: ReadonlySet<string>): string | null {
  if (UNSUPPORTED.has(node.op)) return `optional access is not part of the language: use has()`;
  if (node.op === 'call' && !STANDARD_CALLS.has(node.args[0]) && !functions.has(node.args[0])) {
    return `there is no function '${node.args[0].slice(0, 40)}'`;
  }
  if (node.op === 'rcall') {
    if (MACROS.has(node.args[0])) {
      if (node.args[2].length !== 2) return `${node.args[0]}() takes a variable and one expression`;
    } else if (!STANDARD_METHODS.has(node.args[0])) {
      return `there is no method '${node.args[0].slice(0, 40)}'`;
    }
  }
  if (node.op === 'value' && !isPlain(node.args)) {
    return 'only text, numbers, true, false and null may be written as literals';
  }
  for (const operand of operands(node)) {
    const found = objection(operand, functions);
    if (found !== null) return found;
  }
  return null;
}

function isPlain(value: unknown): boolean {
  if (typeof value === 'bigint') return value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER;
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

/** Regular expressions written out in an expression, which can be looked at before anything runs. */
export function literalPatterns(node: ASTNode): readonly string[] {
  const pattern =
    node.op === 'rcall' && node.args[0] === 'matches'
      ? node.args[2][0]
      : node.op === 'call' && node.args[0] === 'matches'
        ? node.args[1][1]
        : undefined;
  const literal = pattern?.op === 'value' && typeof pattern.args === 'string' ? [pattern.args] : [];
  return [...literal, ...operands(node).flatMap(literalPatterns)];
}

/** Text of a library error on one line, without its drawing of the source. */
function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.split('\n')[0] ?? '').slice(0, 200);
}
