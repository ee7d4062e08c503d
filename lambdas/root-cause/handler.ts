import { getCarried } from '../../core/contracts/carried.ts';
import { SessionInvalidError } from '../../core/contracts/errors.ts';
import { mergedKey, preparedKey } from '../../core/contracts/object-keys.ts';
import { parseAtDoor } from '../../core/contracts/parse.ts';
import type { Clock, DiagnosisStore, ObjectStore } from '../../core/contracts/ports.ts';
import type { Merged, Prepared } from '../../core/contracts/stages.ts';
import { rootCauseEventSchema, type WorkflowResult } from '../../core/contracts/workflow.ts';
import type { Model } from '../../core/model/port.ts';
import { explain } from '../../core/pipeline.ts';
import type { TokenCounter } from '../../core/tokens/counter.ts';

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
    const { executionName } = parseAtDoor(rootCauseEventSchema, event, 'the event of this step');
    const prepared = await getCarried<Prepared>(deps.objects, preparedKey(executionName));
    const merged = await getCarried<Merged>(deps.objects, mergedKey(executionName));
    if (prepared === null || merged === null)
      throw new SessionInvalidError(`execution ${executionName} has no merged result: start it anew`);
    const model = await deps.modelFor(prepared.modelSpec);
    const diagnosis = await explain(prepared, merged, [], model, {
      counter: deps.counter,
      nowIso: new Date(deps.clock.now()).toISOString(),
    });
    const { version, created } = await deps.diagnoses.put(diagnosis);
    const { sessionId, diagnosisId, outcome } = diagnosis;
    return { sessionId, version, diagnosisId, outcome, created };
  };
}
