import { parseAtDoor } from '../../core/base/parse.ts';
import { type CloseDeps, closeSession } from '../../core/ingest/close-session.ts';
import { type PartialBatch, type QueueDeps, serveQueue } from '../../core/ingest/serve-queue.ts';
import { timerSchema } from '../../core/ports/ingest-ports.ts';

/** Hints that sessions are due. One that fails comes again, and the session stays due whatever becomes of it. */
export function makeCloseSessionHandler(
  deps: CloseDeps,
  queue: QueueDeps,
): (event: unknown) => Promise<PartialBatch> {
  return (event) =>
    serveQueue(
      event,
      async (body) => {
        const { sessionId } = parseAtDoor(timerSchema, body, 'the body of a timer');
        await closeSession(sessionId, deps);
      },
      queue,
    );
}
