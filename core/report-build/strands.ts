import type { Diagnosis, RootCause } from '../diagnosis/schema.ts';

/** The result types of the Strands Evals detectors, so that a diagnosis can be read by what reads theirs. */
export interface StrandsFailureOutput {
  readonly session_id: string;
  readonly failures: readonly {
    readonly span_id: string;
    readonly category: readonly string[];
    readonly confidence: readonly number[];
    readonly evidence: readonly string[];
  }[];
}

export interface StrandsExport extends StrandsFailureOutput {
  readonly root_causes: readonly Omit<RootCause, 'source'>[];
  readonly recommendations: readonly string[];
}

/**
 * A diagnosis in Strands' own shape. That shape has no outcome and no coverage: an empty list there does not say
 * whether anything was looked at, so read `Diagnosis.outcome` for that.
 */
export function toStrandsJson(diagnosis: Diagnosis): StrandsExport {
  return {
    session_id: diagnosis.sessionId,
    failures: diagnosis.failures.map(({ span_id, category, confidence, evidence }) => ({
      span_id,
      category,
      confidence,
      evidence,
    })),
    root_causes: diagnosis.rootCauses.map(({ source: _, ...cause }) => cause),
    recommendations: diagnosis.recommendations.map(({ text }) => text),
  };
}
