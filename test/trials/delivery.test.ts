import { describe, expect, it } from 'vitest';
import { readSessions } from '../../core/formats/registry.ts';
import { listQuarantined, type Quarantined } from '../../core/ingest/quarantine.ts';
import { retryQuarantined } from '../../core/ingest/retry-quarantined.ts';
import { LocalIngest } from '../helpers/local-ingest.ts';
import { logEvent } from '../helpers/log-events.ts';
import { span } from '../helpers/telemetry-records.ts';

/** What goes wrong between CloudWatch Logs and a closed session, each named after its symptom. */

const STREAM_ORDER = ['1', '2', '3', '4'].map((digit) => digit.repeat(56));

async function inQuarantine(world: LocalIngest): Promise<Quarantined[]> {
  const items: Quarantined[] = [];
  for await (const item of listQuarantined(world.objects)) items.push(item);
  return items.filter((item) => item.resolvedAt === null);
}

async function closedHash(world: LocalIngest): Promise<string | null> {
  await world.settle();
  return (await world.index.state('S'))?.closedHash ?? null;
}

describe('a stdout line over the limit is cut at 262,119 characters', () => {
  const line = JSON.stringify(
    span({ session: 'S', text: `It said "${'so it goes, '.repeat(50_000)}" at last.` }),
  );
  const LIMIT = 262_119;
  const pieces = Array.from({ length: Math.ceil(line.length / LIMIT) }, (_, n) =>
    logEvent(line.slice(n * LIMIT, (n + 1) * LIMIT), { id: STREAM_ORDER[n]! }),
  );

  it('its pieces arrive as events of one batch: one record, as if it had never been cut', async () => {
    const [world, whole] = [new LocalIngest(), new LocalIngest()];
    expect(pieces).toHaveLength(3);
    expect(await world.deliver(pieces)).toMatchObject([{ stored: 1, quarantined: [], unrelated: 0 }]);
    await whole.deliver([logEvent(line)]);
    expect(await closedHash(world)).toBe(await closedHash(whole));
  });

  it('its pieces arrive in invocations of their own: all are kept, and a retry of the quarantine joins them', async () => {
    const [world, whole] = [new LocalIngest(), new LocalIngest()];
    for (const piece of pieces.toReversed()) await world.deliver([piece]);
    const kept = await inQuarantine(world);
    expect(kept).toHaveLength(3);
    expect(await retryQuarantined(kept, world.deps)).toMatchObject({ open: [] });
    expect(await inQuarantine(world)).toEqual([]);
    await whole.deliver([logEvent(line)]);
    expect(await closedHash(world)).toBe(await closedHash(whole));
  });

  it('its pieces stand in a file of fetched rows: read as one record', () => {
    const rows = pieces.map(({ id, message }) => ({
      eventId: id,
      logStreamName: 's',
      timestamp: 1,
      message,
    }));
    const { sessions, unread } = readSessions({
      text: JSON.stringify({ events: rows }),
      source: 'rows.json',
    });
    expect(sessions.map((session) => session.sessionId)).toEqual(['S']);
    expect(unread).toEqual([]);
  });

  it('wherever the cut falls, the second half alone is not taken for an application’s line', async () => {
    const short = JSON.stringify(span({ session: 'S', text: 'Is it {"a": [1, {, or "{"?' }));
    const lost: string[] = [];
    for (let at = 1; at < short.length; at += 1) {
      const world = new LocalIngest();
      await world.deliver([logEvent(short.slice(at))]);
      if ((await inQuarantine(world)).length === 0) lost.push(short.slice(at));
    }
    expect(lost).toEqual([]);
  });
});
