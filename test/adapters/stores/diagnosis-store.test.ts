import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DynamoDiagnosisStore } from '../../../adapters/aws/dynamo-diagnosis-store.ts';
import { DynamoSessionIndex } from '../../../adapters/aws/dynamo-session-index.ts';
import { DynamoTable } from '../../../adapters/aws/dynamo-table.ts';
import { FileObjectStore } from '../../../adapters/local/file-object-store.ts';
import { openLocalStores } from '../../../adapters/local/open-stores.ts';
import { ISSUE_STATES } from '../../../core/diagnosis/issue.ts';
import { type Diagnosis, diagnosisSchema } from '../../../core/diagnosis/schema.ts';
import { ConfigurationInvalidError, ResultConflictError } from '../../../core/errors/errors.ts';
import { aDiagnosis, aFault } from '../../helpers/a-diagnosis.ts';
import { type EmbeddedDynamo, startEmbeddedDynamo } from '../../helpers/embedded-dynamo.ts';

const DAY_MS = 86_400_000;
let dynamo: EmbeddedDynamo;
let folder: string;
let nowMs: number;

beforeAll(async () => {
  dynamo = await startEmbeddedDynamo();
  folder = await mkdtemp(path.join(os.tmpdir(), 'rootspan-store-'));
});
afterAll(async () => {
  await dynamo.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  nowMs = Date.parse('2026-03-01T12:00:00Z');
});

let unique = 0;
const freshId = (): string => `session-${process.pid}-${++unique}`;

function open(options: { retentionDays?: number | null; inlineBytes?: number } = {}): DynamoDiagnosisStore {
  return new DynamoDiagnosisStore(
    new DynamoTable(dynamo.client, dynamo.tableName, { now: () => nowMs }),
    new FileObjectStore(folder),
    { now: () => nowMs },
    { retentionDays: null, ...options },
  );
}

const at = (minute: number): string => `2026-03-01T10:${String(minute).padStart(2, '0')}:00.000Z`;

describe('storing a diagnosis', () => {
  it('the fixture is a diagnosis', () => {
    expect(diagnosisSchema.parse(aDiagnosis())).toEqual(aDiagnosis());
  });

  it('gives the first version, and gives it back whole', async () => {
    const store = open();
    const diagnosis = aDiagnosis({ sessionId: freshId() });
    expect(await store.put(diagnosis)).toMatchObject({ version: 1, created: true });
    expect(await store.latest(diagnosis.sessionId)).toEqual({ ...diagnosis, version: 1 });
    expect(await store.latest('nobody')).toBeNull();
    expect(await store.version(diagnosis.sessionId, 2)).toBeNull();
  });

  it('the same diagnosis again changes nothing, whenever and at whatever price it was made', async () => {
    const store = open();
    const fault = aFault(freshId());
    const diagnosis = aDiagnosis({ sessionId: freshId(), faults: [fault] });
    const first = await store.put(diagnosis);
    const again: Diagnosis = {
      ...diagnosis,
      createdAt: at(59),
      usage: { ...diagnosis.usage, durationMs: 1, costUsd: 0 },
    };
    expect(await store.put(again)).toEqual({ ...first, created: false });
    expect(first.issues).toEqual([{ issue: fault.fingerprint, change: 'opened' }]);
    expect(await store.latest(diagnosis.sessionId)).toEqual({ ...diagnosis, version: 1 });
    expect(await store.versions(diagnosis.sessionId)).toHaveLength(1);
    expect((await store.recent({})).items.filter((i) => i.sessionId === diagnosis.sessionId)).toHaveLength(1);
    expect((await store.issues.get(fault.fingerprint))?.sessions).toBe(1);
  });

  it('a session whose traces turned out to belong to another one counts as superseded', async () => {
    const store = open();
    const [sessionId, agent] = [freshId(), freshId()];
    await store.put(aDiagnosis({ sessionId, agent }));
    const index = new DynamoSessionIndex(
      new DynamoTable(dynamo.client, dynamo.tableName, { now: () => nowMs }),
      { now: () => nowMs },
      {
        retentionDays: null,
      },
    );
    const seen = await index.touch(sessionId, { at: nowMs, batch: 'b', dueAt: nowMs });
    const standing = async () => [
      (await store.versions(sessionId)).map((v) => v.superseded),
      (await store.recent({ agent })).items.map((v) => v.superseded),
    ];
    const closing = { closedAt: nowMs, closedHash: null, diagnoses: 1, notBefore: null, skipped: null };
    await index.markClosed(sessionId, seen, { ...closing, ownedBy: 'the real one' });
    expect(await standing()).toEqual([[true], [true]]);
    await index.markClosed(sessionId, seen, { ...closing, ownedBy: null });
    expect(await standing()).toEqual([[false], [false]]);
  });

  it('another result makes a new version, the old ones stay and are superseded', async () => {
    const store = open();
    const sessionId = freshId();
    const agent = freshId();
    const first = aDiagnosis({ sessionId, agent });
    const second = aDiagnosis({
      sessionId,
      agent,
      diagnosisId: 'diagnosis-2',
      createdAt: at(30),
      failures: [],
      rootCauses: [],
      outcome: 'CLEAN',
    });
    await store.put(first);
    expect(await store.put(second)).toMatchObject({ version: 2, created: true });
    expect((await store.latest(sessionId))?.outcome).toBe('CLEAN');
    expect(await store.version(sessionId, 1)).toEqual({ ...first, version: 1 });
    expect((await store.versions(sessionId)).map((v) => [v.version, v.superseded])).toEqual([
      [1, true],
      [2, false],
    ]);
    expect((await store.recent({ agent })).items.map((v) => [v.version, v.superseded])).toEqual([
      [2, false],
      [1, true],
    ]);
    // A late duplicate of the first execution does not bring the old result back.
    expect(await store.put(first)).toMatchObject({ version: 1, created: false });
    expect((await store.latest(sessionId))?.version).toBe(2);
    expect((await store.recent({ agent })).items[0]?.superseded).toBe(false);
  });

  it('the same id with other content is a conflict, and the stored one stays', async () => {
    const store = open();
    const diagnosis = aDiagnosis({ sessionId: freshId() });
    await store.put(diagnosis);
    const other = { ...diagnosis, completionStatus: 'PARTIAL_SUCCESS' } as const;
    await expect(store.put(other)).rejects.toBeInstanceOf(ResultConflictError);
    expect((await store.latest(diagnosis.sessionId))?.completionStatus).toBe('COMPLETE_FAILURE');
  });

  it('writers at the same time get versions of their own, none is lost', async () => {
    const sessionId = freshId();
    const ids = ['a', 'b', 'c', 'd', 'e', 'a'];
    const results = await Promise.all(
      ids.map((diagnosisId) => open().put(aDiagnosis({ sessionId, diagnosisId }))),
    );
    expect(results.filter((result) => result.created)).toHaveLength(5);
    expect(results[0]?.version).toBe(results[5]?.version);
    expect((await open().versions(sessionId)).map((v) => v.version)).toEqual([1, 2, 3, 4, 5]);
    expect((await open().latest(sessionId))?.version).toBe(5);
  });

  it('a session whose id is long, hostile or foreign is kept apart from all others', async () => {
    const store = open();
    const ids = ['a/../b', '..', 'x'.repeat(3000), `${'x'.repeat(3000)}y`, 'sitzung ä', 'a#b', '__proto__'];
    for (const sessionId of ids) await store.put(aDiagnosis({ sessionId }));
    for (const sessionId of ids) expect((await store.latest(sessionId))?.sessionId).toBe(sessionId);
  });

  it('a body over the limit of an item goes to the object store and comes back', async () => {
    const store = open();
    const excerpt = randomBytes(600_000).toString('base64');
    const spans = [{ spanId: 's', position: 0, kind: 'message', name: 'n', agent: null, excerpt }];
    const large = aDiagnosis({ sessionId: freshId(), spans });
    expect(await store.put(large)).toMatchObject({ version: 1, created: true });
    expect(await store.latest(large.sessionId)).toEqual({ ...large, version: 1 });
    expect(await store.put(large)).toMatchObject({ version: 1, created: false });
  });
});

describe('a crash between two writes', () => {
  /** Fails the n-th PutItem, as if the Lambda had been killed there. */
  function failingClient(n: number): DynamoDBClient {
    let puts = 0;
    const send = (command: unknown): unknown => {
      if (command instanceof PutItemCommand && ++puts === n) throw new Error(`killed at write ${n}`);
      return dynamo.client.send(command as Parameters<DynamoDBClient['send']>[0]);
    };
    return { send } as unknown as DynamoDBClient;
  }

  it('at every write, the retry ends in the same state as if nothing had happened', async () => {
    let reached = 0;
    for (let n = 1; n <= 30; n++) {
      const sessionId = freshId();
      const fault = aFault(freshId());
      const agent = freshId();
      const diagnosis = aDiagnosis({ sessionId, agent, faults: [fault] });
      const objects = new FileObjectStore(folder);
      const broken = new DynamoDiagnosisStore(
        new DynamoTable(failingClient(n), dynamo.tableName, { now: () => nowMs }),
        objects,
        { now: () => nowMs },
        { retentionDays: null },
      );
      const crashed = await broken.put(diagnosis).then(
        () => false,
        () => true,
      );
      if (crashed) reached = n;
      const store = open();
      expect((await store.put(diagnosis)).version).toBe(1);
      expect(await store.versions(sessionId)).toHaveLength(1);
      expect((await store.recent({ agent })).items).toHaveLength(1);
      expect((await store.issues.get(fault.fingerprint))?.sessions).toBe(1);
      if (!crashed) break;
    }
    // causes, version, latest, timelines of all/outcome/issue/agent/service/category/parent, seen, state, mark
    expect(reached).toBe(13);
  });
});

describe('lists', () => {
  it('by agent, service, outcome and category, newest first, in pages without gaps or repeats', async () => {
    const store = open();
    const service = freshId();
    for (let minute = 0; minute < 7; minute++) {
      await store.put(
        aDiagnosis({
          sessionId: freshId(),
          service,
          agent: `${service}-${minute % 2}`,
          createdAt: at(minute),
          ...(minute === 3 ? { outcome: 'UNKNOWN', failures: [], rootCauses: [] } : {}),
        }),
      );
    }
    const times: string[] = [];
    let next: string | undefined;
    let pages = 0;
    do {
      const page = await store.recent({ service, limit: 3, ...(next === undefined ? {} : { next }) });
      times.push(...page.items.map((item) => item.createdAt));
      next = page.next;
      pages++;
    } while (next !== undefined);
    expect(times).toEqual([6, 5, 4, 3, 2, 1, 0].map(at));
    expect(pages).toBe(3);
    expect((await store.recent({ agent: `${service}-1` })).items.map((i) => i.createdAt)).toEqual(
      [5, 3, 1].map(at),
    );
    expect((await store.recent({ service, since: at(5) })).items).toHaveLength(2);
    expect((await store.recent({ service, outcome: 'UNKNOWN' })).items.map((i) => i.createdAt)).toEqual([
      at(3),
    ]);
    const category = 'execution-error-category-timeout';
    expect((await store.recent({ service, category })).items).toHaveLength(6);
    const byCategory = await store.recent({ category, limit: 500 });
    expect(byCategory.items.filter((item) => item.service === service)).toHaveLength(6);
  });

  it('an exactly full last page has no continuation', async () => {
    const store = open();
    const agent = freshId();
    for (let minute = 0; minute < 2; minute++)
      await store.put(aDiagnosis({ sessionId: freshId(), agent, createdAt: at(minute) }));
    expect((await store.recent({ agent, limit: 2 })).next).toBeUndefined();
    expect((await store.recent({ agent, limit: 1 })).next).toBeDefined();
  });

  it.each(['', 'not base64!', 'AAAA='])('a continuation of %j is refused', async (next) => {
    await expect(open().recent({ next })).rejects.toBeInstanceOf(ConfigurationInvalidError);
  });
});

describe('retention', () => {
  it('what has expired is not shown, though DynamoDB has not deleted it yet, and its place is free again', async () => {
    const store = open({ retentionDays: 30 });
    const fault = aFault(freshId());
    const agent = freshId();
    const diagnosis = aDiagnosis({ sessionId: freshId(), agent, faults: [fault] });
    await store.put(diagnosis);
    nowMs += 29 * DAY_MS;
    expect(await store.latest(diagnosis.sessionId)).not.toBeNull();
    nowMs += 2 * DAY_MS;
    expect(await store.latest(diagnosis.sessionId)).toBeNull();
    expect(await store.versions(diagnosis.sessionId)).toEqual([]);
    expect((await store.recent({ agent })).items).toEqual([]);
    expect(await store.issues.get(fault.fingerprint)).toBeNull();
    expect(await store.put(diagnosis)).toMatchObject({ version: 1, created: true });
    expect((await store.issues.get(fault.fingerprint))?.sessions).toBe(1);
  });
});

describe('issues', () => {
  const seen = (sessionId: string, minute: number, release: string | null = null) => ({
    sessionId,
    release,
    at: at(minute),
  });

  it('count each session once, in whatever order and however often they are told', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 12 }),
        async (sessions) => {
          const fault = aFault(freshId());
          await Promise.all(
            sessions.map((n) =>
              open().issues.record(fault.fingerprint, fault, seen(`s${n}`, 10 + n, `r${n}`)),
            ),
          );
          const issue = await open().issues.get(fault.fingerprint);
          const distinct = new Set(sessions).size;
          expect(issue).toMatchObject({
            issue: fault.fingerprint,
            sessions: distinct,
            firstSeen: at(10 + Math.min(...sessions)),
            lastSeen: at(10 + Math.max(...sessions)),
            days: { '2026-03-01': distinct },
            example: `s${Math.max(...sessions)}`,
            state: 'open',
          });
          expect(issue?.releases).toHaveLength(distinct);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('a resolved one that a later session shows has regressed, a muted one stays muted; each moves from list to list', async () => {
    const { issues } = open();
    const fault = aFault(freshId());
    const id = fault.fingerprint;
    const listed = async (): Promise<string[]> => {
      const states: string[] = [];
      for (const state of ISSUE_STATES)
        if ((await issues.list(state, 1000)).some(({ issue }) => issue === id)) states.push(state);
      return states;
    };
    nowMs = Date.parse(at(5));
    expect(await issues.record(id, fault, seen('s1', 1))).toEqual({ issue: id, change: 'opened' });
    expect(await listed()).toEqual(['open']);
    expect(await issues.setState(id, 'resolved')).toMatchObject({ state: 'resolved', resolvedAt: at(5) });
    expect(await listed()).toEqual(['resolved']);
    expect(await issues.record(id, fault, seen('s1', 1))).toEqual({ issue: id, change: 'opened' });
    // It ended before the fault was put right, and is only diagnosed now.
    expect(await issues.record(id, fault, seen('s2', 4))).toBeNull();
    expect(await listed()).toEqual(['resolved']);
    expect(await issues.record(id, fault, seen('s3', 6))).toEqual({ issue: id, change: 'regressed' });
    expect(await issues.record(id, fault, seen('s3', 6))).toEqual({ issue: id, change: 'regressed' });
    expect(await listed()).toEqual(['regressed']);
    await issues.setState(id, 'muted');
    expect(await issues.record(id, fault, seen('s4', 7))).toBeNull();
    expect(await listed()).toEqual(['muted']);
    expect(await issues.get(id)).toMatchObject({ sessions: 4, state: 'muted' });
    expect(await issues.setState('no-such', 'resolved')).toBeNull();
  });

  it('one cause is one issue, whoever writes it first and at the same time', async () => {
    const { site } = aFault(freshId());
    const wordings = [
      ['gatewa', 'paymen'],
      ['paymen', 'timed'],
      ['fraud', 'queue'],
    ];
    const ids = await Promise.all(
      [...wordings, ...wordings].map((words, i) =>
        open().issues.issueOf({ site, words, fingerprint: `${site}-${i % 3}` }),
      ),
    );
    expect(ids.slice(0, 3)).toEqual(ids.slice(3));
    expect(ids[0]).toBe(ids[1]);
    expect(new Set(ids).size).toBe(2);
  });

  it('causes stay known while their issues are seen, and are gone when nothing was for the retention', async () => {
    const { site } = aFault(freshId());
    const ask = (fingerprint: string) =>
      open({ retentionDays: 30 }).issues.issueOf({ site, words: ['paymen'], fingerprint });
    expect(await ask('first')).toBe('first');
    for (let month = 0; month < 4; month++) {
      nowMs += 20 * DAY_MS;
      expect(await ask(`later-${month}`)).toBe('first');
    }
    nowMs += 31 * DAY_MS;
    expect(await ask('anew')).toBe('anew');
  });

  it('lists the sessions of one', async () => {
    const store = open();
    const fault = aFault(freshId());
    const [a, b] = [freshId(), freshId()];
    await store.put(aDiagnosis({ sessionId: a, faults: [fault] }));
    await store.put(aDiagnosis({ sessionId: b, faults: [] }));
    const { items } = await store.recent({ issue: fault.fingerprint });
    expect(items.map(({ sessionId }) => sessionId)).toEqual([a]);
  });
});

describe('the local store', () => {
  const opened: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0)) await close();
  });
  const clock = { now: () => Date.parse('2026-03-01T12:00:00Z') };

  it('keeps its data when it is closed and opened again', async () => {
    const home = await mkdtemp(path.join(folder, 'home-'));
    const first = await openLocalStores(home, clock);
    await first.diagnoses.put(aDiagnosis());
    await first.close();
    const second = await openLocalStores(home, clock);
    opened.push(() => second.close());
    expect((await second.diagnoses.latest('session-1'))?.version).toBe(1);
  });

  it('several openings write and read side by side, and no version is lost', async () => {
    const home = await mkdtemp(path.join(folder, 'home-'));
    const stores = await Promise.all([1, 2, 3].map(() => openLocalStores(home, clock)));
    for (const each of stores) opened.push(() => each.close());
    const written = await Promise.all(
      stores.map(({ diagnoses }, i) =>
        diagnoses.put(aDiagnosis({ diagnosisId: `d-${i}`, goal: `goal ${i}` })),
      ),
    );
    expect(written.map(({ version }) => version).sort()).toEqual([1, 2, 3]);
    for (const { diagnoses } of stores) expect(await diagnoses.versions('session-1')).toHaveLength(3);
  });
});
