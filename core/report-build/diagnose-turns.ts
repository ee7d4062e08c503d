import type { CriticalStep, Diagnosis, Failure, Looked, TurnDiagnosis } from '../diagnosis/schema.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import { turnsOf } from '../trajectory/turns.ts';
import { decideOutcome } from './outcome.ts';

interface SessionResult {
  readonly failures: readonly Failure[];
  readonly critical: CriticalStep | null;
  readonly judged: boolean;
  readonly completion: Diagnosis['completionStatus'];
  readonly looked: Looked;
  readonly notAnalysed: string | null;
}

/**
 * Each turn by itself, decided as the session is: from its own failures, its own critical step and the gaps that
 * touch its spans. A gap without spans touches all of them. What was said of the goal of the whole session says
 * nothing of one turn among several.
 */
export function diagnoseTurns(trajectory: Trajectory, result: SessionResult): readonly TurnDiagnosis[] {
  const turns = turnsOf(trajectory);
  return turns.flatMap(({ index, firstStep, lastStep, goal }) => {
    const spanIds = trajectory.steps.slice(firstStep, lastStep + 1).map(({ spanId }) => spanId);
    const [firstSpanId] = spanIds;
    const lastSpanId = spanIds.at(-1);
    if (firstSpanId === undefined || lastSpanId === undefined) return [];
    const inTurn = new Set(spanIds);
    const criticalStep =
      result.critical !== null && inTurn.has(result.critical.spanId) ? result.critical : null;
    const { outcome } = decideOutcome({
      failures: result.failures.filter(({ span_id }) => inTurn.has(span_id)),
      criticalStep,
      // Who names one step has decided about its turn only; who names none, about all.
      judged: result.judged && (result.critical === null || criticalStep !== null),
      completion: turns.length === 1 ? result.completion : 'UNKNOWN',
      looked: ofSpans(result.looked, inTurn),
      notAnalysed: result.notAnalysed,
    });
    return [{ index, firstSpanId, lastSpanId, spanIds, goal, outcome, criticalStep }];
  });
}

/** Every span that no model saw stands in a gap, so that the gaps of the turn say whether it was seen whole. */
function ofSpans(looked: Looked, inTurn: ReadonlySet<string>): Looked {
  const gaps = looked.gaps.filter(
    ({ spanIds }) => spanIds.length === 0 || spanIds.some((id) => inTurn.has(id)),
  );
  const missing = new Set(gaps.flatMap(({ spanIds }) => spanIds.filter((id) => inTurn.has(id))));
  return {
    ...looked,
    spansTotal: inTurn.size,
    spansAnalysed: looked.spansAnalysed === 0 ? 0 : inTurn.size - missing.size,
    gaps,
  };
}
