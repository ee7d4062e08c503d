import type { CallRecord, Merged, Prepared } from '../contracts/stages.ts';
import type { CriticalStep } from '../diagnosis/schema.ts';
import { makePrimary, withCriticalStep } from '../judge/align.ts';
import { judgeWithoutModel } from '../judge/model-free.ts';
import type { Trajectory } from '../session/trajectory.ts';
import type { Explanation } from './explain-failures.ts';
import { NO_MODEL_LOOKED, rootCauseByRule } from './without-model.ts';

/** What only a model can find; named in every diagnosis that did without one. */
const MODEL_ONLY =
  'failures without an explicit sign: misread results, broken instructions, wrong intent, unsupported free-text claims';
const BY_RULE = 'critical step and root causes (set by rule from the checks)';

/**
 * The explanation from checks alone: the critical step by a fixed order of precise checks, one root cause a failure
 * by rule, and the gaps that this leaves.
 */
export function explainByRule(
  prepared: Prepared,
  trajectory: Trajectory,
  merged: Merged,
  reason: string,
  calls: readonly CallRecord[] = [],
): Explanation {
  const critical = criticalByRule(prepared, trajectory, merged);
  const failures = withCriticalStep(trajectory, merged.failures, critical, prepared.options.taxonomy, {
    kind: 'check',
    ref: 'judge-without-model',
  });
  const rootCauses = failures.map((failure) => rootCauseByRule(failure, critical, NO_MODEL_LOOKED));
  const noModel = prepared.notAnalysed !== null;
  return {
    failures,
    ...makePrimary(rootCauses, critical),
    critical,
    completion: 'UNKNOWN',
    gaps: [
      ...(noModel ? [{ what: MODEL_ONLY, reason, spanIds: [] }] : []),
      ...(noModel || failures.length > 0 ? [{ what: BY_RULE, reason, spanIds: [] }] : []),
    ],
    calls,
  };
}

/** Where nothing failed there is no step of no return, unless the session is known to have failed. */
function criticalByRule(prepared: Prepared, trajectory: Trajectory, merged: Merged): CriticalStep | null {
  const { assumeFailed } = prepared.options;
  if (merged.failures.length === 0 && !assumeFailed) return null;
  return judgeWithoutModel(trajectory, prepared.checks, { assumeFailed });
}
