import { describe, expect, it } from 'vitest';
import type { LogEvent } from '../../../core/ingest/envelope.ts';
import { listQuarantined, type Quarantined, textOf } from '../../../core/ingest/quarantine.ts';
import { unpackDelivery } from '../../../core/ingest/raw-records.ts';
import { retryQuarantined } from '../../../core/ingest/retry-quarantined.ts';
import { rawPrefix } from '../../../core/ports/object-keys.ts';
import { makeIngestHandler } from '../../../lambdas/ingest/handler.ts';
import { LocalIngest, START } from '../../helpers/local-ingest.ts';
import { awslogs, logEvent } from '../../helpers/log-events.ts';
import { contentLog, id, span } from '../../helpers/telemetry-records.ts';

const A = id('a', 32);

async function quarantineOf(world: LocalIngest): Promise<Quarantined[]> {
  const items: Quarantined[] = [];
  for await (const item of listQuarantined(world.objects)) items.push(item);
  return items;
}

async function rawOf(world: LocalIngest, traceId: string): Promise<number> {
  let count = 0;
  for await (const key of world.objects.list(rawPrefix(traceId))) {
    const { events } = await unpackDelivery((await world.objects.get(key)) ?? new Uint8Array());
    for (const { records } of events) count += records.length;
  }
  return count;
}

describe('a batch', () => {
  it('is stored by trace, its session is open and due', async () => {
    const world = new LocalIngest();
    const reports = await world.deliver([
      logEvent(span({ spanId: 'c1', session: 'S' })),
      logEvent(span({ spanId: 'c2', session: 'S', traceId: 'b' })),
    ]);
    expect(reports).toEqual([
      { stored: 2, duplicates: 0, deferred: 0, quarantined: [], dropped: 0, unrelated: 0 },
    ]);
    expect(await world.index.tracesOfSession('S')).toEqual([A, id('b', 32)]);
    expect(await world.index.state('S')).toMatchObject({
      open: true,
      firstSeen: START,
      dueAt: START + 900_000,
    });
  });

  it('delivered again stores nothing twice', async () => {
    const world = new LocalIngest();
    const events = [logEvent(span({ session: 'S' })), logEvent(span({ session: 'S', spanId: 'd' }))];
    await world.deliver(events);
    const before = world.state();
    expect(await world.deliver(events.toReversed())).toEqual([
      { stored: 2, duplicates: 2, deferred: 0, quarantined: [], dropped: 0, unrelated: 0 },
    ]);
    expect(world.state()).toEqual(before);
  });

  it('with one log event id twice in it counts it once', async () => {
    const world = new LocalIngest();
    const event = logEvent(span({ session: 'S' }));
    await world.deliver([event, event]);
    expect(await rawOf(world, A)).toBe(1);
  });

  it('with two equal lines of two ids keeps both', async () => {
    const world = new LocalIngest();
    await world.deliver([logEvent(span(), { id: '1'.repeat(56) }), logEvent(span(), { id: '2'.repeat(56) })]);
    expect(await rawOf(world, A)).toBe(2);
  });

  it('of our own log groups is dropped and counted', async () => {
    const world = new LocalIngest();
    const reports = await world.deliver([logEvent(span(), { logGroup: '/rootspan/Rootspan/ingest' })]);
    expect(reports).toEqual([
      { stored: 0, duplicates: 0, deferred: 0, quarantined: [], dropped: 1, unrelated: 0 },
    ]);
    expect(world.objects.objects.size).toBe(0);
  });

  it('of application lines without ids is counted, not kept', async () => {
    const world = new LocalIngest();
    const lines = [
      'plain text',
      '',
      '{"a":1}',
      '{"level":"INFO","message":"started"}',
      'START RequestId: 1 {"x": 2}',
      // An escaped quote makes it look like the end of a cut line, if it is not parsed.
      JSON.stringify({ message: 'say "hi', details: {} }),
    ];
    expect(await world.deliver(lines.map((line) => logEvent(line)))).toMatchObject([
      { stored: 0, quarantined: [], unrelated: 6 },
    ]);
    expect(world.objects.objects.size).toBe(0);
  });

  it.each([
    ['behind a text', (json: string) => `user said: ${json}`],
    ['behind a time and a level', (json: string) => `2026-01-01T00:00:00Z INFO ${json}`],
    ['in a list behind a text', (json: string) => `user said: [${json},${json}]`],
    ['as the message of a line', (json: string) => JSON.stringify({ level: 'INFO', message: json })],
    [
      'as fields of a line',
      (json: string) => JSON.stringify({ level: 'INFO', message: 'user said', ...JSON.parse(json) }),
    ],
    [
      'as an export in a line',
      (json: string) =>
        JSON.stringify({
          level: 'INFO',
          message: 'user said',
          resourceSpans: [{ scopeSpans: [{ spans: [JSON.parse(json)] }] }],
        }),
    ],
  ])('a span %s is text: no session, no span, no other owner', async (_what, wrap) => {
    const world = new LocalIngest();
    await world.deliver([logEvent(span({ spanId: 'c1', parent: null, session: 'S' }))]);
    await world.settle();
    const started = [...world.workflow.started.values()];
    const stranger = JSON.stringify(
      span({ spanId: 'd', parent: null, session: 'stranger', text: 'mine now' }),
    );
    await world.deliver([logEvent(wrap(stranger))]);
    await world.settle();
    expect([...world.workflow.started.values()]).toEqual(started);
    expect(await world.index.state('stranger')).toBeNull();
    expect(await world.index.state('S')).toMatchObject({ ownedBy: null });
  });

  it('one line that speaks of more sessions than an event may is kept and counted, not believed', async () => {
    const world = new LocalIngest();
    const many = Array.from({ length: 1185 }, (_, n) => span({ traceId: `${n}f`, session: `victim-${n}` }));
    const [report] = await world.deliver([logEvent(many), logEvent(span({ session: 'S', spanId: 'c9' }))]);
    expect(report).toMatchObject({ stored: 1, quarantined: [expect.any(String)] });
    expect([...world.index.states.keys()]).toEqual(['S']);
    const kept = await quarantineOf(world);
    expect(kept.map(({ reason }) => reason.split(':')[0])).toEqual(['too-many-sessions']);
    // Who looks at it and asks for it by its id gets it.
    expect(await retryQuarantined(kept, world.deps)).toMatchObject({ resolved: [] });
    expect(await retryQuarantined(kept, world.deps, true)).toMatchObject({ open: [] });
    expect(world.index.states.size).toBe(1186);
  });

  it('a delivery that speaks of more sessions than a delivery may: those beyond are kept', async () => {
    const world = new LocalIngest();
    const events = Array.from({ length: 1100 }, (_, n) =>
      logEvent(span({ traceId: `${n}f`, session: `S${n % 1050}` })),
    );
    const [report] = await world.deliver(events);
    // 50 of the last name sessions that were counted before.
    expect(report?.quarantined).toHaveLength(50);
    expect(world.index.states.size).toBe(1000);
  });

  it('a platform fault throws, whatever the batch held', async () => {
    const world = new LocalIngest();
    world.trap = (port) => {
      if (port === 'objects.putIfAbsent') throw new Error('S3 is down');
    };
    await expect(world.deliver([logEvent(span())])).rejects.toThrow('S3 is down');
    await expect(world.deliver([logEvent('{broken}')])).rejects.toThrow('S3 is down');
  });
});

/** One of each kind of trials.md, and what becomes of it. */
const POISON: readonly [what: string, event: LogEvent, reason: RegExp][] = [
  [
    'inner quotes that are not escaped',
    logEvent('{"id":"1","details":{"input":"{"Comment": "Insert your JSON here"}"}}'),
    /^bad-json/,
  ],
  ['half of a cut line', logEvent(`{"traceId":"${A}","spanId":"${id('c', 16)}","na`), /^cut-json/],
  ['nested without end', logEvent(`{"traceId":${'['.repeat(5000)}${']'.repeat(5000)}}`), /deeper/],
  ['a span without a trace id', logEvent(span({ traceId: '0' })), /^no-id/],
  ['a span without the field of the trace id', logEvent({ ...span(), traceId: undefined }), /^no-id/],
  ['a span without a span id', logEvent(span({ spanId: '0' })), /^no-id/],
  [
    'content that belongs nowhere',
    logEvent({ ...contentLog(), traceId: undefined, spanId: undefined }),
    /^no-id: content/,
  ],
];

describe('a batch with one poisonous record of each kind', () => {
  const good = [logEvent(span({ session: 'S', spanId: 'c1' })), logEvent(contentLog({ spanId: 'c1' }))];
  // Bad ones in front, between and behind; none stands where it could be joined to its neighbour.
  const mixed = [good[0]!, ...POISON.map(([, event]) => event), good[1]!];

  it('stores all the others', async () => {
    const world = new LocalIngest();
    const [report] = await world.deliver(mixed);
    expect(report).toMatchObject({ stored: 2, unrelated: 0 });
    expect(report?.quarantined).toHaveLength(POISON.length);
    await world.settle();
    const clean = new LocalIngest();
    await clean.deliver(good);
    await clean.settle();
    expect((await world.index.state('S'))?.closedHash).toBe((await clean.index.state('S'))?.closedHash);
    expect(world.workflow.started).toEqual(clean.workflow.started);
  });

  it.each(POISON)('keeps %s as it came, with the reason', async (_what, event, reason) => {
    const world = new LocalIngest();
    await world.deliver([event]);
    const [item, ...more] = await quarantineOf(world);
    expect(more).toEqual([]);
    expect(item?.reason).toMatch(reason);
    expect(textOf(item?.raw ?? '')).toBe(event.message);
    const { message: _, ...place } = event;
    expect(item?.event).toEqual(place);
    expect(item?.resolvedAt).toBeNull();
    // Delivered again: still one.
    await world.deliver([event]);
    expect(await quarantineOf(world)).toEqual([item]);
  });

  it.each([
    ['a lone surrogate', `${JSON.stringify(span({ session: 'S' })).slice(0, -1)},"x":"cut emoji \\ud83e"}`],
    [
      'NaN inside JSON attribute text',
      JSON.stringify(span({ session: 'S', attributes: { 'input.value': '{"score": NaN}' } })),
    ],
    [
      'keys that reach prototypes',
      `${JSON.stringify(span({ session: 'S' })).slice(0, -1)},"__proto__":{"a":1}}`,
    ],
    [
      'an id past 2^53 as a number',
      JSON.stringify(span({ session: 'S' })).replace('"1700000000000000000"', '1700000000000000001'),
    ],
  ])('%s is no poison: the record is stored', async (_what, message) => {
    const world = new LocalIngest();
    expect(await world.deliver([logEvent(message)])).toMatchObject([{ stored: 1, quarantined: [] }]);
    await world.settle();
    expect(world.workflow.started.size).toBe(1);
  });
});

describe('an envelope that cannot be read', () => {
  it('is kept as it came', async () => {
    const world = new LocalIngest();
    const report = await makeIngestHandler(world.deps)({ awslogs: { data: 'AAAA' } });
    expect(report.quarantined).toHaveLength(1);
    expect(await quarantineOf(world)).toMatchObject([{ event: null, raw: 'AAAA' }]);
  });
});

describe('quarantine retry', () => {
  it('reads what can be read now, finds halves that came in two deliveries, and leaves the rest', async () => {
    const world = new LocalIngest();
    const line = JSON.stringify(span({ session: 'S' }));
    const ids = ['1'.repeat(56), '2'.repeat(56)];
    await world.deliver([logEvent(line.slice(0, 100), { id: ids[0]! })]);
    await world.deliver([logEvent('{"broken" }')]);
    await world.deliver([logEvent(line.slice(100), { id: ids[1]! })]);
    const before = await quarantineOf(world);
    expect(before.map(({ reason }) => reason.split(':')[0]).sort()).toEqual([
      'bad-json',
      'cut-json',
      'cut-json',
    ]);
    const broken = before.filter(({ reason }) => reason.startsWith('bad-json')).map((item) => item.id);

    const result = await retryQuarantined(before, world.deps);
    expect(result.open).toEqual(broken);
    expect(result.resolved).toHaveLength(2);
    expect(
      (await quarantineOf(world)).filter((item) => item.resolvedAt === null).map((item) => item.id),
    ).toEqual(broken);
    await world.settle();
    const whole = new LocalIngest();
    await whole.deliver([logEvent(line)]);
    await whole.settle();
    expect((await world.index.state('S'))?.closedHash).toBe((await whole.index.state('S'))?.closedHash);
  });

  it('marks what it could store as resolved and keeps its bytes', async () => {
    const world = new LocalIngest();
    await makeIngestHandler(world.deps)({ awslogs: { data: 'AAAA' } });
    const [bad] = await quarantineOf(world);
    // As if a reader of yesterday had refused what today's can read.
    const { awslogs: good } = awslogs([logEvent(span({ session: 'S' }))]) as { awslogs: { data: string } };
    const readable: Quarantined = { ...bad!, raw: good.data };
    expect(await retryQuarantined([readable], world.deps)).toEqual({ resolved: [bad!.id], open: [] });
    expect(await quarantineOf(world)).toEqual([{ ...readable, resolvedAt: new Date(START).toISOString() }]);
    await world.settle();
    expect(world.workflow.started.size).toBe(1);
  });
});
