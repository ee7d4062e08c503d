import { describe, expect, it } from 'vitest';
import { gunzipText } from '../../core/base/gzip.ts';
import { listQuarantined, type Quarantined } from '../../core/ingest/quarantine.ts';
import { retryQuarantined } from '../../core/ingest/retry-quarantined.ts';
import { isPieceOfLine } from '../../core/reading/decode/cut-lines.ts';
import { decodeLogEventMessage } from '../../core/reading/decode/decode-log-event.ts';
import { readSessions } from '../../core/reading/registry.ts';
import { type Session, sessionSchema, sessionSpans } from '../../core/session/session.ts';
import { makeIngestHandler } from '../../lambdas/ingest/handler.ts';
import { LocalIngest } from '../helpers/local-ingest.ts';
import { logEvent, pack } from '../helpers/log-events.ts';
import { contentLog, span } from '../helpers/telemetry-records.ts';

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

  it('wherever the cut falls, the second half alone is not taken for an application’s line', () => {
    const short = JSON.stringify(span({ session: 'S', text: 'Is it {"a": [1, {, or "{"?' }));
    const isKept = (text: string): boolean => {
      const decoded = decodeLogEventMessage(text);
      return Array.isArray(decoded) || !decoded.reason.startsWith('not-') || isPieceOfLine(text);
    };
    const tails = Array.from({ length: short.length - 1 }, (_, at) => short.slice(at + 1));
    expect(tails.filter((tail) => !isKept(tail))).toEqual([]);
  });
});

/** The frozen sessions in the order of their executions. */
async function frozen(world: LocalIngest): Promise<Session[]> {
  const sessions: Session[] = [];
  for (const { sessionKey } of world.workflow.started.values()) {
    const bytes = await world.objects.get(sessionKey);
    sessions.push(sessionSchema.parse(JSON.parse(await gunzipText(bytes ?? new Uint8Array(), 1e8))));
  }
  return sessions;
}

it('the receiver fails on a health check of Firehose or Kinesis: a control message is success and leaves nothing', async () => {
  const data = pack({
    messageType: 'CONTROL_MESSAGE',
    owner: 'CloudwatchLogs',
    logGroup: '',
    logStream: '',
    subscriptionFilters: [],
    logEvents: [{ id: '', timestamp: 1, message: 'CWL CONTROL MESSAGE: Checking health of destination.' }],
  });
  for (const event of [{ awslogs: { data } }, { Records: [{ kinesis: { data } }, { kinesis: { data } }] }]) {
    const world = new LocalIngest();
    expect(await makeIngestHandler(world.deps)(event)).toEqual({
      stored: 0,
      duplicates: 0,
      deferred: 0,
      quarantined: [],
      dropped: 0,
      unrelated: 0,
    });
    expect(world.objects.objects.size + world.index.states.size + world.timers.waiting.length).toBe(0);
  }
});

it('the same log event id is delivered more than once, in one batch and across two invocations: one session, one diagnosis', async () => {
  const events = [logEvent(span({ session: 'S', spanId: 'c1' })), logEvent(span({ spanId: 'c2' }))];
  const [once, often] = [new LocalIngest(), new LocalIngest()];
  await once.deliver(events);
  await often.deliver([...events, ...events]);
  await often.deliver(events);
  await often.settle();
  await often.deliver(events.toReversed());
  expect(await closedHash(often)).toBe(await closedHash(once));
  expect(often.workflow.started).toEqual(once.workflow.started);
  const frozenKeys = (world: LocalIngest) =>
    [...world.objects.objects.keys()].filter((key) => key.startsWith('sessions/'));
  expect(frozenKeys(often)).toEqual(frozenKeys(once));
});

it('JSON behind a text is what an application prints of its users: text, no telemetry', () => {
  const record = JSON.stringify(span({ session: 'S' }));
  for (const prefix of [
    '2026-01-01T10:00:00Z [INFO] ',
    'user said: ',
    '[main] ',
    '[INFO]\t2026-01-01T10:00:00Z\tid\t',
  ])
    expect(decodeLogEventMessage(`${prefix}${record}`)).toMatchObject({ reason: 'not-json: plain text' });
});

it('a line of an application begins with a bracket, as "[ERROR] …": it is no broken record and fills no quarantine', async () => {
  const world = new LocalIngest();
  const lines = [
    '[ERROR] Traceback',
    '[INFO]\t2026-01-01\tid\tdone {1 of 2}',
    '[2026-01-01] up',
    '[main] {"a": 1}',
  ];
  expect(await world.deliver(lines.map((line) => logEvent(line)))).toMatchObject([
    { stored: 0, quarantined: [], unrelated: 4 },
  ]);
});

describe('spans can be queried only minutes after the run', () => {
  const logs = [logEvent(contentLog({ spanId: 'c1', session: 'S' }))];
  const bare = { 'gen_ai.input.messages': undefined, 'gen_ai.output.messages': undefined };
  const spans = [logEvent(span({ spanId: 'c1', session: 'S', attributes: bare }), { logGroup: 'aws/spans' })];

  it('the empty result is not final: the spans make a second version, the one of a tidy delivery', async () => {
    const [late, tidy] = [new LocalIngest(), new LocalIngest()];
    await late.deliver(logs);
    await late.settle();
    expect(await frozen(late)).toHaveLength(1);
    await late.deliver(spans);
    await tidy.deliver([...spans, ...logs]);
    expect(await closedHash(late)).toBe(await closedHash(tidy));
    const versions = await frozen(late);
    expect(versions).toHaveLength(2);
    expect(versions[1]).toEqual((await frozen(tidy))[0]);
    expect(sessionSpans(versions[1]!)).toMatchObject([
      { kind: 'inference', output: [{ role: 'assistant' }] },
    ]);
  });
});

it('one record with a lone surrogate makes the whole batch fail to store: all are stored, and the text is well-formed', async () => {
  const world = new LocalIngest();
  const cut = JSON.stringify(span({ session: 'S', spanId: 'c1', text: 'CUT' })).replace(
    'CUT',
    'cut \\\\ud83e',
  );
  const raw = JSON.stringify(span({ spanId: 'c2', name: 'NAME' })).replace('NAME', '\\ud83e');
  expect(cut).toContain('\\\\ud83e');
  const whole = logEvent(span({ spanId: 'c3', text: 'whole 🤖' }));
  expect(await world.deliver([logEvent(cut), logEvent(raw), whole])).toMatchObject([
    { stored: 3, quarantined: [] },
  ]);
  await world.settle();
  const [session] = await frozen(world);
  expect(sessionSpans(session!)).toHaveLength(3);
  const text = JSON.stringify(session);
  expect(text).not.toMatch(/\\u[dD][89a-fA-F]/);
  expect(text).toContain('cut \ufffd');
  expect(text).toContain('whole 🤖');
});

it('the evaluator runs before the trace is finished: a child that comes after the timer supersedes the first version', async () => {
  const world = new LocalIngest();
  await world.deliver([logEvent(span({ session: 'S', spanId: 'c1', parent: null }))]);
  await world.settle();
  await world.deliver([logEvent(span({ spanId: 'c2', parent: 'c1', text: 'late' }))]);
  await world.settle();
  const versions = await frozen(world);
  expect(versions.map((session) => sessionSpans(session).length)).toEqual([1, 2]);
  expect(await world.index.state('S')).toMatchObject({ closings: 2, open: false, dueAt: null });
});

it('a wait of 54,524 s is no valid DelaySeconds: the wait stands in the index, hints are sent when it is over', async () => {
  const world = new LocalIngest();
  world.idleSeconds = 54_524;
  await world.deliver([logEvent(span({ session: 'S' }))]);
  const start = world.clock.now();
  const delays: number[] = [];
  const arm = world.timers.arm.bind(world.timers);
  world.timers.arm = async (timer, delay) => {
    delays.push(delay);
    await arm(timer, delay);
  };
  await world.settle();
  expect(Math.max(...delays)).toBeLessThanOrEqual(900);
  expect(world.clock.now() - start).toBe(54_524_000);
  expect(world.workflow.started.size).toBe(1);
});

it('the CLI changes session.id in mid-stream: one trace is one session and one diagnosis, in either order', async () => {
  const events = [
    logEvent(span({ session: 'S', spanId: 'c1', parent: null })),
    logEvent(span({ session: 'cli-7', spanId: 'c2', parent: 'c1' })),
  ];
  const hashes = new Set<string | null>();
  for (const order of [events, events.toReversed()]) {
    const world = new LocalIngest();
    for (const event of order) await world.deliver([event]);
    hashes.add(await closedHash(world));
    expect([...world.workflow.started.values()].map(({ sessionId }) => sessionId)).toEqual(['S']);
    expect((await frozen(world)).map((session) => sessionSpans(session).length)).toEqual([2]);
    expect(await world.index.state('cli-7')).toMatchObject({ ownedBy: 'S' });
  }
  expect(hashes.size).toBe(1);
});
