import { parseAtDoor } from '../../core/base/parse.ts';
import { chunkNotAnalysed } from '../../core/detection/chunk-not-analysed.ts';
import type { ChunkResult, Prepared } from '../../core/diagnosis/stages.ts';
import { SessionInvalidError } from '../../core/errors/errors.ts';
import { getCarried, putJson } from '../../core/ports/carried.ts';
import { chunkResultKey, mergedKey, preparedKey } from '../../core/ports/object-keys.ts';
import type { ObjectStore } from '../../core/ports/ports.ts';
import { type MergeResult, mergeEventSchema } from '../../core/ports/workflow.ts';
import { mergeChunks } from '../../core/stages/pipeline.ts';

export interface MergeDeps {
  readonly objects: ObjectStore;
}

/** Reads at once: enough to be quick, few enough for memory (a result is at most a few MB). */
const READS_AT_ONCE = 20;

/** Joins the results of all planned chunks; one that left no result is named as a gap. */
export function makeMergeHandler(deps: MergeDeps): (event: unknown) => Promise<MergeResult> {
  return async (event) => {
    const { executionName } = parseAtDoor(mergeEventSchema, event, 'the event of this step');
    const prepared = await getCarried<Prepared>(deps.objects, preparedKey(executionName));
    if (prepared === null)
      throw new SessionInvalidError(`execution ${executionName} has no prepared session: start it anew`);
    const indexes = prepared.notAnalysed === null ? prepared.plan.chunks.map(({ index }) => index) : [];
    const results: ChunkResult[] = [];
    for (let from = 0; from < indexes.length; from += READS_AT_ONCE) {
      const read = indexes.slice(from, from + READS_AT_ONCE).map(async (index) => {
        const found = await getCarried<ChunkResult>(deps.objects, chunkResultKey(executionName, index));
        return found ?? chunkNotAnalysed(prepared, index, 'result-missing: the chunk left no result');
      });
      results.push(...(await Promise.all(read)));
    }
    const merged = mergeChunks(prepared, results);
    await putJson(deps.objects, mergedKey(executionName), merged);
    return { failures: merged.failures.length };
  };
}
