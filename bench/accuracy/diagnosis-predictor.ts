import type { Clock } from '../../core/base/clock.ts';
import type { DiagnosisOptions } from '../../core/diagnosis/options.ts';
import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { ErrorName } from '../../core/errors/error-names.ts';
import { RootspanError } from '../../core/errors/errors.ts';
import { type Model, NO_USAGE } from '../../core/model/port.ts';
import type { TokenCounter } from '../../core/planning/tokens/counter.ts';
import { diagnose } from '../../core/stages/pipeline.ts';
import type { Prediction, Predictor } from './predictor.ts';

/** Far above any number of votes, so that repeats never share a request. */
const SAMPLES_PER_REPEAT = 1000;

export interface PredictorDeps {
  readonly model: Model;
  readonly counter: TokenCounter;
  readonly clock: Clock;
  readonly options: DiagnosisOptions;
}

/** Rootspan itself as the predictor: the very pipeline of `rootspan diagnose`. */
export function diagnosisPredictor({ model, counter, clock, options }: PredictorDeps): Predictor {
  return {
    async predict(session, { failed, repeat }) {
      try {
        const diagnosis = await diagnose(
          session,
          { ...options, assumeFailed: options.assumeFailed && failed },
          { model: repeat === 0 ? model : repeated(model, repeat), counter, clock },
        );
        return readPrediction(diagnosis);
      } catch (error) {
        // Waiting is no result; a defect of ours must not hide as a wrong answer.
        if (!(error instanceof RootspanError) || error.name === ErrorName.ModelPending) throw error;
        if (error.fault === 'configuration') throw error;
        return { critical: null, alternatives: [], outcome: error.name, usage: NO_USAGE, usageByStage: {} };
      }
    },
  };
}

export function readPrediction(diagnosis: Diagnosis): Prediction {
  const { criticalStep, usage } = diagnosis;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsd, calls } = usage;
  const step = ({ position, category, agent, confidence }: NonNullable<Prediction['critical']>) => ({
    position,
    category,
    agent,
    confidence,
  });
  return {
    critical: criticalStep === null ? null : step(criticalStep),
    alternatives: criticalStep?.alternatives.map(step) ?? [],
    outcome: diagnosis.outcome,
    usage: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsd, calls },
    usageByStage: usage.byStage,
  };
}

/** The same question asked again: another sample, so neither a cache nor a batch answers with the first one. */
function repeated(model: Model, repeat: number): Model {
  return {
    spec: model.spec,
    limits: model.limits,
    ask: (request) => model.ask({ ...request, sample: (request.sample ?? 0) + repeat * SAMPLES_PER_REPEAT }),
  };
}
