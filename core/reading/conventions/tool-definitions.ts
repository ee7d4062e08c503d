import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { ToolDefinition } from '../../session/session.ts';
import { toWellFormed, unwrapJson } from '../decode/decode-json.ts';
import type { RawSpan } from '../decode/format.ts';
import { textAt, valueAt } from './attributes.ts';
import { unflatten } from './flatten.ts';

type Attributes = RawSpan['attributes'];

/** Tool definitions: flat, nested in `function{}`, Bedrock `toolSpec`, Gemini `function_declarations`, bare names. */
export function readToolDefinitions(value: JsonValue | undefined): ToolDefinition[] {
  const { value: decoded } = unwrapJson(value ?? null);
  const items = Array.isArray(decoded) ? decoded : isJsonObject(decoded) ? [decoded] : [];
  return items.flatMap((item) => readTool(typeof item === 'string' ? unwrapJson(item).value : item));
}

function readTool(item: JsonValue): ToolDefinition[] {
  if (typeof item === 'string') return item === '' ? [] : [{ name: toWellFormed(item) }];
  if (!isJsonObject(item)) return [];
  const declarations = item.function_declarations ?? item.functionDeclarations;
  if (Array.isArray(declarations)) return declarations.flatMap(readTool);
  const inner = [item.function, item.toolSpec, item.tool].find(isJsonObject) ?? item;
  const schema = schemaIn(inner);
  const { name } = inner;
  if (typeof name !== 'string' || name === '') return [];
  return [
    {
      name: toWellFormed(name),
      ...(typeof inner.description === 'string' && inner.description !== ''
        ? { description: toWellFormed(inner.description) }
        : {}),
      ...(schema === null ? {} : { parameters: schema }),
    },
  ];
}

/** The schema under any vendor's name, also as JSON text. `null` stands where content capture is off: unknown, not "no arguments". */
function schemaIn(tool: JsonObject): JsonObject | null {
  for (const key of SCHEMA_KEYS) {
    const { value } = unwrapJson(tool[key] ?? null);
    if (isJsonObject(value)) return lowerTypes(isJsonObject(value.json) ? value.json : value);
  }
  return null;
}

const SCHEMA_KEYS = [
  'parameters',
  'input_schema',
  'inputSchema',
  'parameters_json_schema',
  'parametersJsonSchema',
  'args_schema',
  'json_schema',
] as const;

/** Google's `Schema` writes the types of JSON Schema in capitals. */
const TYPES: ReadonlySet<string> = new Set([
  'OBJECT',
  'STRING',
  'INTEGER',
  'NUMBER',
  'BOOLEAN',
  'ARRAY',
  'NULL',
]);

function lowerTypes(schema: JsonObject, depth = 0): JsonObject {
  if (depth > 50) return schema;
  const lower = (value: JsonValue): JsonValue =>
    Array.isArray(value) ? value.map(lower) : isJsonObject(value) ? lowerTypes(value, depth + 1) : value;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === 'type' && typeof value === 'string' && TYPES.has(value) ? value.toLowerCase() : lower(value),
    ]),
  );
}

/** The list of tools that a span says were on offer, in the words of every producer; the fullest statement first. */
export function offeredTools(attributes: Attributes): ToolDefinition[] {
  const invocation = unwrapJson(attributes['llm.invocation_parameters'] ?? null).value;
  const lists = [
    attributes['gen_ai.tool.definitions'],
    attributes['gen_ai.request.tools'],
    openInferenceTools(attributes),
    isJsonObject(invocation) ? invocation.tools : undefined,
    unflatten(attributes, 'llm.request.functions').value ?? undefined,
    attributes['gen_ai.agent.tools'],
  ];
  for (const list of lists) {
    const tools = readToolDefinitions(list);
    if (tools.length > 0) return tools;
  }
  return [];
}

/** `llm.tools.N.tool.{name, description, json_schema}`, or the same as one list. The schema is the vendor's whole definition. */
function openInferenceTools(attributes: Attributes): JsonValue | undefined {
  const flat = unflatten(attributes, 'llm.tools').value;
  const list = flat ?? unwrapJson(attributes['llm.tools'] ?? null).value;
  if (!Array.isArray(list)) return undefined;
  return list.map((item) => {
    const tool = isJsonObject(item) ? (isJsonObject(item.tool) ? item.tool : dotted(item)) : item;
    return isJsonObject(tool) && tool.json_schema !== undefined
      ? definitionFrom(tool.json_schema, textOf(tool.name), textOf(tool.description))
      : tool;
  });
}

/** `{'tool.json_schema': …}` as `{json_schema: …}`. */
const dotted = (item: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(item).map(([key, value]) => [key.replace(/^tool\./, ''), value]));

/** The definition of the tool that a span runs, where the span carries its schema. `null`: it does not. */
export function ownTool(attributes: Attributes, name: string): ToolDefinition | null {
  const listed = offeredTools(attributes).find((tool) => tool.name === name);
  const schema = valueAt(attributes, 'gen_ai.tool.json_schema', 'tool.json_schema');
  const parameters = parameterSchema(attributes);
  const description = textAt(attributes, 'gen_ai.tool.description', 'tool.description');
  if (schema === undefined && parameters === null) return listed ?? null;
  const [tool] = readToolDefinitions(definitionFrom(schema ?? parameters ?? null, name, description));
  return tool ?? listed ?? null;
}

/** A vendor's whole definition, or the bare schema of the tool with that name. */
function definitionFrom(value: JsonValue, name: string | null, description: string | null): JsonValue {
  const { value: decoded } = unwrapJson(value);
  const isBare =
    isJsonObject(decoded) &&
    (decoded.type === 'object' || decoded.type === 'OBJECT' || isJsonObject(decoded.properties));
  const stated = {
    ...(name === null ? {} : { name }),
    ...(description === null ? {} : { description }),
  };
  if (isBare) return { ...stated, parameters: decoded };
  if (!isJsonObject(decoded)) return stated;
  const inner = [decoded.function, decoded.toolSpec].find(isJsonObject) ?? decoded;
  return { ...inner, ...stated };
}

/**
 * OpenInference's `tool.parameters` is the tool's schema from some instrumentors, a map from argument to `{type,
 * description}` from smolagents, and the arguments of the call from others; only the first two are a schema.
 */
function parameterSchema(attributes: Attributes): JsonObject | null {
  const { value } = unwrapJson(attributes['tool.parameters'] ?? null);
  if (!isJsonObject(value)) return null;
  if (isJsonObject(value.properties) || value.type === 'object') return value;
  const fields = Object.values(value);
  const isMap =
    fields.length > 0 && fields.every((field) => isJsonObject(field) && typeof field.type === 'string');
  return isMap ? { type: 'object', properties: withoutAny(value) } : null;
}

/** The arguments of a call under that name; `undefined` when it is a schema. */
export function parameterArguments(attributes: Attributes): JsonValue | undefined {
  const value = valueAt(attributes, 'tool.parameters');
  return value !== undefined && parameterSchema(attributes) === null ? value : undefined;
}

/** smolagents' `any`, `image` and `audio` are no types of JSON Schema. */
function withoutAny(properties: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => {
      if (!isJsonObject(field) || TYPES.has(String(field.type).toUpperCase())) return [name, field];
      const { type: _, ...rest } = field;
      return [name, rest];
    }),
  );
}

const textOf = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' && value !== '' ? value : null;
