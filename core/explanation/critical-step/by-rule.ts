import { stateWrites } from '../../checks/own-write-blocks.ts';
import type { CheckFinding, CheckReport } from '../../diagnosis/check-report.ts';
import type { CriticalStep } from '../../diagnosis/schema.ts';
import type { Step, Trajectory } from '../../trajectory/trajectory.ts';
import { readUtterances } from '../../trajectory/utterances.ts';
import type { CriticalCategory } from '../../vocabulary/critical-categories.ts';

export interface ModelFreeOptions {
  /**
   * True only where the session is known to have failed (benchmarks, `--assume-failed`): the judge then always
   * names a step, at low confidence when nothing precise was found. Production sessions may be healthy.
   */
  readonly assumeFailed: boolean;
}

/**
 * Names the step of no return from the checks alone, by a fixed order of kinds of fault, most precise first.
 * `null` when nothing precise was found (and the session is not known to have failed).
 *
 * Why a fixed order and not weights: on sets of this size learned weights fit the set. Each rule is one kind of
 * fault with its reason; see `RULES` and `GUESSES`.
 */
export function judgeWithoutModel(
  trajectory: Trajectory,
  reports: readonly CheckReport[],
  options: ModelFreeOptions,
): CriticalStep | null {
  const findings = new Findings(trajectory, reports);
  const candidates: Candidate[] = [];
  for (const rule of RULES) candidates.push(...rule(findings));
  if (options.assumeFailed) {
    for (const guess of GUESSES) candidates.push(...guess(findings));
  }
  const [chosen, ...others] = distinct(candidates);
  if (chosen === undefined) return null;
  return {
    ...reference(chosen),
    reason: chosen.reason,
    evidence: chosen.finding === null ? [] : [...chosen.finding.evidence],
    alternatives: others.slice(0, 3).map(reference),
    agreement: null,
    judgedBy: 'checks',
  };
}

interface Candidate {
  readonly step: Step;
  readonly category: CriticalCategory;
  readonly confidence: number;
  readonly reason: string;
  readonly finding: CheckFinding | null;
}

type Rule = (findings: Findings) => readonly Candidate[];

/** Findings by check, in the order of steps, with what several rules need. */
class Findings {
  readonly trajectory: Trajectory;
  readonly #byCheck = new Map<string, readonly CheckFinding[]>();

  constructor(trajectory: Trajectory, reports: readonly CheckReport[]) {
    this.trajectory = trajectory;
    for (const report of reports) {
      const placed = report.findings
        .filter((finding) => trajectory.stepBySpan.has(finding.spanId))
        .sort((a, b) => this.#index(a) - this.#index(b));
      this.#byCheck.set(report.checkId, placed);
    }
  }

  of(checkId: string): readonly CheckFinding[] {
    return this.#byCheck.get(checkId) ?? [];
  }

  step(finding: CheckFinding): Step | undefined {
    return this.trajectory.stepBySpan.get(finding.spanId);
  }

  #index(finding: CheckFinding): number {
    return this.trajectory.stepBySpan.get(finding.spanId)?.index ?? 0;
  }

  /** The step that made the call whose result stands at this step; the step itself when there is none. */
  callerOf(step: Step): Step {
    const exchange = this.trajectory.exchanges.find((one) => one.resultStep === step.index);
    return (exchange === undefined ? undefined : this.trajectory.steps[exchange.callStep]) ?? step;
  }

  candidate(finding: CheckFinding, confidence: number, reason: string): Candidate[] {
    const step = this.step(finding);
    if (step === undefined) return [];
    return [{ step, category: finding.criticalCategory ?? 'inconclusive', confidence, reason, finding }];
  }
}

/** Above this many steps a terminal error seldom decides a run: by then it was lost already. */
const SHORT_RUN = 25;

/** Faults that can be proven from the record. In order of precision. */
const RULES: readonly Rule[] = [
  // The count stands in the tool output and the agent states another: nothing else has to be known.
  (findings) =>
    findings
      .of('contradicted-count')
      .slice(0, 1)
      .flatMap((one) =>
        findings.candidate(one, 0.9, 'A stated count contradicts the tool output before it.'),
      ),
  // The refusal proves that the write came too early.
  (findings) =>
    findings
      .of('own-write-blocks')
      .slice(0, 1)
      .flatMap((one) => findings.candidate(one, 0.75, 'This write shut out what still had to be done.')),
  // The call was carried out on something that nobody and nothing had named.
  (findings) =>
    findings
      .of('unsupported-value')
      .filter((one) => one.weight === 'failure')
      .slice(0, 1)
      .flatMap((one) =>
        findings.candidate(one, 0.75, 'A call was carried out with an identifier that has no source.'),
      ),
  // With the wrong task handed over, everything after serves the wrong goal.
  (findings) =>
    findings
      .of('goal-lost-at-start')
      .flatMap((one) => findings.candidate(one, 0.9, 'The task handed over is not the stated goal.')),
  // A short run that ends in a block was stopped by it.
  (findings) =>
    findings
      .of('blocked')
      .filter((one) => one.recovered === false && findings.trajectory.steps.length <= SHORT_RUN)
      .slice(0, 1)
      .flatMap((one) => findings.candidate(one, 0.75, 'The run stopped at a filter or wall.')),
  (findings) =>
    findings
      .of('output-cut')
      .filter((one) => one.recovered === false)
      .slice(0, 1)
      .flatMap((one) => findings.candidate(one, 0.75, 'The last answer was cut at the token limit.')),
  (findings) =>
    [...findings.of('arguments-break-schema'), ...findings.of('unknown-tool')]
      .filter((one) => one.weight === 'failure' && one.recovered !== true)
      .slice(0, 1)
      .flatMap((one) => findings.candidate(one, 0.75, 'The call could not work as it was made.')),
  // Who caused an unrecovered error: the caller, when the call was wrong; the step of the error, when it was not.
  (findings) =>
    findings
      .of('explicit-error')
      .filter((one) => one.recovered === false)
      .slice(0, 1)
      .flatMap((one) =>
        findings
          .candidate(one, 0.75, 'The run never got past this error.')
          .filter(
            ({ category }) =>
              category === 'invalid-invocation' || findings.trajectory.steps.length <= SHORT_RUN,
          )
          .map((candidate) =>
            candidate.category === 'invalid-invocation'
              ? {
                  ...candidate,
                  step: findings.callerOf(candidate.step),
                  reason: 'This call was refused, and no later one of its kind got through.',
                }
              : candidate,
          ),
      ),
  (findings) =>
    [...findings.of('missing-result'), ...findings.of('abrupt-end')]
      .filter((one) => one.weight === 'failure' && one.recovered === false)
      .slice(0, 1)
      .flatMap((one) => findings.candidate(one, 0.75, 'The session stopped here with work left to do.')),
];

/** Likely faults, used only when the session is known to have failed. Low confidence all. */
const GUESSES: readonly Rule[] = [
  // Nothing had been looked up, so the first stated result has no source.
  (findings) =>
    findings
      .of('claimed-work-without-tool')
      .slice(0, 1)
      .flatMap((one) => findings.candidate(one, 0.5, 'First result stated without any source.')),
  // Failing code can still be put right; made-up data in its place makes the fault final.
  (findings) => {
    const failing = findings.of('failing-code')[0];
    const start = failing === undefined ? undefined : findings.step(failing);
    if (start === undefined) return [];
    return findings
      .of('assumed-data')
      .filter((one) => (findings.step(one)?.index ?? 0) >= Math.max(1, start.index))
      .slice(0, 1)
      .flatMap((one) =>
        findings.candidate(one, 0.5, 'Assumed data took the place of what the code should have brought.'),
      );
  },
  (findings) =>
    findings
      .of('failing-code')
      .slice(0, 1)
      .flatMap((one) => findings.candidate(one, 0.5, 'First code that failed when it was run.')),
  (findings) =>
    findings
      .of('assumed-data')
      .filter((one) => (findings.step(one)?.index ?? 0) > 0)
      .slice(0, 1)
      .flatMap((one) => findings.candidate(one, 0.5, 'First data that was assumed.')),
  (findings) =>
    findings
      .of('unsupported-value')
      .slice(0, 1)
      .flatMap((one) => findings.candidate(one, 0.5, 'First value that has no source.')),
  commitments,
];

/**
 * With no finding at all, the likeliest place is where an agent first commits itself: the first call known to
 * have changed something; else the first thing an agent says aloud of its own, after the hand-over where an agent
 * opens the session with one. Faults are made early and found late, and thoughts can still be changed. Next come
 * the last thing said, where a fault becomes final, and the second commitment.
 */
function commitments({ trajectory }: Findings): readonly Candidate[] {
  const writes = stateWrites(trajectory).map((write) => trajectory.steps[write.exchange.callStep]);
  const spoken = readUtterances(trajectory).filter((one) => one.voice !== 'system' && !one.reasoning);
  const own = spoken.filter((one) => one.voice === 'agent');
  // A hand-over opens the session and is not yet a contribution, unless nothing follows it.
  const said = (own[0] !== undefined && own[0] === spoken[0] && own.length > 1 ? own.slice(1) : own).map(
    (one) => one.step,
  );
  const candidate = (step: Step, category: CriticalCategory): Candidate => ({
    step,
    category,
    confidence: 0.5,
    reason: 'No check found anything; here an agent first commits itself, which is the likeliest place.',
    finding: null,
  });
  return [
    ...writes.slice(0, 1).flatMap((step) => (step === undefined ? [] : candidate(step, 'plan-adherence'))),
    // The first act shows how the goal was understood.
    ...said.slice(0, 1).map((step) => candidate(step, 'intent-plan-misalignment')),
    ...said.slice(-1).map((step) => candidate(step, 'misinterpretation')),
    ...said.slice(1, 2).map((step) => candidate(step, 'misinterpretation')),
  ];
}

function reference(
  candidate: Candidate,
): Omit<CriticalStep, 'reason' | 'evidence' | 'alternatives' | 'agreement' | 'judgedBy'> {
  const { step, category, confidence } = candidate;
  return { spanId: step.spanId, position: step.position, agent: step.agent, category, confidence };
}

function distinct(candidates: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>();
  return candidates.filter(({ step }) => {
    if (seen.has(step.spanId)) return false;
    seen.add(step.spanId);
    return true;
  });
}
