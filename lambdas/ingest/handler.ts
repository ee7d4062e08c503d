import { unwrapLogEvents } from '../../core/ingest/envelope.ts';
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

/** The line of a delivery in the function's log, of which the construct makes its metrics. */
export function countsLine({ quarantined, ...counts }: IngestReport): string {
  return JSON.stringify({ what: 'ingest', ...counts, quarantined: quarantined.length });
}
