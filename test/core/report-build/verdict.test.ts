import { describe, expect, it } from 'vitest';
import {
  COVERAGE_STATES,
  DEPTHS,
  type Diagnosis,
  EFFECTS,
  type Failure,
  OUTCOMES,
  RECOVERED,
} from '../../../core/diagnosis/schema.ts';
import { DEFAULT_POLICY, type VerdictPolicy, verdict } from '../../../core/report-build/verdict.ts';
import { aDiagnosis } from '../../helpers/a-diagnosis.ts';

const base = aDiagnosis();
const TIMEOUT = 'execution-error-category-timeout';

const failureWith = (recovered: Failure['recovered'], effect: Failure['effect']): Failure => ({
  ...base.failures[0]!,
  category: [TIMEOUT],
  recovered,
  effect,
});

/** What was found; a FAILED session always holds a failure that cost the goal, no other outcome does. */
const FOUND: readonly (readonly Failure[])[] = [
  [],
  ...RECOVERED.flatMap((recovered) => EFFECTS.map((effect) => [failureWith(recovered, effect)])),
];

const policies: readonly VerdictPolicy[] = [[], ['execution-error'], [TIMEOUT], ['hallucination']].flatMap(
  (failOn) =>
    [false, true].flatMap((failOnFlawed) =>
      [false, true].map((allowPartial) => ({ failOn, failOnFlawed, allowPartial })),
    ),
);

interface Row {
  readonly diagnosis: Diagnosis;
  readonly policy: VerdictPolicy;
  readonly byChoice: boolean;
}

const ROWS: readonly Row[] = OUTCOMES.flatMap((outcome) =>
  COVERAGE_STATES.flatMap((state) =>
    DEPTHS.flatMap((depth) =>
      FOUND.flatMap((failures) =>
        policies.flatMap((policy) =>
          [true, false].map((byChoice) => ({ outcome, state, depth, failures, policy, byChoice })),
        ),
      ),
    ),
  ),
)
  // Combinations that `decideOutcome` makes.
  .filter(({ outcome, state }) => (outcome === 'CLEAN' || outcome === 'FLAWED' ? state === 'COMPLETE' : true))
  .filter(({ outcome, failures }) => outcome !== 'CLEAN' || failures.length === 0)
  .filter(({ outcome, failures }) => outcome !== 'FLAWED' || failures.length > 0)
  .filter(
    ({ outcome, failures }) =>
      (outcome === 'FAILED') === failures.some(({ effect }) => effect === 'goal-lost'),
  )
  .map(({ outcome, state, depth, failures, policy, byChoice }) => {
    const reason = byChoice ? `no-model: depth is "${depth}"` : 'model-throttled: slow down';
    const missing = state !== 'COMPLETE';
    return {
      policy,
      byChoice,
      diagnosis: {
        ...base,
        outcome,
        outcomeReason: missing ? reason : outcome === 'UNKNOWN' ? 'not-judged: x' : null,
        failures: [...failures],
        criticalStep: outcome === 'FAILED' ? base.criticalStep : null,
        coverage: { ...base.coverage, state, gaps: missing ? [{ what: 'w', reason, spanIds: [] }] : [] },
        provenance: { ...base.provenance, depth },
      },
    };
  });

/** The table of the contract, written a second way. */
function contract({ diagnosis, policy, byChoice }: Row): string {
  const { outcome, coverage, failures } = diagnosis;
  const wanted = policy.failOn.length === 0 || !policy.failOn.includes('hallucination');
  const complete = coverage.state === 'COMPLETE';
  if (outcome === 'FAILED') return wanted ? 'fail' : complete ? 'pass' : 'unknown';
  if (policy.failOnFlawed && failures.length > 0 && wanted) return 'fail';
  if (outcome !== 'UNKNOWN') return 'pass';
  const green =
    policy.allowPartial &&
    byChoice &&
    coverage.state === 'PARTIAL' &&
    failures.every(({ recovered }) => recovered === 'yes');
  return green ? 'pass' : 'unknown';
}

describe('the verdict', () => {
  it(`over all ${ROWS.length} combinations of outcome, coverage, depth, what was found, and flags`, () => {
    for (const row of ROWS) {
      const { outcome, coverage, failures } = row.diagnosis;
      const shown = JSON.stringify([
        outcome,
        coverage.state,
        failures.map((f) => [f.recovered, f.effect]),
        row.policy,
      ]);
      expect(verdict(row.diagnosis, row.policy).decision, shown).toBe(contract(row));
    }
  });

  it('no flag but --fail-on narrows a failed session, and nothing makes UNKNOWN read as clean', () => {
    for (const { diagnosis, policy } of ROWS) {
      const { text } = verdict(diagnosis, policy);
      if (diagnosis.outcome === 'FAILED') expect(text).toMatch(/^failed/);
      if (diagnosis.outcome === 'UNKNOWN') expect(text).toMatch(/^(not known|not analysed)/);
      if (diagnosis.coverage.state !== 'COMPLETE') expect(text).toContain(diagnosis.outcomeReason);
    }
  });

  it('says how many turns failed where there are several', () => {
    const turn = {
      index: 0,
      firstSpanId: 'a',
      lastSpanId: 'a',
      spanIds: ['a'],
      goal: null,
      criticalStep: null,
    };
    const turns: Diagnosis['turns'] = [
      { ...turn, outcome: 'CLEAN' },
      { ...turn, index: 1, outcome: 'FAILED' },
    ];
    expect(verdict(aDiagnosis({ turns }), DEFAULT_POLICY).text).toBe(
      'failed in 1 of 2 turns: the goal was lost at step 1',
    );
  });
});
