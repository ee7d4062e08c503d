import { Ajv2020 } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';

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

/**
 * Schemas come out of traces and are not trusted: `$ref` may only point inside the schema, patterns run on
 * linear-time RE2, size and depth are bounded. Compiled once per schema object.
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
  // `$id` would name a base for references, `$schema` may name a draft that is not loaded.
  const { $id: _id, id: _oldId, $schema: _draft, ...plain } = schema;
  try {
    const ajv = new Ajv2020({
      strict: false,
      allErrors: false,
      validateFormats: false,
      addUsedSchema: false,
      logger: false,
      code: { regExp: linearRegExp },
    });
    const validate = ajv.compile(plain);
    return (value) => {
      if (validate(value)) return [];
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

const REFERENCES = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

const linearRegExp = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    return {
      test: (text: string) => compiled.matcher(text).find(),
      // Ajv's type asks for them; validation without code export calls `test` only.
      exec: () => null,
    };
  },
  { code: 'linearRegExp' },
);
