import { parseAtDoor } from '../../core/base/parse.ts';
import type { ChunkResult, Prepared } from '../../core/diagnosis/stages.ts';
import { SessionInvalidError } from '../../core/errors/errors.ts';
import type { Model } from '../../core/model/port.ts';
import type { TokenCounter } from '../../core/planning/tokens/counter.ts';
import { getCarried, putJson } from '../../core/ports/carried.ts';
import { chunkResultKey, preparedKey } from '../../core/ports/object-keys.ts';
import type { ObjectStore } from '../../core/ports/ports.ts';
import { type AnalyzeChunkResult, analyzeChunkEventSchema } from '../../core/ports/workflow.ts';
import { analyzeChunk } from '../../core/stages/pipeline.ts';

export interface AnalyzeChunkDeps {
  readonly objects: ObjectStore;
  readonly counter: TokenCounter;
  /** With the response cache: a retry never pays for an answer twice. */
  readonly modelFor: (spec: string) => Promise<Model>;
}

/**
 * Asks the model about one chunk and leaves the result in the object store. Throttling, outage and configuration
 * faults are thrown by name for the state machine; whatever else keeps a chunk from being looked at is its result.
 */
export function makeAnalyzeChunkHandler(
  deps: AnalyzeChunkDeps,
): (event: unknown) => Promise<AnalyzeChunkResult> {
  return async (event) => {
    const { executionName, index } = parseAtDoor(analyzeChunkEventSchema, event, 'the event of this step');
    const prepared = await getCarried<Prepared>(deps.objects, preparedKey(executionName));
    if (prepared === null)
      throw new SessionInvalidError(`execution ${executionName} has no prepared session: start it anew`);
    const model = await deps.modelFor(prepared.modelSpec);
    const result: ChunkResult = await analyzeChunk(prepared, index, model, deps.counter);
    await putJson(deps.objects, chunkResultKey(executionName, index), result);
    return { index, state: result.state };
  };
}
