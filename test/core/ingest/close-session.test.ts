import { describe, expect, it } from 'vitest';
import { gunzipText } from '../../../core/base/gzip.ts';
import { canonicalJson, sha256Hex } from '../../../core/base/hash.ts';
import { SessionTooLargeError } from '../../../core/errors/errors.ts';
import { closeSession } from '../../../core/ingest/close-session.ts';
import { beginPartEnd, readSessionRecords } from '../../../core/ingest/session-records.ts';
import { idHash } from '../../../core/ports/object-keys.ts';
import { workflowInputSchema } from '../../../core/ports/workflow.ts';
import { type Session, sessionSchema, sessionSpans } from '../../../core/session/session.ts';
import { LocalIngest, START } from '../../helpers/local-ingest.ts';
import { logEvent } from '../../helpers/log-events.ts';
import { contentLog, id, span } from '../../helpers/telemetry-records.ts';

const SECOND = 1000;

async function frozen(world: LocalIngest, sessionKey: string): Promise<Session> {
  const bytes = await world.objects.get(sessionKey);
  return sessionSchema.parse(JSON.parse(await gunzipText(bytes ?? new Uint8Array(), 1e8)));
}

async function onlyStarted(world: LocalIngest): Promise<{ name: string; session: Session }> {
  const [entry, ...more] = [...world.workflow.started];
  if (entry === undefined || more.length > 0) throw new Error(`${world.workflow.started.size} executions`);
  return { name: entry[0], session: await frozen(world, entry[1].sessionKey) };
}

describe('a silent session', () => {
  it('is frozen under its content hash, and its diagnosis starts with the settings of its agent', async () => {
    const world = new LocalIngest();
    world.settings = { model: 'bedrock:m', depth: 'deep', votes: 3, confidence: 'high' };
    await world.deliver([logEvent(span({ session: 'S' }))]);
    const closings = await world.settle();
    const [[name, input] = ['', undefined]] = [...world.workflow.started];
    expect(workflowInputSchema.parse(input)).toMatchObject({
      sessionId: 'S',
      model: 'bedrock:m',
      options: { depth: 'deep', votes: 3, confidence: 'high' },
    });
    const session = await frozen(world, input?.sessionKey ?? '');
    const hash = sha256Hex(canonicalJson(session));
    expect(input?.sessionKey).toBe(`sessions/${idHash('S')}/${hash}.json.gz`);
    expect(closings).toEqual([{ result: 'started', name, sessionKey: input?.sessionKey, hash }]);
    expect(name).toMatch(/^[A-Za-z0-9_-]{1,80}$/);
    expect(await world.index.state('S')).toMatchObject({
      open: false,
      dueAt: null,
      closedHash: hash,
      closings: 1,
      closedAt: START + 900 * SECOND,
    });
  });

  it('is looked at after its whole idle time after the last record, and not before', async () => {
    const world = new LocalIngest();
    world.idleSeconds = 54_524;
    await world.deliver([logEvent(span({ session: 'S' }))]);
    await world.settle(START + 1000 * SECOND);
    await world.deliver([logEvent(span({ session: 'S', spanId: 'd' }))]);
    expect((await world.settle()).map(({ result }) => result)).toEqual(['started']);
    expect(world.clock.now()).toBe(START + (1000 + 54_524) * SECOND);
  });

  it('that never falls silent is closed when its part is of age, and goes on as a next part: nothing twice, nothing lost', async () => {
    const world = new LocalIngest();
    world.maxAgeSeconds = 7200;
    const ids: string[] = [];
    for (let n = 0; n < 60; n += 1) {
      const spanId = `c${n}`;
      ids.push(id(spanId, 16));
      // Only the first record names the session.
      await world.deliver([
        logEvent(span({ spanId, parent: n === 0 ? null : 'c0', ...(n === 0 ? { session: 'S' } : {}) })),
      ]);
      await world.settle(world.clock.now() + 300 * SECOND);
    }
    await world.settle();
    const inputs = [...world.workflow.started.values()];
    expect(inputs.map(({ sessionId }) => sessionId)).toEqual(['S', 'S#part-2', 'S#part-3']);
    expect(inputs.map(({ closing }) => closing)).toEqual([1, 2, 3]);
    const spans: string[] = [];
    for (const { sessionKey, sessionId } of inputs) {
      const session = await frozen(world, sessionKey);
      expect(session.sessionId).toBe(sessionId);
      spans.push(...sessionSpans(session).map(({ spanId }) => spanId));
    }
    expect(spans.toSorted()).toEqual(ids.toSorted());
  });

  it('with more records than one part takes is read in parts, which together have each delivery once', async () => {
    const world = new LocalIngest();
    for (let n = 0; n < 30; n += 1) await world.deliver([logEvent(span({ spanId: `c${n}`, session: 'S' }))]);
    const seen: string[] = [];
    let hasMore = true;
    let part = 0;
    while (hasMore) {
      part += 1;
      const read = await readSessionRecords({ sessionId: 'S', part }, world.deps, 2000);
      await beginPartEnd({ sessionId: 'S', part }, read.deliveries, world.objects);
      // A retry finds what was written down, and that there is more to come.
      const again = await readSessionRecords({ sessionId: 'S', part }, world.deps, 1e9);
      expect(again.deliveries.toSorted()).toEqual(read.deliveries.toSorted());
      seen.push(...read.deliveries);
      hasMore = read.hasMore;
    }
    expect(part).toBeGreaterThan(2);
    expect(new Set(seen).size).toBe(30);
    expect(seen).toHaveLength(30);
  });

  it('that comes back thirty times is not diagnosed thirty times: the distance doubles from an hour to a day', async () => {
    const world = new LocalIngest();
    for (let visit = 0; visit < 30; visit += 1) {
      await world.deliver([logEvent(span({ spanId: `c${visit}`, session: 'S' }))]);
      await world.settle(world.clock.now() + 1200 * SECOND);
    }
    await world.settle();
    // Ten hours of visits: after 15 minutes, then 1, 2, 4 and 8 hours later, each with everything until then.
    const inputs = [...world.workflow.started.values()];
    expect(inputs).toHaveLength(5);
    expect(sessionSpans(await frozen(world, inputs.at(-1)?.sessionKey ?? ''))).toHaveLength(30);
  });

  it('whose settings change between the start and its mark is not stuck: the execution that began stands', async () => {
    const world = new LocalIngest();
    await world.deliver([logEvent(span({ session: 'S' }))]);
    world.trap = (port, when) => {
      if (port === 'index.markClosed' && when === 'before') throw new Error('DynamoDB is down');
    };
    await expect(world.settle()).rejects.toThrow('DynamoDB is down');
    world.trap = null;
    world.settings = { depth: 'deep', votes: 3 };
    await world.settle();
    expect([...world.workflow.started.values()]).toMatchObject([
      { options: { depth: 'standard', votes: 1 } },
    ]);
    expect(await world.index.state('S')).toMatchObject({ open: false, closings: 1 });
  });

  it('waits as long as its own agent asks for, and is read only twice to find that out', async () => {
    const world = new LocalIngest();
    world.settings = { idleSeconds: 7200 };
    await world.deliver([logEvent(span({ session: 'S' }))]);
    let reads = 0;
    world.trap = (port, when) => {
      if (port === 'index.tracesOfSession' && when === 'before') reads += 1;
    };
    await world.settle();
    expect(world.clock.now()).toBe(START + 7200 * SECOND);
    expect(world.workflow.started.size).toBe(1);
    expect(reads).toBe(2);
  });

  it('that is sampled out is frozen and not diagnosed, in every version alike', async () => {
    const world = new LocalIngest();
    world.settings = { sampling: 0 };
    await world.deliver([logEvent(span({ session: 'S' }))]);
    expect(await world.settle()).toEqual([{ result: 'skipped', reason: 'sampled-out' }]);
    await world.deliver([logEvent(span({ session: 'S', spanId: 'd' }))]);
    expect(await world.settle()).toEqual([{ result: 'skipped', reason: 'sampled-out' }]);
    expect(world.workflow.started.size).toBe(0);
    expect([...world.objects.objects.keys()].filter((key) => key.startsWith('sessions/'))).toHaveLength(2);
  });

  it('sampling takes about its share, the same sessions each time', async () => {
    const taken = async (share: number): Promise<string[]> => {
      const world = new LocalIngest();
      world.settings = { sampling: share };
      const sessions = Array.from({ length: 100 }, (_, n) => `S${n}`);
      await world.deliver(sessions.map((session, n) => logEvent(span({ session, traceId: `${n}a` }))));
      await world.settle();
      return [...world.workflow.started.values()].map((input) => input.sessionId).sort();
    };
    const [some, more, all] = [await taken(0.3), await taken(0.6), await taken(1)];
    expect(some.length).toBeGreaterThan(15);
    expect(some.length).toBeLessThan(45);
    expect(more.filter((session) => some.includes(session))).toEqual(some);
    expect(all).toHaveLength(100);
  });

  it('holds no personal data when its agent’s settings say so, and never credentials; the raw records keep both', async () => {
    const text = 'Write to ann@shop.example with AKIAIOSFODNN7EXAMPLE';
    const textOf = async (redaction: 'credentials' | 'personal'): Promise<string> => {
      const world = new LocalIngest();
      world.settings = { redaction };
      await world.deliver([logEvent(span({ session: 'S', text }))]);
      await world.settle();
      return JSON.stringify((await onlyStarted(world)).session);
    };
    const [plain, personal] = [await textOf('credentials'), await textOf('personal')];
    expect(plain).toContain('ann@shop.example');
    expect(personal).toContain('[personal-1 email]');
    expect(personal).not.toContain('ann@shop.example');
    for (const frozenText of [plain, personal]) expect(frozenText).not.toContain('AKIAIOSFODNN7EXAMPLE');
  });

  it('of servers and clients alone is no agent session: not diagnosed, so that a pipeline never reads itself', async () => {
    const world = new LocalIngest();
    const http = { attributes: { 'http.url': 'https://x.example' }, scope: { name: 'http' } };
    await world.deliver([logEvent({ ...span(), ...http })]);
    expect(await world.settle()).toEqual([]);
    expect(world.objects.objects.size + world.index.states.size).toBe(0);
    expect(world.workflow.started.size).toBe(0);
  });

  it('of application lines alone has no span: nothing to diagnose, and it says so', async () => {
    const world = new LocalIngest();
    await world.deliver([logEvent({ level: 'INFO', message: 'started', sessionId: 'S' })]);
    expect(await world.settle()).toEqual([{ result: 'skipped', reason: 'no-spans' }]);
    expect(await world.index.state('S')).toMatchObject({ skipped: 'no-spans', open: false });
  });

  it('that is too large to assemble is written down as a failure, and is not tried for ever', async () => {
    const world = new LocalIngest();
    await world.deliver([logEvent(span({ session: 'S' }))]);
    const list = world.objects.list.bind(world.objects);
    world.objects.list = (prefix) => {
      if (prefix.startsWith('raw/')) throw new SessionTooLargeError('more than can be read');
      return list(prefix);
    };
    expect(await world.settle()).toEqual([{ result: 'skipped', reason: 'SessionTooLargeError' }]);
    expect([...world.failures.failures.values()]).toMatchObject([
      { sessionId: 'S', errorName: 'SessionTooLargeError', message: 'more than can be read' },
    ]);
    expect(world.timers.waiting).toEqual([]);
  });
});

describe('late and early records', () => {
  it('a late child after the timer makes version 2 with everything in it', async () => {
    const world = new LocalIngest();
    await world.deliver([logEvent(span({ session: 'S', spanId: 'c1', parent: null }))]);
    await world.settle();
    await world.deliver([logEvent(span({ spanId: 'c2', parent: 'c1' }))]);
    await world.settle();
    const inputs = [...world.workflow.started.values()];
    expect(inputs.map((input) => input.sessionId)).toEqual(['S', 'S']);
    const session = await frozen(world, inputs[1]?.sessionKey ?? '');
    expect(sessionSpans(session).map(({ spanId }) => spanId)).toEqual([id('c1', 16), id('c2', 16)]);
    expect(await world.index.state('S')).toMatchObject({ closings: 2 });
  });

  it('a late record that says nothing new starts nothing', async () => {
    const world = new LocalIngest();
    await world.deliver([logEvent(span({ session: 'S' }))]);
    await world.settle();
    // The same span in another log event: its content is the same.
    await world.deliver([logEvent(span({ session: 'S' }), { id: '9'.repeat(56) })]);
    expect((await world.settle()).map(({ result }) => result)).toEqual(['unchanged']);
    expect(world.workflow.started.size).toBe(1);
  });

  it('a record that arrives while the session is being read is not lost', async () => {
    const world = new LocalIngest();
    await world.deliver([logEvent(span({ session: 'S' }))]);
    let late = false;
    world.trap = (port, when) => {
      if (port !== 'workflow.start' || when !== 'before' || late) return;
      late = true;
      // As another Lambda does it, beside this one.
      void world.index.touch('S', { at: world.clock.now(), batch: 'meanwhile', dueAt: world.clock.now() });
    };
    const results = (await world.settle()).map(({ result }) => result);
    expect(results).toEqual(['waiting', 'started']);
    expect(await world.index.state('S')).toMatchObject({ open: false, dueAt: null });
  });

  it('X-Ray sends a span twice, in progress and done: one span, completed, in either order', async () => {
    const done = span({ session: 'S', kind: 'SERVER' });
    const begun = {
      ...span({ session: 'S', kind: 'SERVER' }),
      endTimeUnixNano: null,
      attributes: { 'aws.xray.inprogress': true, 'session.id': 'S' },
    };
    const hashes = new Set<string | null | undefined>();
    for (const order of [
      [begun, done],
      [done, begun],
    ]) {
      const world = new LocalIngest();
      for (const record of order) await world.deliver([logEvent(record)]);
      await world.settle();
      const { session } = await onlyStarted(world);
      expect(sessionSpans(session)).toHaveLength(1);
      expect(sessionSpans(session)[0]?.flags).not.toContain('in-progress');
      hashes.add((await world.index.state('S'))?.closedHash);
    }
    expect(hashes.size).toBe(1);
  });

  it('spans and their log records come in either order, from two log groups', async () => {
    const bare = { 'gen_ai.input.messages': undefined, 'gen_ai.output.messages': undefined };
    const records = [
      logEvent(span({ session: 'S', spanId: 'c1', attributes: bare })),
      logEvent(contentLog({ spanId: 'c1', text: 'from the log' }), { logGroup: '/agents/support' }),
    ];
    const hashes = new Set<string>();
    for (const order of [records, records.toReversed()]) {
      const world = new LocalIngest();
      for (const event of order) await world.deliver([event]);
      await world.settle();
      const { session, name } = await onlyStarted(world);
      expect(JSON.stringify(session)).toContain('from the log');
      hashes.add(name);
    }
    expect(hashes.size).toBe(1);
  });
});

describe('whose session a trace is', () => {
  it.each([
    ['before', false],
    ['after', true],
  ])('is inherited through the trace by records that come %s the one that names it', async (_when, first) => {
    const world = new LocalIngest();
    const nameless = logEvent(span({ spanId: 'c1' }));
    const named = logEvent(span({ spanId: 'c2', session: 'S' }));
    for (const event of first ? [named, nameless] : [nameless, named]) await world.deliver([event]);
    await world.settle();
    const { session } = await onlyStarted(world);
    expect(session.sessionId).toBe('S');
    expect(sessionSpans(session)).toHaveLength(2);
  });

  it('a trace that nobody names is a session by its own id, until somebody does', async () => {
    const world = new LocalIngest();
    await world.deliver([logEvent(span({ spanId: 'c1' }))]);
    await world.settle();
    expect((await onlyStarted(world)).session.sessionId).toBe(id('a', 32));
    await world.deliver([logEvent(span({ spanId: 'c2', session: 'S' }))]);
    const closings = await world.settle();
    expect(closings).toContainEqual({ result: 'handed-over', to: 'S' });
    expect(await world.index.state(id('a', 32))).toMatchObject({ ownedBy: 'S', open: false });
    const last = [...world.workflow.started.values()].at(-1);
    expect(last?.sessionId).toBe('S');
    expect(sessionSpans(await frozen(world, last?.sessionKey ?? ''))).toHaveLength(2);
    // From now on its records concern the real session only.
    await world.deliver([logEvent(span({ spanId: 'c3' }))]);
    expect((await world.settle()).map(({ result }) => result)).toEqual(['started']);
  });

  it('a trace with two session ids belongs to one of them, in whatever order they come', async () => {
    const root = logEvent(span({ spanId: 'c1', parent: null, session: 'ROOT' }));
    const child = logEvent(span({ spanId: 'c2', parent: 'c1', session: 'CLI', text: 'changed mid-stream' }));
    for (const order of [
      [root, child],
      [child, root],
    ]) {
      const world = new LocalIngest();
      for (const event of order) await world.deliver([event]);
      await world.settle();
      const { session } = await onlyStarted(world);
      expect(session.sessionId).toBe('ROOT');
      expect(sessionSpans(session).map(({ flags }) => flags.includes('second-session-id'))).toEqual([
        false,
        true,
      ]);
      expect(await world.index.state('CLI')).toMatchObject({ ownedBy: 'ROOT' });
    }
  });

  it('a session that loses its trace to a better statement gives its diagnosis up', async () => {
    const world = new LocalIngest();
    await world.deliver([logEvent(span({ spanId: 'c2', parent: 'c1', session: 'CLI' }))]);
    await world.settle();
    expect((await world.index.state('CLI'))?.closedHash).toEqual(expect.any(String));
    await world.deliver([logEvent(span({ spanId: 'c1', parent: null, session: 'ROOT' }))]);
    await world.settle();
    expect(await world.index.state('CLI')).toMatchObject({ ownedBy: 'ROOT' });
    expect((await world.index.state('ROOT'))?.closedHash).toEqual(expect.any(String));
  });

  it('a nameless record of a trace whose own id is its session reaches that session, past the second one it names', async () => {
    const traceId = id('a', 32);
    const world = new LocalIngest();
    await world.deliver([
      logEvent(span({ spanId: 'c1', parent: null, session: traceId })),
      logEvent(span({ spanId: 'c2', parent: 'c1', session: 'CLI' })),
    ]);
    await world.settle();
    await world.deliver([logEvent(span({ spanId: 'c3', parent: 'c1' }))]);
    await world.settle();
    const last = [...world.workflow.started.values()].at(-1);
    expect(last?.sessionId).toBe(traceId);
    expect(sessionSpans(await frozen(world, last?.sessionKey ?? ''))).toHaveLength(3);
  });

  it('a session whose only record turns out to say nothing of it hands its trace to the trace itself', async () => {
    const begun = {
      ...span({ attributes: { 'aws.xray.inprogress': true } }),
      resource: { attributes: { 'session.id': 'S' } },
      endTimeUnixNano: null,
    };
    const world = new LocalIngest();
    await world.deliver([logEvent(begun)]);
    await world.deliver([logEvent(span())]);
    await world.settle();
    expect((await onlyStarted(world)).session.sessionId).toBe(id('a', 32));
    expect(await world.index.state('S')).toMatchObject({ ownedBy: id('a', 32), open: false });
  });

  it('two traces of one session are one session', async () => {
    const world = new LocalIngest();
    for (const traceId of ['a', 'b']) await world.deliver([logEvent(span({ traceId, session: 'S' }))]);
    await world.settle();
    expect((await onlyStarted(world)).session.traces).toHaveLength(2);
  });

  it('two sessions at the same time stay apart', async () => {
    const world = new LocalIngest();
    await world.deliver(['1', '2'].map((n) => logEvent(span({ traceId: `a${n}`, session: `S${n}` }))));
    await world.settle();
    expect([...world.workflow.started.values()].map(({ sessionId }) => sessionId).sort()).toEqual([
      'S1',
      'S2',
    ]);
  });

  it('ids of other alphabets, long ones and hostile ones close like any other', async () => {
    for (const session of ['../../etc', 'ü'.repeat(300), 'a/b#c', '__proto__', 'x'.repeat(2000)]) {
      const world = new LocalIngest();
      await world.deliver([logEvent(span({ session }))]);
      await world.settle();
      expect((await onlyStarted(world)).session.sessionId).toBe(session);
    }
  });
});

describe('timers', () => {
  it('of a session that nobody knows, of one that goes on, and of a closed one start nothing', async () => {
    const world = new LocalIngest();
    expect(await closeSession('S', world.deps)).toEqual({ result: 'unknown' });
    await world.deliver([logEvent(span({ session: 'S' }))]);
    expect(await closeSession('S', world.deps)).toMatchObject({ result: 'waiting' });
    await world.settle();
    expect(await closeSession('S', world.deps)).toEqual({ result: 'spare' });
  });

  it('two ingests of one new session at once: two messages, one closing', async () => {
    const world = new LocalIngest();
    await Promise.all(
      ['c1', 'c2'].map((spanId) => world.deliver([logEvent(span({ spanId, session: 'S' }))])),
    );
    const closings = await world.settle();
    expect(closings.filter(({ result }) => result === 'started')).toHaveLength(1);
    expect(closings.filter(({ result }) => !['started', 'spare'].includes(result))).toEqual([]);
  });
});
