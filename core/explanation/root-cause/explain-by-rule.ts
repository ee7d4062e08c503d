import { CONFIDENCE } from '../../diagnosis/options.ts';
import type { CriticalStep } from '../../diagnosis/schema.ts';
import type { Merged, Prepared } from '../../diagnosis/stages.ts';
import type { CallRecord } from '../../model/call-record.ts';
import type { Trajectory } from '../../trajectory/trajectory.ts';
import { CRITICAL_CATEGORIES, failureCategoryOf } from '../../vocabulary/critical-categories.ts';
import { makePrimary, sourceOf, withCriticalStep } from '../critical-step/align.ts';
import { judgeWithoutModel } from '../critical-step/by-rule.ts';
import type { Explanation } from './by-model.ts';
import { linkFailures, NO_MODEL_LOOKED, rootCauseByRule } from './by-rule.ts';

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
  decided?: CriticalStep | null,
): Explanation {
  const critical = decided === undefined ? criticalByRule(prepared, trajectory, merged) : decided;
  const source = sourceOf(critical, calls.at(-1)?.requestHash ?? '');
  const failures = withCriticalStep(trajectory, merged.failures, critical, prepared.options.taxonomy, source);
  const links = linkFailures(failures, trajectory);
  const rootCauses = failures.map((failure) =>
    rootCauseByRule(failure, critical, NO_MODEL_LOOKED, trajectory, links.get(failure.span_id)),
  );
  const noModel = prepared.notAnalysed !== null;
  return {
    failures,
    ...makePrimary(rootCauses, critical),
    critical,
    judged: decided !== undefined,
    completion: 'UNKNOWN',
    gaps: [
      ...(noModel ? [{ what: MODEL_ONLY, reason, spanIds: [] }] : []),
      { what: BY_RULE, reason, spanIds: [] },
    ],
    calls,
  };
}

/**
 * After the checks in the fixed order: the first place where the run broke a rule that its team calls high. What the
 * violation means is the constraint's own first target.
 */
function brokenConstraint(prepared: Prepared, trajectory: Trajectory, merged: Merged): CriticalStep | null {
  for (const { span_id, source, confidence, evidence } of merged.failures) {
    const at = source.findIndex(
      ({ kind }, i) => kind === 'constraint' && (confidence[i] ?? 0) >= CONFIDENCE.high,
    );
    const step = at < 0 ? undefined : trajectory.stepBySpan.get(span_id);
    if (step === undefined) continue;
    const name = source[at]?.ref ?? '';
    const constraint = prepared.options.constraints?.find((constraint) => constraint.name === name);
    // A target may be of either vocabulary; where it is a failure's, the critical category that says about the same.
    const category = CRITICAL_CATEGORIES.find((id) =>
      constraint?.targets.some((target) => target === id || target === failureCategoryOf(id)),
    );
    return {
      spanId: step.spanId,
      position: step.position,
      agent: step.agent,
      category: category ?? 'inconclusive',
      confidence: CONFIDENCE.medium,
      reason: `The constraint ${name} was broken here. ${evidence[at] ?? ''}`.trim(),
      evidence: [],
      alternatives: [],
      agreement: null,
      judgedBy: 'checks',
    };
  }
  return null;
}

/** Where nothing failed there is no step of no return, unless the session is known to have failed. */
function criticalByRule(prepared: Prepared, trajectory: Trajectory, merged: Merged): CriticalStep | null {
  const { assumeFailed } = prepared.options;
  if (merged.failures.every(({ recovered }) => recovered === 'yes') && !assumeFailed) return null;
  const broken = brokenConstraint(prepared, trajectory, merged);
  const byChecks = judgeWithoutModel(trajectory, prepared.checks);
  return byChecks ?? broken;
}
