import type { CriticalStep, Diagnosis, ValidationEntry } from '../diagnosis/schema.ts';
import type { FindRootCauses, Merged, Prepared } from '../diagnosis/stages.ts';
import { decideCriticalStep } from '../explanation/critical-step/by-model.ts';
import { judgeByReference } from '../explanation/critical-step/by-reference.ts';
import type { JudgeInput } from '../explanation/critical-step/judge-input.ts';
import { type Explanation, explainFailures } from '../explanation/root-cause/by-model.ts';
import { explainByRule } from '../explanation/root-cause/explain-by-rule.ts';
import { buildDiagnosis } from '../report-build/build-diagnosis.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import { trajectoryOf } from '../trajectory/trajectory-of.ts';

/**
 * Judges, explains, and builds the diagnosis: also when nothing was found or nothing could be looked at. Asks the
 * model only when there is something to explain: failures, violated constraints, or a session known to have failed.
 * Throws what `analyzeChunk` throws; an answer that stays unusable is in the diagnosis instead.
 */
export const findRootCauses: FindRootCauses = async (prepared, merged, validationLog, model, deps) => {
  const trajectory = trajectoryOf(prepared.session);
  const reference = byReference(prepared, trajectory);
  if (prepared.notAnalysed !== null) {
    const explanation = explainByRule(prepared, trajectory, merged, prepared.notAnalysed, [], reference);
    return build(prepared, trajectory, merged, explanation, validationLog, deps.nowIso);
  }
  const toExplain =
    merged.failures.length > 0 ||
    prepared.options.assumeFailed ||
    (reference ?? null) !== null ||
    // Built-in entries are the checks again, and what of them is a failure is among the failures already.
    validationLog.some(({ origin, verdict }) => verdict === 'violated' && origin !== 'built-in');
  if (!toExplain) {
    return build(prepared, trajectory, merged, NOTHING_TO_EXPLAIN, validationLog, deps.nowIso);
  }
  const input: JudgeInput = {
    trajectory,
    plan: prepared.plan,
    failures: merged.failures,
    checks: prepared.checks,
    validationLog,
    options: prepared.options,
    model,
    counter: deps.counter,
  };
  const judged = reference === undefined && judgesApart(prepared) ? await decideCriticalStep(input) : null;
  const decided = reference === undefined ? judged?.critical : reference;
  const known: Merged = {
    ...merged,
    quarantined: [...merged.quarantined, ...(judged?.quarantined ?? [])],
    coverage: { ...merged.coverage, gaps: [...merged.coverage.gaps, ...(judged?.gaps ?? [])] },
    calls: [...merged.calls, ...(judged?.calls ?? [])],
  };
  const explained = await explainFailures({ ...input, decided });
  if ('reason' in explained) {
    const { reason, calls } = explained;
    const explanation = explainByRule(prepared, trajectory, known, reason, calls, decided);
    return build(prepared, trajectory, known, explanation, validationLog, deps.nowIso);
  }
  return build(prepared, trajectory, known, explained, validationLog, deps.nowIso);
};

/** One answer judges and explains, unless several votes or another protocol were asked for. */
function judgesApart({ options }: Prepared): boolean {
  return options.votes > 1 || (options.protocol ?? 'all-at-once') !== 'all-at-once';
}

/** `undefined` when the user gave no expected actions. */
function byReference({ options }: Prepared, trajectory: Trajectory): CriticalStep | null | undefined {
  return options.expectedActions === undefined
    ? undefined
    : judgeByReference(trajectory, options.expectedActions);
}

const NOTHING_TO_EXPLAIN: Explanation = {
  failures: [],
  rootCauses: [],
  critical: null,
  judged: false,
  completion: 'UNKNOWN',
  quarantined: [],
  gaps: [],
  calls: [],
};

/** The diagnosis when the model could not be asked to explain (throttled to the end, budget): by rule, and a gap. */
export function rootCausesUnavailable(
  prepared: Prepared,
  merged: Merged,
  validationLog: readonly ValidationEntry[],
  reason: string,
  nowIso: string,
): Diagnosis {
  const trajectory = trajectoryOf(prepared.session);
  const reference = byReference(prepared, trajectory);
  const explanation = explainByRule(prepared, trajectory, merged, reason, [], reference);
  return build(prepared, trajectory, merged, explanation, validationLog, nowIso);
}

function build(
  prepared: Prepared,
  trajectory: Trajectory,
  merged: Merged,
  explanation: Explanation,
  validationLog: readonly ValidationEntry[],
  nowIso: string,
): Diagnosis {
  return buildDiagnosis({ prepared, trajectory, merged, explanation, validationLog, nowIso });
}
