import { isJsonObject, type JsonObject } from '../base/json.ts';
import { UNKNOWN_RECOVERY } from './recovery.ts';
import { type CoverageState, DIAGNOSIS_SCHEMA_VERSION, type Outcome } from './schema.ts';

/**
 * Reading of what schemaVersion 1 stored, on the way out of the store; nothing stored is rewritten. Version 1 counted
 * any failure, whether it was put right or not, so that only this much of it is known:
 *
 * | version 1 | now |
 * |---|---|
 * | `NO_FAILURE_FOUND` (every span seen, no gap) | CLEAN, COMPLETE |
 * | `FAILURES_FOUND` with a critical step (a model, or a reference, judged) | FAILED |
 * | `FAILURES_FOUND` without one | UNKNOWN |
 * | `PARTIAL`, `NOT_ANALYSED`, also with a critical step by rule | UNKNOWN; PARTIAL, NONE |
 */
function migrateOutcome(outcome: string, hasCriticalStep: boolean): string {
  return Object.hasOwn(V1_OUTCOMES, outcome) ? (V1_OUTCOMES[outcome]?.(hasCriticalStep) ?? outcome) : outcome;
}

/** A stored summary of a diagnosis; as `migrateDiagnosis`, so that a list and what it leads to agree. */
export function migrateSummary(stored: unknown): unknown {
  if (!isJsonObject(stored) || typeof stored.outcome !== 'string') return stored;
  return { ...stored, outcome: migrateOutcome(stored.outcome, stored.criticalSpanId !== null) };
}

const V1_OUTCOMES: Readonly<Record<string, (hasCriticalStep: boolean) => Outcome>> = {
  NO_FAILURE_FOUND: () => 'CLEAN',
  FAILURES_FOUND: (hasCriticalStep) => (hasCriticalStep ? 'FAILED' : 'UNKNOWN'),
  PARTIAL: () => 'UNKNOWN',
  NOT_ANALYSED: () => 'UNKNOWN',
};

/** A stored diagnosis in the shape of now. What is of this version already, or of none that is known, is given back as it is. */
export function migrateDiagnosis(stored: JsonObject): JsonObject {
  if (stored.schemaVersion !== 1) return stored;
  const outcome = String(stored.outcome);
  const migrated = migrateOutcome(outcome, isJsonObject(stored.criticalStep));
  const coverage = isJsonObject(stored.coverage) ? stored.coverage : {};
  const failures = Array.isArray(stored.failures) ? stored.failures : [];
  return {
    ...stored,
    schemaVersion: DIAGNOSIS_SCHEMA_VERSION,
    outcome: migrated,
    outcomeReason:
      stored.outcomeReason ??
      (migrated === 'UNKNOWN' ? 'stored-before: whether the failures cost the goal was not recorded' : null),
    coverage: { ...coverage, state: coverageStateOf(outcome, coverage) },
    failures: failures.map((failure) =>
      isJsonObject(failure) ? { ...failure, ...UNKNOWN_RECOVERY } : failure,
    ),
    turns: [],
  };
}

function coverageStateOf(outcome: string, { gaps }: JsonObject): CoverageState {
  if (outcome === 'NOT_ANALYSED') return 'NONE';
  return outcome !== 'PARTIAL' && Array.isArray(gaps) && gaps.length === 0 ? 'COMPLETE' : 'PARTIAL';
}
