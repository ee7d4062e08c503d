import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OUTCOMES } from '../../../core/diagnosis/schema.ts';
import { decideOutcome, type OutcomeInput } from '../../../core/report-build/outcome.ts';
import { ExitCode, verdict } from '../../../core/report-build/verdict.ts';
import { aDiagnosis } from '../../helpers/a-diagnosis.ts';

const [aFailure] = aDiagnosis().failures;
const gap = { what: 'w', reason: 'some-reason: r', spanIds: [] };
const input: fc.Arbitrary<OutcomeInput> = fc
  .record({
    failing: fc.boolean(),
    total: fc.nat({ max: 5 }),
    seen: fc.nat({ max: 5 }),
    gaps: fc.nat({ max: 2 }),
    notAnalysed: fc.constantFrom(null, 'no-model: x', 'budget: x', 'no-content: x'),
    unexplained: fc.constantFrom(null, 'model-throttled: x'),
  })
  .map(({ failing, total, seen, gaps, notAnalysed, unexplained }) => ({
    failures: failing && aFailure !== undefined ? [aFailure] : [],
    coverage: {
      spansTotal: total,
      spansAnalysed: Math.min(seen, total),
      tokensTotal: 0,
      tokensAnalysed: 0,
      gaps: Array.from({ length: gaps }, () => gap),
    },
    notAnalysed,
    unexplained,
  }));

test('only a session that a model saw whole, without any gap, reads as clean', () => {
  fc.assert(
    fc.property(input, (given) => {
      const { outcome, outcomeReason } = decideOutcome(given);
      const { spansAnalysed, spansTotal, gaps } = given.coverage;
      const whole = given.notAnalysed === null && spansAnalysed === spansTotal && spansTotal > 0;
      if (outcome === 'NO_FAILURE_FOUND') {
        expect(whole && gaps.length === 0 && given.failures.length === 0).toBe(true);
        expect(given.unexplained).toBeNull();
      }
      if (outcome === 'FAILURES_FOUND') expect(whole && given.failures.length > 0).toBe(true);
      // A reason exactly where something is missing.
      expect(outcomeReason === null).toBe(outcome === 'NO_FAILURE_FOUND' || outcome === 'FAILURES_FOUND');
      expect(OUTCOMES).toContain(outcome);
    }),
  );
});

test('the printed verdict and the exit code agree with the outcome', () => {
  fc.assert(
    fc.property(input, (given) => {
      const decided = decideOutcome(given);
      const { exitCode, text } = verdict(
        aDiagnosis({ ...decided, failures: [...given.failures], coverage: given.coverage }),
      );
      expect(exitCode === ExitCode.Clean).toBe(decided.outcome === 'NO_FAILURE_FOUND');
      expect(exitCode === ExitCode.FailuresFound).toBe(given.failures.length > 0);
      if (decided.outcomeReason !== null) expect(text).toContain(decided.outcomeReason);
    }),
  );
});

test('an empty budget stays NOT_ANALYSED, so that it can be resumed, also where checks found something', () => {
  const coverage = { spansTotal: 3, spansAnalysed: 0, tokensTotal: 0, tokensAnalysed: 0, gaps: [] };
  const failures = aFailure === undefined ? [] : [aFailure];
  expect(decideOutcome({ failures, coverage, notAnalysed: 'budget: spent', unexplained: null }).outcome).toBe(
    'NOT_ANALYSED',
  );
});
