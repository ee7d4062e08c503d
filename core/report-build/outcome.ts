import type {
  CoverageState,
  CriticalStep,
  Diagnosis,
  Failure,
  Looked,
  Outcome,
} from '../diagnosis/schema.ts';

export interface OutcomeInput {
  readonly failures: readonly Pick<Failure, 'recovered' | 'effect'>[];
  readonly criticalStep: CriticalStep | null;
  /** Whether a model, or a reference of the user, decided which step was critical, if any. */
  readonly judged: boolean;
  readonly completion: Diagnosis['completionStatus'];
  readonly looked: Looked;
  /** Why no model was asked at all; `null` when one was. */
  readonly notAnalysed: string | null;
}

export interface Decided {
  readonly outcome: Outcome;
  readonly outcomeReason: string | null;
  readonly coverage: CoverageState;
}

/** Reasons that the user chose: no model, depth `checks`. Every other one means "could not look". */
export const isByChoice = (reason: string): boolean => /^no-model\b/u.test(reason);

/** A failure that needs no judge: it was put right, or did no harm. */
export const isHarmless = ({ recovered, effect }: Pick<Failure, 'recovered' | 'effect'>): boolean =>
  effect === 'none' || (recovered === 'yes' && effect !== 'goal-lost');

/**
 * The one place where outcome and coverage are decided.
 *
 * | critical step | coverage | goal said to be missed | failures | outcome |
 * |---|---|---|---|---|
 * | stands | any | any | any | FAILED |
 * | none | not COMPLETE | any | any | UNKNOWN |
 * | none | COMPLETE | yes | any | UNKNOWN: something cost it that could not be named |
 * | none | COMPLETE | no | none | CLEAN |
 * | none | COMPLETE | no | all harmless, or a judge found that none cost the goal | FLAWED |
 * | none | COMPLETE | no | some stand, and nobody judged | UNKNOWN |
 */
export function decideOutcome(input: OutcomeInput): Decided {
  const { failures, criticalStep, judged, completion } = input;
  const coverage = coverageState(input);
  const missing = coverage === 'COMPLETE' ? null : whatIsMissing(input);
  if (criticalStep !== null) return { outcome: 'FAILED', outcomeReason: missing, coverage };
  const unknown = (outcomeReason: string): Decided => ({ outcome: 'UNKNOWN', outcomeReason, coverage });
  if (missing !== null) return unknown(missing);
  if (completion === 'COMPLETE_FAILURE' || completion === 'PARTIAL_SUCCESS') {
    return unknown('no-critical-step: the goal was not wholly reached, and no step that cost it was named');
  }
  if (failures.length === 0) return { outcome: 'CLEAN', outcomeReason: null, coverage };
  if (judged || failures.every(isHarmless)) return { outcome: 'FLAWED', outcomeReason: null, coverage };
  return unknown('not-judged: nobody was asked what the failures did to the goal');
}

function coverageState({ looked, notAnalysed }: OutcomeInput): CoverageState {
  if (notAnalysed !== null) return isByChoice(notAnalysed) ? 'PARTIAL' : 'NONE';
  if (looked.spansAnalysed === 0) return 'NONE';
  return looked.spansAnalysed === looked.spansTotal && looked.gaps.length === 0 ? 'COMPLETE' : 'PARTIAL';
}

function whatIsMissing({ looked, notAnalysed }: OutcomeInput): string {
  if (notAnalysed !== null) return notAnalysed;
  const [first, ...others] = looked.gaps;
  if (first === undefined) return 'coverage: spans that no model saw';
  return others.length === 0 ? first.reason : `${first.reason} (and ${others.length} more)`;
}
