import { UnusableAnswerError } from '../../core/model/answer-defect.ts';
import { limitsOf, UNNAMED_MODEL } from '../../core/model/capabilities.ts';
import type { Model, ModelAnswer, ModelLimits, ModelRequest } from '../../core/model/port.ts';
import { hashRequest } from '../../core/model/request-body.ts';

/** What the model says: a text as it is, a value as its JSON, an error as a rejection, or a function of the request. */
export type ScriptedReply = string | object | Error | ((request: ModelRequest) => string | object | Error);

export interface ScriptedEntry {
  /** Only for requests with this purpose (`repair` for repair calls). */
  readonly purpose?: string;
  /** Only for requests one of whose texts has this piece. */
  readonly contains?: string;
  readonly reply: ScriptedReply;
  /** How often it may be used; default once. */
  readonly times?: number;
}

export interface ScriptedModel extends Model {
  /** Every request, in order of asking. */
  readonly requests: readonly ModelRequest[];
  /** Throws if a reply was never asked for. */
  assertDone(): void;
}

/** Not one of Rootspan's errors, so nothing that handles those can take it for a model's fault. */
export class UnscriptedRequestError extends Error {
  override readonly name = 'UnscriptedRequestError';
}

/**
 * A model that says what the test wrote down, and throws on anything else. A request takes the first entry that
 * matches it and is not used up; a bare reply matches every request. So `[a, b]` answers in order.
 */
export function scriptedModel(
  script: readonly (ScriptedReply | ScriptedEntry)[],
  options: { spec?: string; limits?: Partial<ModelLimits> } = {},
): ScriptedModel {
  const spec = options.spec ?? 'scripted';
  const entries = script.map((item) => {
    const entry: ScriptedEntry = isEntry(item) ? item : { reply: item };
    return { entry, left: entry.times ?? 1 };
  });
  const requests: ModelRequest[] = [];
  return {
    spec,
    limits: { ...limitsOf(UNNAMED_MODEL), ...options.limits },
    requests,
    async ask(request) {
      requests.push(request);
      const found = entries.find(({ entry, left }) => left > 0 && matches(entry, request));
      if (found === undefined) {
        throw new UnscriptedRequestError(
          `no scripted reply is left for request ${requests.length} (${request.purpose}): ${previewOf(request)}`,
        );
      }
      found.left--;
      const { reply } = found.entry;
      return toAnswer(spec, request, typeof reply === 'function' ? reply(request) : reply);
    },
    assertDone() {
      const unused = entries.filter(({ entry, left }) => left > 0 && entry.times === undefined);
      if (unused.length > 0) throw new Error(`${unused.length} scripted replies were never asked for`);
    },
  };
}

function isEntry(item: ScriptedReply | ScriptedEntry): item is ScriptedEntry {
  return typeof item === 'object' && !(item instanceof Error) && 'reply' in item;
}

function matches({ purpose, contains }: ScriptedEntry, request: ModelRequest): boolean {
  if (purpose !== undefined && purpose !== request.purpose) return false;
  return contains === undefined || request.user.some(({ text }) => text.includes(contains));
}

function toAnswer(spec: string, request: ModelRequest, reply: string | object | Error): ModelAnswer {
  if (reply instanceof Error) throw reply;
  const text = typeof reply === 'string' ? reply : JSON.stringify(reply);
  const answer = {
    // A token per four characters: any fixed rule will do, but it must not be nothing.
    usage: {
      inputTokens: Math.ceil(request.user.reduce((sum, part) => sum + part.text.length, 0) / 4),
      outputTokens: Math.ceil(text.length / 4),
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      costUsd: 0,
      calls: 1,
    },
    model: 'scripted',
    outputMode: 'text' as const,
    requestHash: hashRequest(spec, request),
    cached: false,
    durationMs: 0,
  };
  // As every adapter does: the port promises that a text is never empty.
  if (text.trim() === '') throw new UnusableAnswerError('empty', 'there was no text', { answer });
  return { text, ...answer };
}

function previewOf(request: ModelRequest): string {
  return request.user
    .map(({ text }) => text)
    .join(' ')
    .slice(0, 200);
}
