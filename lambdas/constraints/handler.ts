import { getCarried, putJson } from '../../core/contracts/carried.ts';
import { SessionInvalidError } from '../../core/contracts/errors.ts';
import { constrainedKey, mergedKey, preparedKey } from '../../core/contracts/object-keys.ts';
import { parseAtDoor } from '../../core/contracts/parse.ts';
import type { ObjectStore } from '../../core/contracts/ports.ts';
import type { Merged, Prepared } from '../../core/contracts/stages.ts';
import {
  type ConstraintsResult,
  messageOfCaught,
  modelStepEventSchema,
} from '../../core/contracts/workflow.ts';
import { reasonForFault } from '../../core/detection/chunk-not-analysed.ts';
import type { Model } from '../../core/model/port.ts';
import { constrain, constrainWithoutModel } from '../../core/pipeline.ts';
import type { TokenCounter } from '../../core/tokens/counter.ts';

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
        ? await constrain(prepared, merged, model, { counter })
        : await constrainWithoutModel(
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
