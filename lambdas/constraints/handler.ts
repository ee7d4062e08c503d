import { parseAtDoor } from '../../core/base/parse.ts';
import { reasonForFault } from '../../core/detection/chunk-not-analysed.ts';
import type { Merged, Prepared } from '../../core/diagnosis/stages.ts';
import { SessionInvalidError } from '../../core/errors/errors.ts';
import type { Model } from '../../core/model/port.ts';
import type { TokenCounter } from '../../core/planning/tokens/counter.ts';
import { getCarried, putJson } from '../../core/ports/carried.ts';
import { constrainedKey, mergedKey, preparedKey } from '../../core/ports/object-keys.ts';
import type { ObjectStore } from '../../core/ports/ports.ts';
import { type ConstraintsResult, messageOfCaught, modelStepEventSchema } from '../../core/ports/workflow.ts';
import { constraintsWithoutModel, evaluateConstraints } from '../../core/stages/pipeline.ts';

export interface ConstraintsDeps {
  readonly objects: ObjectStore;
  readonly counter: TokenCounter;
  /** With the response cache: a retry never pays for an answer twice. */
  readonly modelFor: (spec: string) => Promise<Model>;
}

/**
 * Evaluates the constraints and leaves the validation log. A model is only asked at depth `deep`. Runs after Merge
 * whatever the depth's rule, because "only when something was found" has to know what was found.
 */
export function makeConstraintsHandler(
  deps: ConstraintsDeps,
): (event: unknown) => Promise<ConstraintsResult> {
  return async (event) => {
    const { executionName, error } = parseAtDoor(modelStepEventSchema, event, 'the event of this step');
    const prepared = await getCarried<Prepared>(deps.objects, preparedKey(executionName));
    const merged = await getCarried<Merged>(deps.objects, mergedKey(executionName));
    if (prepared === null || merged === null)
      throw new SessionInvalidError(`execution ${executionName} has no merged result: start it anew`);
    const model = await deps.modelFor(prepared.modelSpec);
    const { counter } = deps;
    const constrained =
      error === undefined
        ? await evaluateConstraints(prepared, merged, model, { counter })
        : await constraintsWithoutModel(
            prepared,
            merged,
            reasonForFault(error.Error, messageOfCaught(error)),
            model,
            { counter },
          );
    await putJson(deps.objects, constrainedKey(executionName), constrained);
    return {
      violated: constrained.validationLog.filter(({ verdict }) => verdict === 'violated').length,
    };
  };
}
