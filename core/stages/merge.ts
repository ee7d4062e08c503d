import { chunkNotAnalysed } from '../detection/chunk-not-analysed.ts';
import { aboveThreshold, failuresFromChecks, mergeFailures } from '../detection/merge.ts';
import { CONFIDENCE } from '../diagnosis/options.ts';
import type { Coverage } from '../diagnosis/schema.ts';
import type { ChunkResult, MergeChunks, Prepared } from '../diagnosis/stages.ts';
import { coverageOf } from '../report-build/coverage.ts';
import { dataGaps } from '../report-build/data-gaps.ts';
import { trajectoryOf } from '../trajectory/trajectory-of.ts';

/**
 * One list of failures and one account of what was looked at. Depends neither on the order of the results nor on
 * their number: a chunk without a result is a gap, one with two counts as looked at if either did.
 */
export const mergeChunks: MergeChunks = (prepared, results) => {
  const trajectory = trajectoryOf(prepared.session);
  const chosen = onePerChunk(prepared, results);
  const order = trajectory.steps.map(({ spanId }) => spanId);
  const failures = mergeFailures(
    [...failuresFromChecks(prepared.checks), ...chosen.flatMap((result) => result.failures)],
    order,
  );
  const { unseen, ...counts } = coverageOf(prepared, trajectory, chosen);
  const named = new Set(chosen.flatMap(({ gaps }) => gaps.flatMap(({ spanIds }) => spanIds)));
  const unnamed = unseen.filter((spanId) => !named.has(spanId));
  return {
    failures: aboveThreshold(failures, CONFIDENCE[prepared.options.confidence]),
    quarantined: chosen.flatMap(({ quarantined }) => quarantined),
    coverage: {
      ...counts,
      gaps: [
        ...distinctGaps(chosen.flatMap(({ gaps }) => gaps)),
        // Every span that no model saw stands in a gap, also if a result forgot to say so.
        ...(prepared.notAnalysed === null && unnamed.length > 0
          ? [{ what: 'spans not looked at', reason: 'in no chunk that was looked at', spanIds: unnamed }]
          : []),
        ...dataGaps(prepared.session),
      ],
    },
    calls: chosen.flatMap(({ calls }) => calls),
  };
};

function onePerChunk(prepared: Prepared, results: readonly ChunkResult[]): readonly ChunkResult[] {
  if (prepared.notAnalysed !== null) return [];
  return prepared.plan.chunks.map(({ index }) => {
    const ofChunk = results.filter((result) => result.index === index);
    return (
      ofChunk.toSorted((a, b) => b.spanIdsSeen.length - a.spanIdsSeen.length || compareJson(a, b))[0] ??
      chunkNotAnalysed(prepared, index, 'result-missing: the chunk left no result')
    );
  });
}

const compareJson = (a: unknown, b: unknown): number => {
  const [x, y] = [JSON.stringify(a), JSON.stringify(b)];
  return x < y ? -1 : x > y ? 1 : 0;
};

/** Gaps of one kind and reason become one, with all their spans. */
function distinctGaps(gaps: Coverage['gaps']): Coverage['gaps'] {
  const byKey = new Map<string, Coverage['gaps'][number]>();
  for (const gap of gaps) {
    const key = JSON.stringify([gap.what, gap.reason]);
    const earlier = byKey.get(key);
    byKey.set(
      key,
      earlier === undefined ? gap : { ...gap, spanIds: [...new Set([...earlier.spanIds, ...gap.spanIds])] },
    );
  }
  return [...byKey.values()];
}
