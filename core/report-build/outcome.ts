import type { Coverage, Failure, Outcome } from '../diagnosis/schema.ts';

export interface OutcomeInput {
  readonly failures: readonly Failure[];
  readonly coverage: Coverage;
  /** Why no model was asked at all; `null` when one was. */
  readonly notAnalysed: string | null;
  /** Why judge and root causes are set by rule though a model should have given them; `null` when it did. */
  readonly unexplained: string | null;
}

/** Reasons after which checks alone still make a partial result: the user chose so. Others mean "could not look". */
const BY_CHOICE = /^no-model\b/u;

/**
 * The one place where an outcome is decided. "Nothing found" needs every span seen by a model and no gap of any
 * kind; failures found need every span seen, since there may be more; everything else says what is missing.
 */
export function decideOutcome(input: OutcomeInput): {
  readonly outcome: Outcome;
  readonly outcomeReason: string | null;
} {
  const { failures, coverage, notAnalysed, unexplained } = input;
  if (notAnalysed !== null) {
    const partial = BY_CHOICE.test(notAnalysed) || (failures.length > 0 && !/^budget\b/u.test(notAnalysed));
    return { outcome: partial ? 'PARTIAL' : 'NOT_ANALYSED', outcomeReason: notAnalysed };
  }
  const firstGap = coverage.gaps[0];
  const gapReason =
    firstGap === undefined
      ? 'coverage'
      : coverage.gaps.length === 1
        ? firstGap.reason
        : `${firstGap.reason} (and ${coverage.gaps.length - 1} more)`;
  if (coverage.spansAnalysed === 0) {
    return { outcome: failures.length > 0 ? 'PARTIAL' : 'NOT_ANALYSED', outcomeReason: gapReason };
  }
  if (coverage.spansAnalysed < coverage.spansTotal) return { outcome: 'PARTIAL', outcomeReason: gapReason };
  if (unexplained !== null) return { outcome: 'PARTIAL', outcomeReason: unexplained };
  if (failures.length > 0) return { outcome: 'FAILURES_FOUND', outcomeReason: null };
  return firstGap === undefined
    ? { outcome: 'NO_FAILURE_FOUND', outcomeReason: null }
    : { outcome: 'PARTIAL', outcomeReason: gapReason };
}
