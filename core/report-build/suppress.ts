import { canonicalJson, sha256Hex } from '../base/hash.ts';
import type { Suppressed } from '../diagnosis/feedback.ts';
import type { CriticalStep, Diagnosis, Failure, TurnDiagnosis } from '../diagnosis/schema.ts';
import { fingerprintsOf } from './fingerprint.ts';
import { decideOutcome } from './outcome.ts';

/**
 * The diagnosis without the findings that people rejected before (`suppressed` names them, each with the rejection). A
 * failure all of whose categories are left out goes with its root cause; so does a critical step that lies there, and what cost
 * the goal instead is then unknown: nobody judged that. Outcomes are decided anew, and the id is another, since it says other
 * things.
 */
export function withoutRejected(diagnosis: Diagnosis, rejected: readonly Suppressed[]): Diagnosis {
  if (rejected.length === 0) return diagnosis;
  const isRejected = (spanId: string, category: string): boolean =>
    rejected.some((entry) => entry.spanId === spanId && entry.category === category);
  const pairs = diagnosis.failures.flatMap((failure, at) => {
    const kept = keepCategories(failure, (category) => !isRejected(failure.span_id, category));
    return kept === null ? [] : [{ failure: kept, cause: diagnosis.rootCauses[at] }];
  });
  const failures = pairs.map(({ failure }) => failure);
  const left = new Set(failures.map(({ span_id }) => span_id));
  const gone = new Set(rejected.map(({ spanId }) => spanId).filter((spanId) => !left.has(spanId)));
  const stands = (step: CriticalStep | null): CriticalStep | null =>
    step !== null && gone.has(step.spanId) ? null : step;
  const criticalStep = stands(diagnosis.criticalStep);
  const judged = criticalStep === diagnosis.criticalStep && criticalStep?.judgedBy !== 'checks';
  const faults = diagnosis.faults.filter(({ spanId, category }) => !isRejected(spanId, category));
  const { outcome, outcomeReason } = outcomeOf(diagnosis, failures, criticalStep, judged);
  return {
    ...diagnosis,
    diagnosisId: sha256Hex(
      canonicalJson({
        diagnosis: diagnosis.diagnosisId,
        rejected: rejected.map(({ spanId, category, issue }) => ({ spanId, category, issue })),
      }),
    ),
    outcome,
    outcomeReason,
    failures,
    rootCauses: pairs.flatMap(({ cause }) => cause ?? []),
    criticalStep,
    turns: diagnosis.turns.map((turn) =>
      turnOf(diagnosis, turn, failures, stands(turn.criticalStep), gone, judged),
    ),
    recommendations: diagnosis.recommendations
      .map((entry) => ({
        ...entry,
        failureSpanIds: entry.failureSpanIds.filter((spanId) => !gone.has(spanId)),
      }))
      .filter(({ failureSpanIds }) => failureSpanIds.length > 0),
    faults,
    fingerprints: fingerprintsOf(faults),
    suppressed: [...rejected],
  };
}

function keepCategories(failure: Failure, keeps: (category: string) => boolean): Failure | null {
  const kept = failure.category.map(keeps);
  if (kept.every(Boolean)) return failure;
  if (!kept.some(Boolean)) return null;
  const pick = <T>(list: readonly T[]): T[] => list.filter((_, at) => kept[at] === true);
  return {
    ...failure,
    category: pick(failure.category),
    confidence: pick(failure.confidence),
    evidence: pick(failure.evidence),
    source: pick(failure.source),
  };
}

/** Coverage stays what it was: a finding that is left out was looked at. */
function outcomeOf(
  { coverage, completionStatus, outcomeReason }: Diagnosis,
  failures: readonly Failure[],
  criticalStep: CriticalStep | null,
  judged: boolean,
): Pick<Diagnosis, 'outcome' | 'outcomeReason'> {
  if (criticalStep !== null) return { outcome: 'FAILED', outcomeReason };
  if (coverage.state !== 'COMPLETE')
    return { outcome: 'UNKNOWN', outcomeReason: outcomeReason ?? 'coverage: not everything was looked at' };
  return decideOutcome({
    failures,
    criticalStep,
    judged,
    completion: completionStatus,
    looked: coverage,
    notAnalysed: null,
  });
}

function turnOf(
  diagnosis: Diagnosis,
  turn: TurnDiagnosis,
  failures: readonly Failure[],
  criticalStep: CriticalStep | null,
  gone: ReadonlySet<string>,
  judged: boolean,
): TurnDiagnosis {
  if (!turn.spanIds.some((spanId) => gone.has(spanId))) return turn;
  const inTurn = failures.filter(({ span_id }) => turn.spanIds.includes(span_id));
  const ofSession: Diagnosis =
    diagnosis.turns.length === 1 ? diagnosis : { ...diagnosis, completionStatus: 'UNKNOWN' };
  return { ...turn, criticalStep, outcome: outcomeOf(ofSession, inTurn, criticalStep, judged).outcome };
}
