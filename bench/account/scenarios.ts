import { sha256Hex } from '../../core/base/hash.ts';
import type { LogEvent } from '../../core/ingest/envelope.ts';
import { randomInt, reseed } from './seeded.ts';
import { AWS_RULES, START, World } from './world.ts';

const SECOND = 1000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export type Row = Readonly<Record<string, string | number>>;

const hex = (text: string, length: number): string => sha256Hex(text).slice(0, length);

/** A log event with one span. */
export function spanEvent(
  session: string | null,
  trace: string,
  span: string,
  { parent, agent = true }: { parent?: string; agent?: boolean } = {},
): LogEvent {
  const record = {
    resource: { attributes: { 'service.name': 'support' } },
    scope: { name: agent ? 'strands.telemetry.tracer' : 'http', version: '' },
    traceId: hex(trace, 32),
    spanId: hex(`${trace} ${span}`, 16),
    ...(parent === undefined ? {} : { parentSpanId: hex(`${trace} ${parent}`, 16) }),
    name: agent ? 'chat' : 'GET /',
    kind: 'INTERNAL',
    startTimeUnixNano: '1700000000000000000',
    endTimeUnixNano: '1700000001000000000',
    attributes: {
      ...(agent
        ? {
            'gen_ai.operation.name': 'chat',
            'gen_ai.output.messages': JSON.stringify([
              {
                role: 'assistant',
                parts: [{ type: 'text', content: `content of ${session ?? trace} ${span}` }],
              },
            ]),
          }
        : { 'http.url': 'https://x.example' }),
      ...(session === null ? {} : { 'session.id': session }),
    },
    status: { code: 'UNSET' },
  };
  const message = JSON.stringify(record);
  const id = BigInt(`0x${hex(message, 44)}`)
    .toString()
    .padStart(56, '3');
  return { logGroup: 'aws/spans', logStream: 'default', id, timestamp: START, message };
}

const DURATIONS: readonly (readonly [string, number, number])[] = [
  ['5 minutes', 5 * 60 * SECOND, 10 * SECOND],
  ['8 hours', 8 * HOUR, 120 * SECOND],
  ['7 days', 7 * DAY, 170 * SECOND],
];

/** Sessions that speak without a silence, at each idle time: diagnosed once a part, and every record in one part. */
export async function longSessions(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const idleSeconds of [180, 900, 86_400]) {
    for (const [name, lasts, every] of DURATIONS) {
      reseed(7);
      const world = new World({ idleSeconds, queue: AWS_RULES, skewMs: 2000 });
      let sent = 0;
      for (let at = 0; at <= lasts; at += every) {
        world.deliver([spanEvent('S', 'trace', `s${sent}`, sent === 0 ? {} : { parent: 's0' })]);
        sent += 1;
        await world.runUntil(START + at + every);
      }
      await world.runUntil(world.clock.now() + 3 * DAY);
      const { stored, twice } = await storedSpans(world);
      rows.push({
        idle: idleSeconds,
        lasts: name,
        records: sent,
        promised: Math.max(1, Math.ceil(lasts / DAY)),
        diagnosed: world.started.size,
        'records lost': sent - stored,
        'records twice': twice,
        stuck: await openSessions(world),
        looped: world.timers.looped + world.deliveries.looped,
        dead: world.timers.dead.length + world.deliveries.dead.length,
      });
    }
  }
  return rows;
}

/** Spans in what was diagnosed, each once a session. */
async function storedSpans(world: World): Promise<{ stored: number; twice: number }> {
  const seen = new Map<string, number>();
  for (const { sessionKey } of world.started.values()) {
    const bytes = await world.objects.get(sessionKey);
    const text =
      bytes === null
        ? ''
        : await new Response(
            new Blob([Uint8Array.from(bytes)]).stream().pipeThrough(new DecompressionStream('gzip')),
          ).text();
    for (const [, id] of text.matchAll(/"spanId":"([0-9a-f]{16})"/g))
      seen.set(id ?? '', (seen.get(id ?? '') ?? 0) + 1);
  }
  return { stored: seen.size, twice: [...seen.values()].filter((count) => count > 1).length };
}

async function openSessions(world: World): Promise<number> {
  let open = 0;
  for await (const _ of world.deps.index.due(Number.MAX_SAFE_INTEGER)) open += 1;
  return open;
}

class Died extends Error {}

/** A run of one session that dies at each of its port calls in turn; after it, the call is retried, dead-lettered or dropped. */
export async function crashPoints(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const mode of ['retried', 'dead-lettered', 'timer dropped'] as const) {
    const sums = { points: 0, stuck: 0, lost: 0, twice: 0 };
    for (let point = 1; ; point += 1) {
      reseed(point);
      const queue = { ...AWS_RULES, twicePercent: 0, throttledPercent: 0 };
      const world = new World({
        idleSeconds: 180,
        queue: mode === 'dead-lettered' ? { ...queue, maxReceiveCount: 1 } : queue,
        skewMs: 0,
      });
      let calls = 0;
      let isDead = false;
      world.fault = (call) => {
        // A sweep that dies before it found anything is the next minute's.
        if (call !== 'index.due') {
          calls += 1;
          if (calls === point) isDead = true;
        }
        if (isDead) throw new Died();
      };
      let dropped = mode !== 'timer dropped';
      world.dropHint = () => {
        const drop = !dropped;
        dropped = true;
        return drop;
      };
      world.revive = () => {
        isDead = false;
      };
      world.deliver([spanEvent(null, 'a', 'c1'), spanEvent('S', 'a', 'c2', { parent: 'c1' })]);
      await world.runUntil(START + 2 * HOUR);
      world.deliver([spanEvent(null, 'a', 'c3', { parent: 'c2' }), spanEvent('S', 'b', 'c4')]);
      await world.runUntil(START + 12 * HOUR);
      if (point > calls) break;
      world.fault = () => {};
      sums.points += 1;
      sums.stuck += (await openSessions(world)) > 0 ? 1 : 0;
      const { stored } = await storedSpans(world);
      sums.lost += stored < 4 ? 1 : 0;
      // Promised: the session when it fell silent, and once more with what came late.
      const ofSession = [...world.started.values()].filter(({ sessionId }) => sessionId === 'S');
      sums.twice +=
        ofSession.length > 2 || new Set(ofSession.map((input) => input.sessionKey)).size < ofSession.length
          ? 1
          : 0;
    }
    rows.push({
      'after the crash': mode,
      'crash points': sums.points,
      stuck: sums.stuck,
      lost: sums.lost,
      'diagnosed twice': sums.twice,
    });
  }
  return rows;
}

/** A worker's trace with many users' sessions in it. */
export async function manySessions(count: number): Promise<Row> {
  reseed(3);
  const world = new World({ idleSeconds: 180, queue: AWS_RULES, skewMs: 0 });
  world.deliver([spanEvent(null, 'worker', 'root', { agent: false })]);
  for (let n = 0; n < count; n += 1)
    world.deliver([
      spanEvent(`user-${n}`, 'worker', `job-${n}`, { parent: 'root' }),
      spanEvent(null, 'worker', `call-${n}`, { parent: `job-${n}` }),
    ]);
  await world.runUntil(START + 6 * HOUR);
  let mixed = 0;
  for (const { sessionId, sessionKey } of world.started.values()) {
    const bytes = await world.objects.get(sessionKey);
    const text =
      bytes === null
        ? ''
        : await new Response(
            new Blob([Uint8Array.from(bytes)]).stream().pipeThrough(new DecompressionStream('gzip')),
          ).text();
    const others = [...text.matchAll(/content of (user-\d+)/g)].filter(([, user]) => user !== sessionId);
    mixed += others.length > 0 ? 1 : 0;
  }
  const diagnosed = new Set([...world.started.values()].map(({ sessionId }) => sessionId)).size;
  return {
    sessions: count,
    diagnosed,
    mixed,
    writes: writesOf(world),
    'writes a session': Math.round((writesOf(world) / count) * 10) / 10,
    dead: world.deliveries.dead.length,
  };
}

export function writesOf(world: World): number {
  const names = [
    'objects.put',
    'objects.putIfAbsent',
    'index.link',
    'index.touch',
    'index.defer',
    'index.postpone',
    'index.claim',
    'index.markClosed',
    'index.endPart',
  ];
  // A link is two rows.
  return names.reduce((sum, name) => sum + (world.calls.get(name) ?? 0) * (name === 'index.link' ? 2 : 1), 0);
}

/** Traffic of other services beside agents, some of which name themselves late. */
export async function otherTraffic(seconds: number): Promise<Row> {
  reseed(5);
  const world = new World({ idleSeconds: 180, queue: { ...AWS_RULES, twicePercent: 0 }, skewMs: 0 });
  let before = 0;
  for (let second = 0; second < seconds; second += 1) {
    const events: LogEvent[] = [];
    for (let n = 0; n < 100; n += 1)
      for (const span of ['a', 'b', 'c'])
        events.push(spanEvent(null, `request ${second} ${n}`, span, { agent: false }));
    world.deliver(events);
    await world.runUntil(world.clock.now() + SECOND);
  }
  before = writesOf(world);
  // An agent a second, whose first span is a plain request of a trace that nobody knew yet.
  for (let second = 0; second < seconds; second += 1) {
    world.deliver([spanEvent(null, `agent ${second}`, 'http', { agent: false })]);
    await world.runUntil(world.clock.now() + SECOND);
  }
  await world.runUntil(world.clock.now() + HOUR);
  for (let second = 0; second < seconds; second += 1)
    world.deliver([spanEvent(`S${second}`, `agent ${second}`, 'chat', { parent: 'http' })]);
  await world.runUntil(world.clock.now() + 6 * HOUR);
  const { stored } = await storedSpans(world);
  return {
    'other traces': seconds * 100,
    'writes a trace': Math.round((before / (seconds * 100)) * 1000) / 1000,
    'agent sessions named an hour late': seconds,
    diagnosed: world.started.size,
    'spans lost': seconds * 2 - stored,
  };
}

/** One call of S3 in five fails, or the table throttles for half an hour. */
export async function troubles(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const trouble of ['S3: 20 % 503', 'DynamoDB: throttled for 30 minutes'] as const) {
    reseed(11);
    const world = new World({ idleSeconds: 180, queue: AWS_RULES, skewMs: 0 });
    let n = 0;
    world.fault = (call) => {
      const isDown = world.clock.now() < START + 30 * 60 * SECOND;
      if (
        trouble.startsWith('S3')
          ? call.startsWith('objects.') && randomInt(5) === 0
          : call.startsWith('index.') && isDown
      )
        throw new Error(trouble);
    };
    for (; n < 200; n += 1) {
      world.deliver(
        Array.from({ length: 5 }, (_, k) =>
          spanEvent(`S${n}`, `t${n}`, `s${k}`, k === 0 ? {} : { parent: 's0' }),
        ),
      );
      await world.runUntil(world.clock.now() + 10 * SECOND);
    }
    await world.runUntil(START + 2 * DAY);
    const { stored } = await storedSpans(world);
    rows.push({
      trouble,
      sessions: n,
      diagnosed: new Set([...world.started.values()].map(({ sessionId }) => sessionId)).size,
      'records lost': n * 5 - stored,
      stuck: await openSessions(world),
      dead: world.deliveries.dead.length + world.timers.dead.length,
    });
  }
  return rows;
}
