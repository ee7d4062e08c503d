import type { Usage } from '../../core/model/port.ts';
import type { Session } from '../../core/session/session.ts';
import type { CriticalCategory } from '../../core/vocabulary/critical-categories.ts';

export interface PredictedStep {
  /** Step.position: raw message position where the format has one. */
  readonly position: number;
  readonly category: CriticalCategory;
  readonly agent: string | null;
  /** 0–1. */
  readonly confidence: number;
}

export interface Prediction {
  /** `null`: no critical step named. Counts as wrong on a failed run and as right on a healthy one. */
  readonly critical: PredictedStep | null;
  /** Further candidates, likeliest first. */
  readonly alternatives: readonly PredictedStep[];
  /** Outcome of the diagnosis, or the name of the error that ended it. */
  readonly outcome: string;
  readonly usage: Usage;
  readonly usageByStage: Readonly<Record<string, Usage>>;
}

/**
 * What is measured. It gets the session and never its label; `failed` says whether the harness may tell it that the
 * run failed, which every published figure assumes. Rejects with ModelPendingError when answers are outstanding.
 */
export interface Predictor {
  predict(session: Session, run: { readonly failed: boolean; readonly repeat: number }): Promise<Prediction>;
}
