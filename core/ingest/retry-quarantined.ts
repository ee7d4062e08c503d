import { gzipJson } from '../base/gzip.ts';
import { quarantineKey } from '../ports/object-keys.ts';
import { type LogEvent, unwrapPayload } from './envelope.ts';
import { type Quarantined, textOf } from './quarantine.ts';
import { SessionCaps } from './session-caps.ts';
import { type IngestDeps, storeEvents } from './store-events.ts';

/**
 * Tries what lies in quarantine again, with the readers of today. All together and in the order of their streams,
 * so that the halves of a cut line that came in two deliveries find each other. What can be read now is stored like
 * any delivery and marked as resolved; its bytes stay.
 */
export async function retryQuarantined(
  items: readonly Quarantined[],
  deps: IngestDeps,
  /** Reads also what speaks of more sessions than are taken at once: somebody has looked at it. */
  uncapped = false,
): Promise<{ readonly resolved: readonly string[]; readonly open: readonly string[] }> {
  const open: string[] = [];
  const events: LogEvent[] = [];
  for (const item of items) {
    if (item.event !== null) events.push({ ...item.event, message: textOf(item.raw) });
    else {
      const unwrapped = await unwrapPayload(item.raw);
      if (unwrapped.trouble.length > 0) open.push(item.id);
      else events.push(...unwrapped.events);
    }
  }
  events.sort(
    (a, b) => compare(a.logGroup, b.logGroup) || compare(a.logStream, b.logStream) || compare(a.id, b.id),
  );
  const report = await storeEvents(
    events,
    [],
    deps,
    uncapped ? new SessionCaps(Infinity, Infinity) : new SessionCaps(),
  );
  open.push(...report.quarantined);
  const still = new Set(open);
  const resolved = items.filter((item) => !still.has(item.id));
  const resolvedAt = new Date(deps.clock.now()).toISOString();
  for (const item of resolved) {
    const done: Quarantined = { ...item, resolvedAt };
    await deps.objects.put(quarantineKey(item.id), await gzipJson(done));
  }
  return { resolved: resolved.map(({ id }) => id), open: [...still] };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
