import { failuresFromConstraints } from '../constraints/failures-from-constraints.ts';
import { aboveThreshold, mergeFailures } from '../detection/merge.ts';
import { CONFIDENCE } from '../diagnosis/options.ts';
import type { Constrained, Merged, Prepared } from '../diagnosis/stages.ts';
import { sessionSpans } from '../session/session.ts';

export { constraintsWithoutModel, evaluateConstraints } from '../constraints/evaluate-constraints.ts';

/** What the Constraints stage found, added to what detection found: one account for the stage that explains. */
export function foldConstraints(prepared: Prepared, merged: Merged, constrained: Constrained): Merged {
  const found = failuresFromConstraints(prepared.options.constraints ?? [], constrained.validationLog);
  const order = sessionSpans(prepared.session).map(({ spanId }) => spanId);
  const { gaps } = merged.coverage;
  return {
    failures:
      found.length === 0
        ? merged.failures
        : aboveThreshold(
            mergeFailures([...merged.failures, ...found], order),
            CONFIDENCE[prepared.options.confidence],
          ),
    quarantined: [...merged.quarantined, ...constrained.quarantined],
    coverage: { ...merged.coverage, gaps: [...gaps, ...constrained.gaps] },
    calls: [...merged.calls, ...constrained.calls],
  };
}
