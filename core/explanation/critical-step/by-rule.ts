import type { CheckFinding, CheckReport } from '../../diagnosis/check-report.ts';
import type { CriticalStep } from '../../diagnosis/schema.ts';
import type { Step, Trajectory } from '../../trajectory/trajectory.ts';
import { agentSpeech } from '../../trajectory/utterances.ts';

/** A case in which the record itself proves where the run was lost. */
export interface CriticalRule {
  readonly id: string;
  readonly checkId: string;
  /** What the finding must be beyond unrecovered. */
  proves(finding: CheckFinding, step: Step, isLastWord: boolean): boolean;
  readonly reason: string;
  /**
   * How often the step it names is the labelled one, on failed sessions that it was not written on.
   */
  readonly confidence: number;
}

/**
 * 1 of 5: the share of right steps over all rules on the failed runs of bench/dev and the second half of the
 * development sessions, on none of which they were written. Each alone has too few cases for a rate of its own;
 * `npm run bench -- checks` prints them by rule.
 */
const MEASURED = 0.2;

/** In order: the first that holds names the step. Where none holds, no step is named. */
export const CRITICAL_RULES: readonly CriticalRule[] = [
  {
    // Unrecovered means that no call succeeded after it: what the agent then said changes nothing of that.
    id: 'ends-in-error',
    checkId: 'explicit-error',
    proves: (finding) =>
      finding.criticalCategory === 'system-failure' || finding.criticalCategory === 'guardrail',
    reason: 'From this error on, which came from outside, no call succeeded.',
    confidence: MEASURED,
  },
  {
    id: 'ends-withheld',
    checkId: 'blocked',
    // A stop reason of the model; words of a wall are no proof of what ended the run.
    proves: (finding, step, isLastWord) =>
      finding.category === 'other' && step.kind === 'inference' && isLastWord,
    reason: 'The last answer was withheld by a filter or a guardrail.',
    confidence: MEASURED,
  },
  {
    id: 'ends-cut',
    checkId: 'output-cut',
    proves: (_finding, _step, isLastWord) => isLastWord,
    reason: 'The last answer was cut at the token limit.',
    confidence: MEASURED,
  },
  {
    id: 'breaks-off-in-call',
    checkId: 'missing-result',
    proves: (_finding, _step, isLastWord) => isLastWord,
    reason: 'The session breaks off in this call.',
    confidence: MEASURED,
  },
  {
    id: 'breaks-off',
    checkId: 'abrupt-end',
    proves: () => true,
    reason: 'The session breaks off here, with a request or a failed call open.',
    confidence: MEASURED,
  },
];

/** Names the step of no return where the record proves it; `null` otherwise. */
export function judgeWithoutModel(
  trajectory: Trajectory,
  reports: readonly CheckReport[],
): CriticalStep | null {
  const byCheck = new Map(reports.map(({ checkId, findings }) => [checkId, findings]));
  const lastActive = lastActiveStep(trajectory);
  for (const rule of CRITICAL_RULES) {
    for (const finding of byCheck.get(rule.checkId) ?? []) {
      const step = trajectory.stepBySpan.get(finding.spanId);
      if (step === undefined || finding.weight !== 'failure' || finding.recovered !== false) continue;
      if (!rule.proves(finding, step, step.index >= lastActive)) continue;
      return {
        spanId: step.spanId,
        position: step.position,
        agent: step.agent,
        category: finding.criticalCategory ?? 'inconclusive',
        confidence: rule.confidence,
        reason: rule.reason,
        evidence: [...finding.evidence],
        alternatives: [],
        agreement: null,
        judgedBy: 'checks',
      };
    }
  }
  return null;
}

/** The last step at which an agent said or called anything: what stands there or after it is the session's last word. */
function lastActiveStep(trajectory: Trajectory): number {
  const said =
    agentSpeech(trajectory).findLast((utterance) => utterance.text.trim() !== '')?.step.index ?? -1;
  return Math.max(said, trajectory.exchanges.at(-1)?.callStep ?? -1);
}
