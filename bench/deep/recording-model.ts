import type { Model, ModelRequest } from '../../core/model/port.ts';
import { NO_USAGE } from '../../core/model/port.ts';
import { hashRequest, listPromptParts } from '../../core/model/request-body.ts';
import type { TokenCounter } from '../../core/planning/tokens/counter.ts';
import { stubAnswer } from './stub-answers.ts';

export interface RecordedPrompt {
  readonly purpose: string;
  readonly tokens: number;
  /** Tokens of the marked prefix that some earlier prompt began with too: what a prefix cache would serve. */
  readonly cacheable: number;
  /** The whole request was sent before: the response cache answers it and nothing is paid. */
  readonly repeated: boolean;
}

/** Counts the prompts that it is really sent, and answers as `stubAnswer`. One for a whole set, so that caches show. */
export function recordingModel(
  counter: TokenCounter,
  limits: Model['limits'],
): { readonly model: Model; take(): readonly RecordedPrompt[] } {
  let recorded: RecordedPrompt[] = [];
  const prefixes = new Set<string>();
  const asked = new Set<string>();
  const record = (request: ModelRequest, hash: string): void => {
    const parts = listPromptParts(request);
    const tokens = parts.reduce((sum, { text }) => sum + counter.count(text), 0);
    let prefix = '';
    let prefixTokens = 0;
    let cacheable = 0;
    for (const { text, cache } of parts) {
      prefix += text;
      prefixTokens += counter.count(text);
      if (!cache) continue;
      if (prefixes.has(prefix)) cacheable = prefixTokens;
      prefixes.add(prefix);
    }
    recorded.push({ purpose: request.purpose, tokens, cacheable, repeated: asked.has(hash) });
    asked.add(hash);
  };
  return {
    model: {
      spec: 'stub',
      limits,
      async ask(request) {
        const requestHash = hashRequest('stub', request);
        record(request, requestHash);
        const text = JSON.stringify(stubAnswer(request.answer.name));
        return {
          text,
          usage: NO_USAGE,
          model: 'stub',
          outputMode: 'text',
          requestHash,
          cached: false,
          durationMs: 0,
        };
      },
    },
    take() {
      const taken = recorded;
      recorded = [];
      return taken;
    },
  };
}
