import { setTimeout as delay } from 'node:timers/promises';
import type { Sleep } from '../../core/base/clock.ts';
import { parseModelSpec } from '../../core/model/parse-spec.ts';
import type { Model } from '../../core/model/port.ts';
import type { TokenCounter } from '../../core/planning/tokens/counter.ts';
import type { Budget, ObjectStore } from '../../core/ports/ports.ts';
import type { BedrockSettings } from './bedrock.ts';
import { budgetedModel } from './budgeted.ts';
import { cachedModel } from './cached.ts';
import { noneModel } from './none.ts';
import { pacedModel } from './paced.ts';
import { retryingModel } from './retrying.ts';

export interface ModelDeps {
  /** Response cache; without it every call is paid for. Not used for batch, replay and none. */
  readonly cache?: ObjectStore;
  /** Retry in process (locally). Leave it out where a state machine retries. */
  readonly retry?: { readonly sleep?: Sleep; readonly random?: () => number };
  /** Sent as a bearer token to the base URL of `openai:`. */
  readonly openaiApiKey?: string;
  /** Region, endpoint and credentials of `bedrock:`; the SDK's own chain where absent. */
  readonly bedrock?: BedrockSettings;
  /** Held before each call that is paid for; a cached answer costs nothing. Not used for batch, replay and none. */
  readonly budget?: { readonly budget: Budget; readonly counter: TokenCounter };
  /** Calls under way at the same time; default: by the model's limits. Not used for batch, replay and none. */
  readonly callsAtOnce?: number;
  /** Longest wait for one answer; default 5 minutes. */
  readonly timeoutMs?: number;
}

export const DEFAULT_TIMEOUT_MS = 300_000;

/**
 * The model of a spec. Loads only the code that the spec needs. ConfigurationInvalidError for a bad spec;
 * nothing is called before the first `ask`.
 */
export async function createModel(spec: string, deps: ModelDeps = {}): Promise<Model> {
  const parsed = parseModelSpec(spec);
  const timeoutMs = deps.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  switch (parsed.kind) {
    case 'none':
      return noneModel;
    case 'replay': {
      const { replayModel } = await import('./replay.ts');
      return replayModel(spec, parsed.dir);
    }
    case 'batch': {
      const { batchModel } = await import('./batch.ts');
      return batchModel(spec, parsed.dir);
    }
    case 'openai': {
      const { openAiModel } = await import('./openai-compatible.ts');
      const { model, baseUrl } = parsed;
      const key = deps.openaiApiKey === undefined ? {} : { apiKey: deps.openaiApiKey };
      return decorate(openAiModel({ spec, model, baseUrl, timeoutMs, ...key }), deps);
    }
    case 'bedrock': {
      const { bedrockModel } = await import('./bedrock.ts');
      return decorate(bedrockModel({ spec, modelId: parsed.modelId, timeoutMs, ...deps.bedrock }), deps);
    }
  }
}

/** Makes each model once: a warm Lambda keeps the connection and what the model's refusals taught it. */
export function keepModels(deps: ModelDeps): (spec: string) => Promise<Model> {
  const kept = new Map<string, Promise<Model>>();
  return (spec) => {
    const model = kept.get(spec) ?? createModel(spec, deps);
    kept.set(spec, model);
    return model;
  };
}

function decorate(asked: Model, { retry, cache, budget, callsAtOnce }: ModelDeps): Model {
  const bounded = callsAtOnce === undefined ? asked : { ...asked, limits: { ...asked.limits, callsAtOnce } };
  const model = budget === undefined ? bounded : budgetedModel(bounded, budget.budget, budget.counter);
  // While one waits to be asked again, others may be: the pause is not counted as a call.
  const patient =
    retry === undefined
      ? model
      : retryingModel(pacedModel(model), {
          sleep: retry.sleep ?? (async (ms) => void (await delay(ms))),
          random: retry.random ?? Math.random,
        });
  return cache === undefined ? patient : cachedModel(patient, cache);
}
