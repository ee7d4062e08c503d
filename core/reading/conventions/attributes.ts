import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { toWellFormed, unwrapJson } from '../decode/decode-json.ts';
import type { RawSpan } from '../decode/format.ts';

type Attributes = RawSpan['attributes'];

/** First of the keys that holds non-empty text. */
export function textAt(attributes: Attributes, ...keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = attributes[key];
    if (typeof value === 'string' && value !== '') return toWellFormed(value);
  }
  return null;
}

/** First of the keys that holds a finite number, also as decimal text. */
export function numberAt(attributes: Attributes, ...keys: readonly string[]): number | null {
  for (const key of keys) {
    const value = attributes[key];
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  }
  return null;
}

/** First of the keys that is there at all and is neither null nor empty text. */
export function valueAt(attributes: Attributes, ...keys: readonly string[]): JsonValue | undefined {
  for (const key of keys) {
    const value = attributes[key];
    if (value !== undefined && value !== null && value !== '') return value;
  }
  return undefined;
}

export function hasPrefix(attributes: Attributes, prefix: string): boolean {
  for (const key in attributes) if (key.startsWith(prefix)) return true;
  return false;
}

/** A list of words given as a list, as JSON text of one, or as one word. */
export function wordsOf(value: JsonValue | undefined): string[] {
  if (value === undefined || value === null || value === '') return [];
  const { value: decoded } = unwrapJson(value);
  const list = Array.isArray(decoded) ? decoded : [decoded];
  return list.flatMap((item) =>
    typeof item === 'string' && item !== ''
      ? [item]
      : isJsonObject(item) && typeof item.name === 'string'
        ? [item.name]
        : [],
  );
}

const INPUT_TOKENS = [
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.prompt_tokens',
  'llm.token_count.prompt',
  'llm.usage.prompt_tokens',
  'ai.usage.inputTokens',
  'ai.usage.promptTokens',
  'input_tokens',
];
const OUTPUT_TOKENS = [
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.completion_tokens',
  'llm.token_count.completion',
  'llm.usage.completion_tokens',
  'ai.usage.outputTokens',
  'ai.usage.completionTokens',
  'output_tokens',
];

/**
 * Tokens of a model call, in every producer's attribute names. Undefined when none is recorded, or when one is in a
 * form that is no number (NaN): a call that is not counted is not a call that cost nothing.
 */
export function usageOf(attributes: Attributes): { inputTokens: number; outputTokens: number } | undefined {
  const input = numberAt(attributes, ...INPUT_TOKENS);
  const output = numberAt(attributes, ...OUTPUT_TOKENS);
  const isUnreadable = (keys: readonly string[], read: number | null): boolean =>
    read === null && valueAt(attributes, ...keys) !== undefined;
  if (input === null && output === null) return undefined;
  if (isUnreadable(INPUT_TOKENS, input) || isUnreadable(OUTPUT_TOKENS, output)) return undefined;
  return { inputTokens: input ?? 0, outputTokens: output ?? 0 };
}

/** The model that answered, else the one that was asked. */
export function modelOf(attributes: Attributes): string | undefined {
  const name = textAt(
    attributes,
    'gen_ai.response.model',
    'gen_ai.request.model',
    'llm.model_name',
    'ai.response.model',
    'ai.model.id',
    'model_name',
    'model',
  );
  return name === null || name === 'unknown' ? undefined : name;
}

export function agentOf(attributes: Attributes): string | null {
  return textAt(
    attributes,
    'gen_ai.agent.name',
    'agent.name',
    'agent_name',
    'graph.node.id',
    'ai.telemetry.functionId',
  );
}
