import { describe, expect, it } from 'vitest';
import { diagnosisSchema } from '../../../core/diagnosis/schema.ts';
import { withoutRejected } from '../../../core/report-build/suppress.ts';
import { aDiagnosis, aFault } from '../../helpers/a-diagnosis.ts';

const TIMEOUT = 'execution-error-category-timeout';
const rejection = (spanId: string, category = TIMEOUT) => ({
  spanId,
  category,
  issue: 'i1',
  rejectedIn: 'session-0',
  at: '2026-02-01T00:00:00.000Z',
});

const [failure] = aDiagnosis().failures;
const [cause] = aDiagnosis().rootCauses;
if (failure === undefined || cause === undefined) throw new Error('the fixture has a failure');
const turn = {
  index: 0,
  firstSpanId: 'span-1',
  lastSpanId: 'span-3',
  spanIds: ['span-1', 'span-2', 'span-3'],
  goal: null,
  outcome: 'FAILED' as const,
  criticalStep: aDiagnosis().criticalStep,
};

describe('a rejected finding', () => {
  it('goes with its cause, its critical step and its fix, and is named', () => {
    const diagnosis = aDiagnosis({
      faults: [aFault('site')],
      fingerprints: ['site-fault'],
      completionStatus: 'COMPLETE_SUCCESS',
      turns: [turn],
    });
    const left = withoutRejected(diagnosis, [rejection('span-2')]);
    expect(left).toMatchObject({
      outcome: 'CLEAN',
      failures: [],
      rootCauses: [],
      criticalStep: null,
      recommendations: [],
      faults: [],
      fingerprints: [],
      suppressed: [{ spanId: 'span-2', rejectedIn: 'session-0' }],
      turns: [{ outcome: 'CLEAN', criticalStep: null }],
    });
    expect(left.diagnosisId).not.toBe(diagnosis.diagnosisId);
    expect(diagnosisSchema.parse(left)).toEqual(left);
  });

  it('makes nothing clean that was not wholly looked at, or whose goal is said to be missed', () => {
    const partial = aDiagnosis({ coverage: { ...aDiagnosis().coverage, state: 'PARTIAL' } });
    expect(withoutRejected(partial, [rejection('span-2')]).outcome).toBe('UNKNOWN');
    expect(withoutRejected(aDiagnosis(), [rejection('span-2')]).outcome).toBe('UNKNOWN');
  });

  it('leaves the others: of what cost the goal instead nobody judged', () => {
    const other = { ...failure, span_id: 'span-3' };
    const diagnosis = aDiagnosis({
      failures: [failure, other],
      rootCauses: [cause, { ...cause, failure_span_id: 'span-3', location: 'span-3' }],
      completionStatus: 'UNKNOWN',
    });
    const left = withoutRejected(diagnosis, [rejection('span-2')]);
    expect(left.failures).toEqual([other]);
    expect(left.rootCauses.map(({ failure_span_id }) => failure_span_id)).toEqual(['span-3']);
    expect(left.outcome).toBe('UNKNOWN');
    expect(withoutRejected(diagnosis, [rejection('span-3')])).toMatchObject({
      outcome: 'FAILED',
      failures: [failure],
    });
  });

  it('takes one category of a failure and leaves the rest of it', () => {
    const double = {
      ...failure,
      category: [TIMEOUT, 'other'],
      confidence: [0.9, 0.5],
      evidence: ['a', 'b'],
      source: [...failure.source, ...failure.source],
    };
    const left = withoutRejected(aDiagnosis({ failures: [double] }), [rejection('span-2')]);
    expect(left.failures).toMatchObject([{ category: ['other'], confidence: [0.5], evidence: ['b'] }]);
    expect(left.criticalStep).not.toBeNull();
    expect(left.outcome).toBe('FAILED');
  });

  it('of none, nothing changes', () => {
    const diagnosis = aDiagnosis();
    expect(withoutRejected(diagnosis, [])).toBe(diagnosis);
  });
});
