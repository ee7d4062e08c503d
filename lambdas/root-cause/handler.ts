import type { Clock } from '../../core/base/clock.ts';
import { parseAtDoor } from '../../core/base/parse.ts';
import { reasonForFault } from '../../core/detection/chunk-not-analysed.ts';
import type { Constrained, Merged, Prepared } from '../../core/diagnosis/stages.ts';
import { SessionInvalidError } from '../../core/errors/errors.ts';
import type { Model } from '../../core/model/port.ts';
import type { TokenCounter } from '../../core/planning/tokens/counter.ts';
import { getCarried } from '../../core/ports/carried.ts';
import { constrainedKey, mergedKey, preparedKey } from '../../core/ports/object-keys.ts';
import type { DiagnosisStore, ObjectStore } from '../../core/ports/ports.ts';
import { messageOfCaught, modelStepEventSchema, type WorkflowResult } from '../../core/ports/workflow.ts';
import { findRootCauses, foldConstraints, rootCausesUnavailable } from '../../core/stages/pipeline.ts';

export interface RootCauseDeps {
  readonly objects: ObjectStore;
  readonly diagnoses: DiagnosisStore;
  readonly counter: TokenCounter;
  readonly clock: Clock;
  /** With the response cache: a retry never pays for an answer twice. */
  readonly modelFor: (spec: string) => Promise<Model>;
}

/** Explains what was found and stores the diagnosis, also when nothing was found or nothing could be analysed. */
export function makeRootCauseHandler(deps: RootCauseDeps): (event: unknown) => Promise<WorkflowResult> {
  return async (event) => {
    const { executionName, input, error } = parseAtDoor(
      modelStepEventSchema,
      event,
      'the event of this step',
    );
    const prepared = await getCarried<Prepared>(deps.objects, preparedKey(executionName));
    const merged = await getCarried<Merged>(deps.objects, mergedKey(executionName));
    const constrained = await getCarried<Constrained>(deps.objects, constrainedKey(executionName));
    if (prepared === null || merged === null || constrained === null)
      throw new SessionInvalidError(`execution ${executionName} has no merged result: start it anew`);
    const { validationLog } = constrained;
    const folded = foldConstraints(prepared, merged, constrained);
    const nowIso = new Date(deps.clock.now()).toISOString();
    const found =
      error === undefined
        ? await findRootCauses(prepared, folded, validationLog, await deps.modelFor(prepared.modelSpec), {
            counter: deps.counter,
            nowIso,
          })
        : rootCausesUnavailable(
            prepared,
            folded,
            validationLog,
            reasonForFault(error.Error, messageOfCaught(error)),
            nowIso,
          );
    const diagnosis = await deps.diagnoses.withoutRejected(found);
    const { version, created } = await deps.diagnoses.put(diagnosis, input?.closing);
    const { sessionId, diagnosisId, outcome, coverage } = diagnosis;
    return { sessionId, version, diagnosisId, outcome, coverage: coverage.state, created };
  };
}
