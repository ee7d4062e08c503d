import { describe, expect, it } from 'vitest';
import { type CriticalStep, EFFECTS, RECOVERED } from '../../../core/diagnosis/schema.ts';
import { decideOutcome, type OutcomeInput } from '../../../core/report-build/outcome.ts';
import { aDiagnosis } from '../../helpers/a-diagnosis.ts';

const CRITICAL = aDiagnosis().criticalStep as CriticalStep;
const GAP = { what: 'w', reason: 'some-reason: r', spanIds: [] };

const FAILURES = {
  none: [],
  ...Object.fromEntries(
    RECOVERED.flatMap((recovered) =>
      EFFECTS.map((effect) => [`${recovered}/${effect}`, [{ recovered, effect }]]),
    ),
  ),
} satisfies Record<string, OutcomeInput['failures']>;

/** What was looked at, by name: counts, gaps, why no model was asked, and the coverage that this is. */
const LOOKED = [
  { name: 'all', seen: 3, gaps: 0, notAnalysed: null, coverage: 'COMPLETE' },
  { name: 'all but one span', seen: 2, gaps: 1, notAnalysed: null, coverage: 'PARTIAL' },
  { name: 'all spans, a finding lost', seen: 3, gaps: 1, notAnalysed: null, coverage: 'PARTIAL' },
  { name: 'no chunk answered', seen: 0, gaps: 1, notAnalysed: null, coverage: 'NONE' },
  { name: 'depth checks', seen: 0, gaps: 1, notAnalysed: 'no-model: depth is "checks"', coverage: 'PARTIAL' },
  { name: 'no content', seen: 0, gaps: 1, notAnalysed: 'no-content: x', coverage: 'NONE' },
  { name: 'no spans', seen: 0, gaps: 1, notAnalysed: 'no-spans: x', coverage: 'NONE' },
  { name: 'budget', seen: 0, gaps: 1, notAnalysed: 'budget: spent', coverage: 'NONE' },
] as const;

const COMPLETIONS = ['COMPLETE_SUCCESS', 'PARTIAL_SUCCESS', 'COMPLETE_FAILURE', 'UNKNOWN'] as const;

interface Row {
  readonly looked: (typeof LOOKED)[number];
  readonly failures: string;
  readonly critical: boolean;
  readonly judged: boolean;
  readonly completion: (typeof COMPLETIONS)[number];
}

const ROWS: readonly Row[] = LOOKED.flatMap((looked) =>
  Object.keys(FAILURES).flatMap((failures) =>
    [true, false].flatMap((critical) =>
      [true, false].flatMap((judged) =>
        COMPLETIONS.map((completion) => ({ looked, failures, critical, judged, completion })),
      ),
    ),
  ),
);

function decide({ looked, failures, critical, judged, completion }: Row) {
  return decideOutcome({
    failures: (FAILURES as Record<string, OutcomeInput['failures']>)[failures] ?? [],
    criticalStep: critical ? CRITICAL : null,
    judged,
    completion,
    looked: {
      spansTotal: 3,
      spansAnalysed: looked.seen,
      tokensTotal: 9,
      tokensAnalysed: 3 * looked.seen,
      gaps: Array.from({ length: looked.gaps }, () => GAP),
    },
    notAnalysed: looked.notAnalysed,
  });
}

/** The contract written a second way: in words of the issue, over every combination. */
function contract({ looked, failures, critical, judged, completion }: Row): string {
  if (critical) return 'FAILED';
  if (looked.coverage !== 'COMPLETE') return 'UNKNOWN';
  if (!['COMPLETE_SUCCESS', 'UNKNOWN'].includes(completion)) return 'UNKNOWN';
  if (failures === 'none') return 'CLEAN';
  const harmless =
    failures.endsWith('/none') || (failures.startsWith('yes/') && failures !== 'yes/goal-lost');
  return harmless || judged ? 'FLAWED' : 'UNKNOWN';
}

describe('outcome and coverage', () => {
  it(`over all ${ROWS.length} combinations of what was looked at, found, judged and said of the goal`, () => {
    for (const row of ROWS) {
      const { outcome, coverage } = decide(row);
      expect([outcome, coverage], JSON.stringify(row)).toEqual([contract(row), row.looked.coverage]);
    }
  });

  it('a reason stands exactly where something is missing or not known', () => {
    for (const row of ROWS) {
      const { outcome, outcomeReason, coverage } = decide(row);
      expect(outcomeReason !== null, JSON.stringify(row)).toBe(
        coverage !== 'COMPLETE' || outcome === 'UNKNOWN',
      );
    }
  });

  it('CLEAN and FLAWED need everything looked at, and without a model nothing is either', () => {
    for (const row of ROWS) {
      const { outcome, coverage } = decide(row);
      if (outcome === 'CLEAN' || outcome === 'FLAWED') {
        expect([coverage, row.looked.notAnalysed]).toEqual(['COMPLETE', null]);
      }
    }
  });

  it.each([
    ['a lost finding', 'all spans, a finding lost', 'some-reason: r'],
    ['a spent budget, to be resumed', 'budget', 'budget: spent'],
    ['the choice of depth checks', 'depth checks', 'no-model: depth is "checks"'],
  ])('says %s', (_what, name, reason) => {
    const looked = LOOKED.find((one) => one.name === name)!;
    const { outcomeReason } = decide({
      looked,
      failures: 'none',
      critical: false,
      judged: false,
      completion: 'UNKNOWN',
    });
    expect(outcomeReason).toBe(reason);
  });

  it('a session without spans is not complete', () => {
    const looked = { spansTotal: 0, spansAnalysed: 0, tokensTotal: 0, tokensAnalysed: 0, gaps: [] };
    const given = {
      failures: [],
      criticalStep: null,
      judged: false,
      completion: 'UNKNOWN',
      notAnalysed: null,
    } as const;
    expect(decideOutcome({ ...given, looked })).toMatchObject({ outcome: 'UNKNOWN', coverage: 'NONE' });
  });
});
