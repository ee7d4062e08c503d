import { ConfigurationInvalidError } from '../errors/errors.ts';
import { redactText } from '../redaction/redact-credentials.ts';

export type ModelSpec =
  | { readonly kind: 'none' }
  | { readonly kind: 'bedrock'; readonly modelId: string }
  | { readonly kind: 'openai'; readonly model: string; readonly baseUrl: string }
  | { readonly kind: 'batch'; readonly dir: string }
  | { readonly kind: 'replay'; readonly dir: string };

export const SPEC_FORMS =
  'none · bedrock:<model or profile id> · openai:<model>@<base URL> · batch:<dir> · replay:<dir>';

/**
 * Reads a model spec as written by a user, e.g. `openai:qwen3@http://127.0.0.1:11434/v1`.
 * Throws ConfigurationInvalidError that says what was found and which forms exist.
 */
export function parseModelSpec(text: string): ModelSpec {
  const spec = text.trim();
  if (spec === 'none') return { kind: 'none' };
  const colon = spec.indexOf(':');
  const kind = colon < 0 ? spec : spec.slice(0, colon);
  const rest = colon < 0 ? '' : spec.slice(colon + 1);
  switch (kind) {
    case 'bedrock':
      return { kind, modelId: readBedrockId(spec, rest) };
    case 'openai':
      return { kind, ...readOpenAiTarget(spec, rest) };
    case 'batch':
    case 'replay':
      if (rest === '') throw refuse(spec, `"${kind}:" needs a folder, e.g. ${kind}:./answers`);
      return { kind, dir: rest };
    default:
      throw refuse(spec, 'it starts with none of the known kinds');
  }
}

/** Model ids, inference profile ids and ARNs: no white space, no URL. */
function readBedrockId(spec: string, rest: string): string {
  if (rest === '') throw refuse(spec, '"bedrock:" needs a model or inference profile id or its ARN');
  if (/\s|:\/\//.test(rest)) {
    throw refuse(spec, 'a Bedrock id has neither spaces nor "://", e.g. global.anthropic.claude-sonnet-4-6');
  }
  return rest;
}

function readOpenAiTarget(spec: string, rest: string): { model: string; baseUrl: string } {
  // Model names may carry an "@" of their own, so the last one before a scheme divides.
  const at = Math.max(rest.lastIndexOf('@http://'), rest.lastIndexOf('@https://'));
  if (at <= 0) {
    throw refuse(
      spec,
      '"openai:" needs a model, "@" and an http(s) base URL, e.g. openai:qwen3@http://127.0.0.1:8000/v1',
    );
  }
  const model = rest.slice(0, at);
  const address = rest.slice(at + 1);
  if (!URL.canParse(address)) throw refuse(spec, `"${address}" is not a URL`);
  const url = new URL(address);
  if (url.username !== '' || url.password !== '') {
    // The spec is kept in every diagnosis as provenance.
    throw refuse(
      `openai:${model}@…`,
      'the base URL must not carry credentials; hand the API key over as OPENAI_API_KEY',
    );
  }
  if (url.search !== '' || url.hash !== '')
    throw refuse(spec, 'the base URL must not have a query or fragment');
  return { model, baseUrl: url.href.replace(/\/$/, '') };
}

function refuse(spec: string, why: string): ConfigurationInvalidError {
  return new ConfigurationInvalidError(
    redactText(`"${spec}" is not a model spec: ${why}. Forms: ${SPEC_FORMS}.`),
  );
}
