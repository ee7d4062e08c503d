import * as z from 'zod';
import { unwrapLogEvents } from '../../core/ingest/envelope.ts';
import { type PartialBatch, type QueueDeps, serveQueue } from '../../core/ingest/serve-queue.ts';
import { type IngestDeps, type IngestReport, storeEvents } from '../../core/ingest/store-events.ts';

/**
 * One delivery of a CloudWatch Logs subscription, direct or through Kinesis. Bad records are quarantined and the
 * rest goes on; whatever is thrown here is a platform fault, and the whole delivery comes again without harm.
 */
export function makeIngestHandler(deps: IngestDeps): (event: unknown) => Promise<IngestReport> {
  return async (event) => {
    const { events, trouble } = await unwrapLogEvents(event);
    return storeEvents(events, trouble, deps);
  };
}

const queueEventSchema = z.object({
  Records: z.array(z.object({ messageId: z.string(), body: z.string() })),
});

/**
 * Deliveries from the queue, each a message; or one that somebody hands over by hand, as it came from CloudWatch.
 * `count` hears what became of each.
 */
export function makeIngestQueueHandler(
  deps: IngestDeps,
  queue: QueueDeps,
  count: (report: IngestReport) => void,
): (event: unknown) => Promise<PartialBatch> {
  const ingest = makeIngestHandler(deps);
  return async (event) => {
    if (queueEventSchema.safeParse(event).success)
      return serveQueue(event, async (body) => count(await ingest(body)), queue);
    count(await ingest(event));
    return { batchItemFailures: [] };
  };
}

/** The line of a delivery in the function's log, of which the construct makes its metrics. */
export function countsLine({ quarantined, ...counts }: IngestReport): string {
  return JSON.stringify({ what: 'ingest', ...counts, quarantined: quarantined.length });
}
