import { describe, expect, it } from 'vitest';
import { mergeFailures } from '../../../core/detection/merge.ts';
import { salvageFindings } from '../../../core/detection/salvage.ts';
import { TAXONOMY } from '../../../core/vocabulary/taxonomy.ts';

const names = new Map([
  ['s0', 'aaaa000000000000'],
  ['s1', 'bbbb000000000000'],
  ['s9', 'cccc000000000000'],
]);

/** As if the chunk showed s0 and s1 only. */
const read = (said: object) => {
  const aliases = new Map([...names].slice(0, 2));
  const { failures, quarantined } = salvageFindings(
    [{ span: 's0', category: 'other', confidence: 'high', quote: 'q', why: 'see [s1, s9]', ...said }],
    { known: { aliases }, names, taxonomy: TAXONOMY, requestHash: 'h', isQuoted: () => true },
  );
  const [failure] = failures;
  if (failure === undefined) throw new Error('no failure was read');
  return { failure, notes: quarantined.length };
};

describe('what a finding says of its recovery', () => {
  it.each([
    [{ recovered: 'yes', recoveredBy: 's1' }, 'yes', 'bbbb000000000000', 0],
    [{ recovered: 'Yes', recoveredBy: '[s9]' }, 'yes', 'cccc000000000000', 0],
    [{ recovered: 'yes', recoveredBy: '' }, 'yes', null, 0],
    [{ recovered: 'yes', recoveredBy: 's4' }, 'yes', null, 1],
    [{ recovered: 'yes', recoveredBy: 's0' }, 'yes', null, 1],
    [{ recovered: 'no', recoveredBy: 's1' }, 'no', null, 0],
    [{ recovered: 'maybe' }, 'unknown', null, 0],
    [{}, 'unknown', null, 0],
  ] as const)('%j', (said, recovered, recoveredBy, notes) => {
    const got = read(said);
    expect([got.failure.recovered, got.failure.recoveredBy, got.notes]).toEqual([
      recovered,
      recoveredBy,
      notes,
    ]);
  });

  it('stated in one chunk, it holds for the failure found in another; "no" stands against "yes"', () => {
    const unknown = read({ recovered: 'unknown' }).failure;
    const yes = read({ recovered: 'yes', recoveredBy: 's9' }).failure;
    const no = read({ recovered: 'no' }).failure;
    for (const pair of [
      [unknown, yes],
      [yes, unknown],
    ]) {
      expect(mergeFailures(pair)[0]).toMatchObject({ recovered: 'yes', recoveredBy: 'cccc000000000000' });
    }
    expect(mergeFailures([yes, no])[0]).toMatchObject({ recovered: 'no', recoveredBy: null });
  });

  it('keeps references to spans that the chunk did not show', () => {
    expect(read({}).failure.evidence[0]).toContain('[bbbb000000000000][cccc000000000000]');
  });
});
