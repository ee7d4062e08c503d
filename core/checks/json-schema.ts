import { Ajv2020 } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { estimatePatternSize } from '../base/pattern-size.ts';

export interface SchemaProblem {
  /** JSON pointer into the arguments; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

export type Validator = (value: JsonValue) => readonly SchemaProblem[];

/** A schema that cannot be used, and why: the check is then silent about this tool. */
export interface UnusableSchema {
  readonly unusable: string;
}

/** A tool schema beyond these is no tool schema: largest seen in public MCP servers is about 20 kB. */
const MAX_SCHEMA_LENGTH = 200_000;
const MAX_SCHEMA_DEPTH = 64;
const REPORTED_PROBLEMS = 3;
/** Compiling one takes milliseconds; MCP servers have a handful. */
const MAX_PATTERNS = 100;
const MAX_PATTERN_LENGTH = 1000;
/** Instructions of all of them, repeats written out: compiling takes some 3 µs each. */
const MAX_PATTERN_SIZE = 50_000;
/** Instructions of patterns times characters that one value may cost (measured: 0.1 to 0.3 ns each). */
const MAX_PATTERN_WORK = 1e9;
/** Parts with every reference written out: what one value can cost, since alternatives may all be tried. */
const MAX_UNFOLDED = 50_000;

/**
 * Schemas come out of traces and are not trusted: `$ref` may only point inside the schema and not in a circle,
 * patterns run on linear-time RE2, their number, size, depth and unfolded size are bounded, `uniqueItems` is not looked
 * at. Compiled once per schema object. A validator throws when the patterns take too much work on a value.
 */
export function validatorOf(schema: JsonValue): Validator | UnusableSchema {
  if (!isJsonObject(schema)) return { unusable: 'the schema is not an object' };
  const known = cache.get(schema);
  if (known !== undefined) return known;
  const made = compile(schema);
  cache.set(schema, made);
  return made;
}

const cache = new WeakMap<JsonObject, Validator | UnusableSchema>();

function compile(schema: JsonObject): Validator | UnusableSchema {
  const refused = refusal(schema, 0);
  if (refused !== null) return { unusable: refused };
  if (JSON.stringify(schema).length > MAX_SCHEMA_LENGTH) {
    return { unusable: `the schema is longer than ${MAX_SCHEMA_LENGTH} characters` };
  }
  const patterns = patternsOf(schema);
  if (patterns.length > MAX_PATTERNS || patterns.some((pattern) => pattern.length > MAX_PATTERN_LENGTH))
    return {
      unusable: `the schema has more than ${MAX_PATTERNS} patterns, or one of more than ${MAX_PATTERN_LENGTH} characters`,
    };
  if (patterns.reduce((sum, pattern) => sum + estimatePatternSize(pattern), 0) > MAX_PATTERN_SIZE)
    return { unusable: `the patterns of the schema come to more than ${MAX_PATTERN_SIZE} instructions` };
  const work = unfoldedSize(schema, schema, new Set(), new Map());
  if (work === null) return { unusable: 'the schema refers to itself, or to a part that it does not have' };
  if (work > MAX_UNFOLDED) return { unusable: `the schema unfolds to more than ${MAX_UNFOLDED} parts` };
  // `$id` would name a base for references, `$schema` may name a draft that is not loaded.
  const { $id: _id, id: _oldId, $schema: _draft, ...plain } = schema;
  try {
    compiler ??= makeCompiler();
    const validate = compiler.compile(plain);
    // Ajv would keep every schema it ever saw; ours are kept as long as their session is.
    compiler.removeSchema(plain);
    return (value) => {
      patternWork = 0;
      if (validate(value) || validate(withLongNumbers(value))) return [];
      // The errors of the value as it is, not of the second look.
      validate(value);
      return (validate.errors ?? []).slice(0, REPORTED_PROBLEMS).map((error) => ({
        path: error.instancePath,
        message: describe(error.keyword, error.params, error.message ?? error.keyword),
      }));
    };
  } catch (error) {
    return {
      unusable: `the schema does not compile (${error instanceof Error ? error.message.slice(0, 200) : 'unknown'})`,
    };
  }
}

/** Integers beyond 2^53 are read as decimal text, so that no digit is lost; to a schema they are numbers. */
function withLongNumbers(value: JsonValue): JsonValue {
  if (typeof value === 'string') return /^-?\d{16,40}$/.test(value) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(withLongNumbers);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withLongNumbers(item)]));
}

/** Made at the first schema: its own meta-schemas take some 20 ms, which a session without tools need not pay. */
let compiler: Ajv2020 | undefined;

function makeCompiler(): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: false,
    validateFormats: false,
    addUsedSchema: false,
    logger: false,
    code: { regExp: linearRegExp },
  });
  // Compares every pair of a list: quadratic in what a trace sends us.
  ajv.removeKeyword('uniqueItems');
  return ajv;
}

/** Ajv's messages leave out which property or which values are meant. */
function describe(keyword: string, params: Record<string, unknown>, message: string): string {
  if (keyword === 'additionalProperties')
    return `${message}: ${String(params.additionalProperty).slice(0, 80)}`;
  if (keyword === 'enum') return `${message}: ${JSON.stringify(params.allowedValues).slice(0, 160)}`;
  return message;
}

function refusal(value: JsonValue, depth: number): string | null {
  if (depth > MAX_SCHEMA_DEPTH) return `the schema is nested deeper than ${MAX_SCHEMA_DEPTH} levels`;
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, inner] of Array.isArray(value)
    ? value.map((item) => ['', item] as const)
    : Object.entries(value)) {
    if (REFERENCES.has(key) && typeof inner === 'string' && !inner.startsWith('#')) {
      return 'the schema refers outside itself ($ref), which is not followed';
    }
    if (key === '$async' && inner === true) return 'asynchronous schemas are not supported';
    const found = refusal(inner, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

/**
 * Number of parts of the schema with references unfolded; `null` when one leads back to itself or nowhere. A
 * self-reference inside alternatives makes validation exponential in the depth of the data.
 */
function unfoldedSize(
  root: JsonObject,
  value: JsonValue,
  open: Set<JsonValue>,
  known: Map<JsonValue, number>,
): number | null {
  if (typeof value !== 'object' || value === null) return 0;
  const before = known.get(value);
  if (before !== undefined) return before;
  if (open.has(value)) return null;
  open.add(value);
  let size = 1;
  const reference = Array.isArray(value) ? undefined : (value.$ref ?? value.$dynamicRef);
  if (typeof reference === 'string') {
    const target = pointedAt(root, reference);
    const inner = target === undefined ? null : unfoldedSize(root, target, open, known);
    if (inner === null) return null;
    size += inner;
  }
  for (const child of Object.values(value)) {
    const inner = unfoldedSize(root, child, open, known);
    if (inner === null) return null;
    size += inner;
  }
  open.delete(value);
  known.set(value, size);
  return size;
}

function pointedAt(root: JsonObject, reference: string): JsonValue | undefined {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let at: JsonValue | undefined = root;
  for (const token of reference.slice(2).split('/')) {
    const key = decodeToken(token);
    if (typeof at !== 'object' || at === null || key === null || !Object.hasOwn(at, key)) return undefined;
    at = Array.isArray(at) ? at[Number(key)] : at[key];
  }
  return at;
}

function decodeToken(token: string): string | null {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    // A broken percent escape points nowhere.
    return null;
  }
}

const REFERENCES = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

function patternsOf(value: JsonValue): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(patternsOf);
  return [
    ...(typeof value.pattern === 'string' ? [value.pattern] : []),
    ...(isJsonObject(value.patternProperties) ? Object.keys(value.patternProperties) : []),
    ...Object.values(value).flatMap(patternsOf),
  ];
}

let patternWork = 0;

const linearRegExp = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    return {
      test: (text: string) => {
        patternWork += text.length * compiled.programSize();
        if (patternWork > MAX_PATTERN_WORK)
          throw new RangeError(`the pattern ${pattern.slice(0, 80)} takes too long`);
        return compiled.matcher(text).find();
      },
      // Ajv tells patterns apart by this text.
      toString: () => `re2:${pattern}`,
    };
  },
  { code: 'linearRegExp' },
);
