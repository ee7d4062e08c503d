import * as z from 'zod';
import type { Clock } from '../../core/base/clock.ts';
import { parseAtDoor } from '../../core/base/parse.ts';
import { chunkNotAnalysed, reasonForFault } from '../../core/detection/chunk-not-analysed.ts';
import type { Prepared } from '../../core/diagnosis/stages.ts';
import { SessionInvalidError } from '../../core/errors/errors.ts';
import { getCarried, putJson } from '../../core/ports/carried.ts';
import { chunkResultKey, preparedKey } from '../../core/ports/object-keys.ts';
import type { FailureLog, ObjectStore } from '../../core/ports/ports.ts';
import {
  type AnalyzeChunkResult,
  messageOfCaught,
  recordFailureEventSchema,
} from '../../core/ports/workflow.ts';
import { redactText } from '../../core/redaction/redact-credentials.ts';

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
