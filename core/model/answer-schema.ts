import * as z from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { AnswerSchema } from './port.ts';

/**
 * Keywords of the structured-output subset of JSON Schema that Bedrock and OpenAI both take. The others (lengths,
 * ranges, patterns) are left out of what the model is sent and still hold when zod reads the answer.
 */
const KEPT = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'anyOf',
  'description',
]);

/**
 * The JSON Schema of a zod schema: closed, all properties required, no references.
 * Throws TypeError for a schema that is not so: it is written by us, and a server would refuse it at run time.
 */
export function writeAnswerSchema(name: string, description: string, schema: z.ZodType): AnswerSchema {
  const json: unknown = z.toJSONSchema(schema, { reused: 'inline', io: 'output' });
  const closed = close(json, name);
  if (!isJsonObject(closed)) throw new TypeError(`answer schema ${name} is not an object`);
  return { name, description, schema: closed };
}

const scalarSchema = z.union([z.string(), z.number(), z.boolean(), z.null()]);

function close(node: unknown, path: string): JsonValue {
  if (Array.isArray(node)) return node.map((item, index) => close(item, `${path}[${index}]`));
  if (!isJsonObject(node)) return scalarSchema.parse(node);
  if ('$ref' in node) throw new TypeError(`answer schema ${path} refers to itself`);
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === 'properties' && isJsonObject(value)) {
      result[key] = Object.fromEntries(
        Object.entries(value).map(([name, child]) => [name, close(child, `${path}.${name}`)]),
      );
    } else if (KEPT.has(key)) {
      result[key] = close(value, path);
    }
  }
  if (node.type === 'object') {
    const properties = isJsonObject(node.properties) ? Object.keys(node.properties) : [];
    const required = Array.isArray(node.required) ? node.required : [];
    const optional = properties.filter((property) => !required.includes(property));
    if (optional.length > 0) {
      throw new TypeError(
        `answer schema ${path}: make ${optional.join(', ')} required (nullable if need be)`,
      );
    }
    result.additionalProperties = false;
  }
  return result;
}
