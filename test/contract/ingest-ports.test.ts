import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DynamoSessionIndex } from '../../adapters/aws/dynamo-session-index.ts';
import { DynamoTable } from '../../adapters/aws/dynamo-table.ts';
import { SfnWorkflowStarter } from '../../adapters/aws/sfn-workflow-starter.ts';
import { SqsTimerQueue } from '../../adapters/aws/sqs-timer-queue.ts';
import { LocalTimerQueue } from '../../adapters/local/local-timer-queue.ts';
import { LocalWorkflowStarter } from '../../adapters/local/local-workflow-starter.ts';
import { SqliteTable } from '../../adapters/local/sqlite-table.ts';
import { VirtualClock } from '../../adapters/local/virtual-clock.ts';
import { ResultConflictError } from '../../core/errors/errors.ts';
import type {
  SessionIndex,
  SessionState,
  TimerQueue,
  WorkflowStarter,
} from '../../core/ports/ingest-ports.ts';
import type { WorkflowInput } from '../../core/ports/workflow.ts';
import { type EmbeddedDynamo, startEmbeddedDynamo } from '../helpers/embedded-dynamo.ts';
import { MemoryObjectStore, MemorySessionIndex, MemoryWorkflowStarter } from '../helpers/memory-ports.ts';

/** The ingest ports: the adapters and the doubles that other tests use obey the same laws. */

const fixedClock = { now: () => 1e12 };
let dynamo: EmbeddedDynamo;
beforeAll(async () => {
  dynamo = await startEmbeddedDynamo();
});
afterAll(() => dynamo.close());
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

let run = 0;
/** Names of this test alone, since the embedded table is shared. */
const named = (name: string): string => `${name}-${run}`;

describe.each<[string, () => SessionIndex]>([
  [
    'DynamoDB',
    () =>
      new DynamoSessionIndex(new DynamoTable(dynamo.client, dynamo.tableName, fixedClock), fixedClock, {
        retentionDays: 30,
      }),
  ],
  [
    'sqlite',
    () => new DynamoSessionIndex(new SqliteTable(null, fixedClock), fixedClock, { retentionDays: 30 }),
  ],
  ['memory', () => new MemorySessionIndex()],
])('a session index over %s', (_name, open) => {
  const fresh = (): { index: SessionIndex; s: string; t: string } => {
    run += 1;
    return { index: open(), s: named('session'), t: named('trace') };
  };
  const closing = {
    closedAt: 9,
    closedHash: 'h',
    diagnoses: 1,
    notBefore: 99,
    ownedBy: null,
    skipped: null,
  };
  const all = async (states: AsyncIterable<SessionState>): Promise<SessionState[]> => {
    const found: SessionState[] = [];
    for await (const state of states) found.push(state);
    return found;
  };

  it('knows nothing of what it was not told', async () => {
    const { index, s, t } = fresh();
    expect(await index.state(s)).toBeNull();
    expect(await index.sessionsOfTrace(t)).toEqual([]);
    expect(await index.tracesOfSession(s)).toEqual([]);
  });

  it('a link can be read from both ends, and written again', async () => {
    const { index, s, t } = fresh();
    for (const trace of [t, `${t}/x`, t]) await index.link(trace, s);
    await index.link(t, `${s}#other`);
    expect(await index.tracesOfSession(s)).toEqual([t, `${t}/x`].sort());
    expect([...(await index.sessionsOfTrace(t))].sort()).toEqual([s, `${s}#other`].sort());
  });

  it('the first touch makes an open session that is due', async () => {
    const { index, s } = fresh();
    const state = await index.touch(s, { at: 5, batch: 'b', dueAt: 50 });
    expect(state).toEqual({
      sessionId: s,
      firstSeen: 5,
      lastSeen: 5,
      lastBatch: 'b',
      open: true,
      dueAt: 50,
      hints: 0,
      idleSeconds: null,
      part: 1,
      partSince: 5,
      closedAt: null,
      closedHash: null,
      closings: 0,
      claimedHash: null,
      diagnoses: 0,
      notBefore: null,
      ownedBy: null,
      skipped: null,
    });
    expect(await index.state(s)).toEqual(state);
  });

  it('time moves forward only, but a late clock still shows that something arrived', async () => {
    const { index, s } = fresh();
    await index.touch(s, { at: 5, batch: 'a', dueAt: 50 });
    expect(await index.touch(s, { at: 8, batch: 'b', dueAt: 50 })).toMatchObject({
      firstSeen: 5,
      lastSeen: 8,
      lastBatch: 'b',
    });
    expect(await index.touch(s, { at: 3, batch: 'c', dueAt: 50 })).toMatchObject({
      firstSeen: 5,
      lastSeen: 8,
      lastBatch: 'c',
    });
  });

  it('the due time is moved only from where it was seen', async () => {
    const { index, s } = fresh();
    await index.touch(s, { at: 5, batch: 'a', dueAt: 50 });
    await index.touch(s, { at: 7, batch: 'b', dueAt: 70 });
    expect(await index.state(s)).toMatchObject({ dueAt: 50 });
    expect(await index.postpone(s, 50, { dueAt: 90, hints: 1, idleSeconds: 300 })).toBe(true);
    expect(await index.postpone(s, 50, { dueAt: 95, hints: 1, idleSeconds: null })).toBe(false);
    expect(await index.state(s)).toMatchObject({ dueAt: 90, hints: 1, idleSeconds: 300, open: true });
    expect(await index.postpone(s, 90, { dueAt: 99, hints: 0, idleSeconds: null })).toBe(true);
    expect(await index.state(s)).toMatchObject({ dueAt: 99, hints: 0, idleSeconds: 300 });
    expect(await index.postpone(`${s}-nobody`, 50, { dueAt: 90, hints: 1, idleSeconds: null })).toBe(false);
    expect(await index.state(`${s}-nobody`)).toBeNull();
  });

  it('a closing number is given once, and to the one who saw the number before', async () => {
    const { index, s } = fresh();
    await index.touch(s, { at: 5, batch: 'a', dueAt: 50 });
    expect(await index.claim(s, 0, 'one')).toBe(true);
    expect(await index.claim(s, 0, 'two')).toBe(false);
    expect(await index.state(s)).toMatchObject({ closings: 1, claimedHash: 'one' });
    expect(await index.claim(s, 1, 'two')).toBe(true);
    expect(await index.state(s)).toMatchObject({ closings: 2, claimedHash: 'two' });
  });

  it('the end of a part closes the session, and the next arrival begins the next part', async () => {
    const { index, s } = fresh();
    const seen = await index.touch(s, { at: 5, batch: 'a', dueAt: 50 });
    await index.claim(s, 0, 'one');
    const ending = { closedAt: 60, skipped: null, dueAt: 80, more: false };
    await index.endPart(seen, ending);
    const ended = { open: false, dueAt: null, part: 2, partSince: null, closings: 1, claimedHash: null };
    expect(await index.state(s)).toMatchObject(ended);
    // Once more, as after a crash: nothing.
    await index.endPart(seen, ending);
    expect(await index.state(s)).toMatchObject(ended);
    expect(await index.touch(s, { at: 70, batch: 'b', dueAt: 170 })).toMatchObject({
      open: true,
      dueAt: 170,
      part: 2,
      partSince: 70,
      firstSeen: 5,
    });
  });

  it.each([
    ['something came meanwhile', false, 'b'],
    ['there is more than one part takes', true, 'a'],
  ])('the end of a part, when %s, leaves the session open and due', async (_what, more, batch) => {
    const { index, s } = fresh();
    const seen = await index.touch(s, { at: 5, batch: 'a', dueAt: 50 });
    await index.touch(s, { at: 5, batch, dueAt: 50 });
    await index.endPart(seen, { closedAt: 60, skipped: null, dueAt: 80, more });
    expect(await index.state(s)).toMatchObject({ open: true, dueAt: 80, part: 2, partSince: 60 });
  });

  it('what is kept aside of a trace is found again, each delivery once', async () => {
    const { index, t } = fresh();
    const bytes = new Uint8Array([1, 2, 3]);
    for (const hash of ['h1', 'h2', 'h1']) await index.defer(t, { hash, bytes });
    await index.defer(`${t}0`, { hash: 'h3', bytes });
    const found = [];
    for await (const delivery of index.deferred(t)) found.push(delivery);
    expect(found).toEqual([
      { hash: 'h1', bytes },
      { hash: 'h2', bytes },
    ]);
    expect(await index.sessionsOfTrace(t)).toEqual([]);
  });

  it.each([
    ['a later arrival', { at: 8, batch: 'a', dueAt: 80 }],
    ['an arrival in the same millisecond', { at: 5, batch: 'b', dueAt: 80 }],
    ['an arrival by a late clock', { at: 2, batch: 'b', dueAt: 80 }],
  ])('a closing that %s overtook ends nothing', async (_what, arrival) => {
    const { index, s } = fresh();
    const seen = await index.touch(s, { at: 5, batch: 'a', dueAt: 50 });
    await index.touch(s, arrival);
    expect(await index.markClosed(s, seen, closing)).toBe(false);
    expect(await index.state(s)).toMatchObject({ open: true, dueAt: 50, closedHash: null });
  });

  it('a closed session is not due, and the next arrival opens it and makes it due', async () => {
    const { index, s } = fresh();
    const seen = await index.touch(s, { at: 5, batch: 'a', dueAt: 50 });
    expect(await index.markClosed(s, seen, closing)).toBe(true);
    expect(await index.state(s)).toMatchObject({ ...closing, open: false, dueAt: null });
    expect(await index.touch(s, { at: 9, batch: 'b', dueAt: 90 })).toMatchObject({
      open: true,
      dueAt: 90,
      hints: 0,
      diagnoses: 1,
    });
  });

  it('lists what is open and due by then, and nothing else', async () => {
    const { index, s } = fresh();
    for (const [name, dueAt] of [
      ['due', 30],
      ['at once', 31],
      ['later', 32],
      ['closed', 7],
    ] as const) {
      const seen = await index.touch(`${s}-${name}`, { at: 1, batch: 'a', dueAt });
      if (name === 'closed') await index.markClosed(`${s}-${name}`, seen, closing);
    }
    const due = (await all(index.due(31))).map(({ sessionId }) => sessionId);
    expect(due.filter((id) => id.startsWith(`${s}-`)).sort()).toEqual([`${s}-at once`, `${s}-due`]);
  });
});

describe.each<[string, () => { queue: TimerQueue; sent: () => unknown[] }]>([
  [
    'SQS',
    () => {
      const client = mockClient(SQSClient);
      cleanups.push(() => client.restore());
      client.on(SendMessageCommand).resolves({ MessageId: 'm' });
      const sent = () =>
        client.commandCalls(SendMessageCommand).map(({ args: [{ input }] }) => ({
          timer: JSON.parse(String(input.MessageBody)),
          delay: input.DelaySeconds,
        }));
      return { queue: new SqsTimerQueue(new SQSClient({ region: 'eu-west-1' }), 'https://queue'), sent };
    },
  ],
  [
    'a virtual clock',
    () => {
      const clock = new VirtualClock(0);
      const queue = new LocalTimerQueue(clock);
      return { queue, sent: () => queue.waiting.map(({ timer, dueAt }) => ({ timer, delay: dueAt / 1000 })) };
    },
  ],
])('a timer queue over %s', (_name, open) => {
  it('carries the timer and its delay', async () => {
    const { queue, sent } = open();
    const timer = { sessionId: 's' };
    await queue.arm(timer, 900);
    await queue.arm({ sessionId: 'u' }, 0);
    expect(sent()).toEqual([
      { timer, delay: 900 },
      { timer: { sessionId: 'u' }, delay: 0 },
    ]);
  });

  it.each([901, 54_524, -1, 1.5, Number.NaN])(
    'refuses DelaySeconds %d, which must be 0 to 900',
    async (delay) => {
      const { queue, sent } = open();
      await expect(queue.arm({ sessionId: 's' }, delay)).rejects.toThrow(/DelaySeconds/);
      expect(sent()).toEqual([]);
    },
  );
});

/**
 * StartExecution as AWS answers it: the same name and input while it runs gives 200 again; any other use of a taken
 * name gives ExecutionAlreadyExists.
 */
function stepFunctions(closed: boolean): WorkflowStarter {
  const client = mockClient(SFNClient);
  cleanups.push(() => client.restore());
  const inputs = new Map<string, string>();
  client.on(StartExecutionCommand).callsFake(({ name, input }: { name: string; input: string }) => {
    const old = inputs.get(name);
    if (old !== undefined && (closed || old !== input))
      throw new ExecutionAlreadyExists({ message: 'Execution Already Exists', $metadata: {} });
    inputs.set(name, old ?? input);
    return { executionArn: name };
  });
  client.on(DescribeExecutionCommand).callsFake(({ executionArn }: { executionArn: string }) => {
    expect(executionArn).toMatch(/^arn:aws:states:eu-west-1:123456789012:execution:machine:/);
    return { input: inputs.get(executionArn.split(':').at(-1) ?? '') };
  });
  return new SfnWorkflowStarter(
    new SFNClient({ region: 'eu-west-1' }),
    'arn:aws:states:eu-west-1:123456789012:stateMachine:machine',
  );
}

const input: WorkflowInput = {
  sessionId: 's',
  sessionKey: 'sessions/s/h.json.gz',
  options: { depth: 'standard' },
};
/** Keys in another order are the same input. */
const reordered: WorkflowInput = {
  options: { depth: 'standard' },
  sessionKey: input.sessionKey,
  sessionId: 's',
};
const other: WorkflowInput = { ...input, options: { depth: 'deep' } };

describe.each<[string, () => WorkflowStarter]>([
  ['Step Functions, the first still running', () => stepFunctions(false)],
  ['Step Functions, the first closed', () => stepFunctions(true)],
  ['a desk', () => new LocalWorkflowStarter(new MemoryObjectStore())],
  ['memory', () => new MemoryWorkflowStarter()],
])('a workflow starter over %s', (_name, open) => {
  it('the same name with the same input is success, with another input a conflict', async () => {
    const starter = open();
    expect(await starter.start('run', input)).toBe('started');
    expect(['started', 'exists']).toContain(await starter.start('run', reordered));
    await expect(starter.start('run', other)).rejects.toBeInstanceOf(ResultConflictError);
    expect(await starter.start('another', other)).toBe('started');
  });
});

describe('the executions of a desk', () => {
  it('stay open until they are finished, over runs', async () => {
    const objects = new MemoryObjectStore();
    const first = new LocalWorkflowStarter(objects);
    await first.start('a', input);
    await first.start('b', other);
    const second = new LocalWorkflowStarter(objects);
    expect(await second.open()).toEqual([
      { name: 'a', input },
      { name: 'b', input: other },
    ]);
    await second.finish('a');
    expect(await first.open()).toEqual([{ name: 'b', input: other }]);
    expect(await first.start('a', input)).toBe('exists');
  });
});
