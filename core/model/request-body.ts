import { canonicalJson, sha256Hex } from '../base/hash.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { AnswerSchema, ModelRequest, PromptText } from './port.ts';

/** Part of every request text, so a change of wording changes the hash by itself. */
function writeAnswerInstruction(answer: AnswerSchema): string {
  return [
    'Reply with a single JSON value and nothing else: no sentence before or after it, no code fence.',
    `It is read by a program and must be valid against this JSON Schema (${answer.description}):`,
    canonicalJson(answer.schema),
  ].join('\n');
}

/** Parts that say something. A text of the run may have been cut through an emoji, and services refuse the halves. */
const partsOf = ({ user }: ModelRequest): PromptText[] =>
  user.filter((part) => part.text.trim() !== '').map((part) => ({ ...part, text: part.text.toWellFormed() }));

/**
 * The request as a Bedrock Converse body without its model: what a batch job takes as `modelInput`, and what the
 * request hash is made of. It holds the answer's schema twice, as `outputConfig` and as text, because not every
 * model that answers honours the former. It has no `toolConfig` (batch jobs refuse it), no cache points (they
 * change the price and not the answer) and nothing of this machine.
 */
export function writeConverseBody(request: ModelRequest): JsonObject {
  const texts = partsOf(request).map((part) => part.text);
  const body: JsonObject = {
    messages: [
      {
        role: 'user',
        content: [...texts, writeAnswerInstruction(request.answer)].map((text): JsonValue => ({ text })),
      },
    ],
    inferenceConfig: { maxTokens: request.maxOutputTokens },
    outputConfig: {
      textFormat: {
        type: 'json_schema',
        structure: {
          jsonSchema: {
            name: request.answer.name,
            description: request.answer.description,
            schema: canonicalJson(request.answer.schema),
          },
        },
      },
    },
  };
  if (request.system !== undefined && request.system.trim() !== '') body.system = [{ text: request.system }];
  // A field of Converse that the model does not see: votes differ in it and in nothing else.
  if (request.sample !== undefined && request.sample > 0) {
    body.requestMetadata = { sample: String(request.sample) };
  }
  return body;
}

/** Hash of the body alone: `recordId` of batch and replay, equal on every machine. 64 hex digits. */
export function hashBody(body: JsonObject): string {
  return sha256Hex(canonicalJson(body));
}

/** Hash of a request to a certain model: key of the response cache. */
export function hashRequest(spec: string, request: ModelRequest): string {
  return sha256Hex(canonicalJson({ model: spec, request: writeConverseBody(request) }));
}

/** The text parts in order, the answer instruction last, for adapters that build another body. */
export function listPromptParts(request: ModelRequest): { text: string; cache: boolean }[] {
  return [
    ...partsOf(request).map(({ text, cache }) => ({ text, cache: cache === true })),
    { text: writeAnswerInstruction(request.answer), cache: false },
  ];
}
