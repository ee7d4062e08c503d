import * as z from 'zod';
import { getCarried, putJson } from '../../core/contracts/carried.ts';
import { SessionInvalidError } from '../../core/contracts/errors.ts';
import { chunkResultKey, preparedKey } from '../../core/contracts/object-keys.ts';
import { parseAtDoor } from '../../core/contracts/parse.ts';
import type { Clock, FailureLog, ObjectStore } from '../../core/contracts/ports.ts';
import type { Prepared } from '../../core/contracts/stages.ts';
import {
  type AnalyzeChunkResult,
  messageOfCaught,
  recordFailureEventSchema,
} from '../../core/contracts/workflow.ts';
import { chunkNotAnalysed, reasonForFault } from '../../core/detection/chunk-not-analysed.ts';
import { redactText } from '../../core/session/redact-credentials.ts';

export interface RecordFailureDeps {
  readonly objects: ObjectStore;
  readonly failures: FailureLog;
  readonly clock: Clock;
}

const inputSchema = z.object({ sessionId: z.string().min(1), sessionKey: z.string().optional() });
const MAX_MESSAGE = 2000;

/**
 * Turns a fault that retries did not cure into something that can be seen: a chunk's becomes its `not_analyzed`
 * result, an execution's a row beside the session's diagnoses. Written again, it is the same.
 */
export function makeRecordFailureHandler(
  deps: RecordFailureDeps,
): (event: unknown) => Promise<AnalyzeChunkResult | { readonly recorded: true }> {
  return async (event) => {
    const failed = parseAtDoor(recordFailureEventSchema, event, 'the event of this step');
    const { executionName, error } = failed;
    const message = redactText(messageOfCaught(error)).slice(0, MAX_MESSAGE);
    if (failed.what === 'chunk') {
      const { index } = failed;
      const prepared = await getCarried<Prepared>(deps.objects, preparedKey(executionName));
      if (prepared === null)
        throw new SessionInvalidError(`execution ${executionName} has no prepared session: start it anew`);
      const result = chunkNotAnalysed(prepared, index, reasonForFault(error.Error, message));
      await putJson(deps.objects, chunkResultKey(executionName, index), result);
      return { index, state: result.state };
    }
    const input = inputSchema.safeParse(failed.input);
    await deps.failures.record({
      // Without a readable input the execution's name is all there is to find the row by.
      sessionId: input.success ? input.data.sessionId : executionName,
      sessionKey: input.data?.sessionKey ?? null,
      executionName,
      errorName: error.Error,
      message,
      at: new Date(deps.clock.now()).toISOString(),
    });
    return { recorded: true };
  };
}
