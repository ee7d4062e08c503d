import * as z from 'zod';
import { parseAtDoor } from '../../core/base/parse.ts';
import { type CloseDeps, closeSession } from '../../core/ingest/close-session.ts';
import { timerSchema } from '../../core/ports/ingest-ports.ts';

const queueEventSchema = z.object({
  Records: z.array(z.object({ messageId: z.string(), body: z.string() })),
});

export interface PartialBatch {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

/**
 * Timers that fired. Each is on its own: one that fails is delivered again and, after the queue's receive count,
 * goes to the dead-letter queue; the others are done. `report` hears why, because SQS does not.
 */
export function makeCloseSessionHandler(
  deps: CloseDeps,
  report: (sessionId: string, error: unknown) => void,
): (event: unknown) => Promise<PartialBatch> {
  return async (event) => {
    const { Records } = parseAtDoor(queueEventSchema, event, 'the event of the timer queue');
    const batchItemFailures: { itemIdentifier: string }[] = [];
    for (const { messageId, body } of Records) {
      try {
        await closeSession(parseAtDoor(timerSchema, parseJson(body), 'the body of a timer'), deps);
      } catch (error) {
        report(body, error);
        batchItemFailures.push({ itemIdentifier: messageId });
      }
    }
    return { batchItemFailures };
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
