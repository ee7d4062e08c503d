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
import type { SessionIndex, TimerQueue, WorkflowStarter } from '../../core/ports/ingest-ports.ts';
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
  const closing = { closedAt: 9, closedHash: 'h', closings: 1, ownedBy: null, skipped: null };

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

  it('the first touch makes an open session without a timer', async () => {
    const { index, s } = fresh();
    const state = await index.touch(s, { at: 5, batch: 'b' });
    expect(state).toEqual({
      sessionId: s,
      firstSeen: 5,
      lastSeen: 5,
      lastBatch: 'b',
      open: true,
      timer: null,
      closedAt: null,
      closedHash: null,
      closings: 0,
      ownedBy: null,
      skipped: null,
    });
    expect(await index.state(s)).toEqual(state);
  });

  it('time moves forward only, but a late clock still shows that something arrived', async () => {
    const { index, s } = fresh();
    await index.touch(s, { at: 5, batch: 'a' });
    expect(await index.touch(s, { at: 8, batch: 'b' })).toMatchObject({
      firstSeen: 5,
      lastSeen: 8,
      lastBatch: 'b',
    });
    expect(await index.touch(s, { at: 3, batch: 'c' })).toMatchObject({
      firstSeen: 5,
      lastSeen: 8,
      lastBatch: 'c',
    });
  });

  it('of two timers armed at once the first counts', async () => {
    const { index, s } = fresh();
    await index.touch(s, { at: 5, batch: 'a' });
    await index.markArmed(s, 'one');
    await index.markArmed(s, 'two');
    expect(await index.state(s)).toMatchObject({ timer: 'one', open: true });
  });

  it.each([
    ['a later arrival', { at: 8, batch: 'a' }],
    ['an arrival in the same millisecond', { at: 5, batch: 'b' }],
    ['an arrival by a late clock', { at: 2, batch: 'b' }],
  ])('a closing that %s overtook ends nothing', async (_what, arrival) => {
    const { index, s } = fresh();
    const seen = await index.touch(s, { at: 5, batch: 'a' });
    await index.markArmed(s, 'one');
    await index.touch(s, arrival);
    expect(await index.markClosed(s, seen, closing)).toBe(false);
    expect(await index.state(s)).toMatchObject({ open: true, timer: 'one', closedHash: null });
  });

  it('a closed session has no timer, and the next arrival opens it and arms a new one', async () => {
    const { index, s } = fresh();
    const seen = await index.touch(s, { at: 5, batch: 'a' });
    await index.markArmed(s, 'one');
    expect(await index.markClosed(s, seen, closing)).toBe(true);
    expect(await index.state(s)).toMatchObject({ ...closing, open: false, timer: null });
    expect(await index.touch(s, { at: 9, batch: 'b' })).toMatchObject({
      open: true,
      timer: null,
      closings: 1,
    });
    await index.markArmed(s, 'two');
    expect(await index.state(s)).toMatchObject({ timer: 'two' });
  });

  it('lists what has a timer on its way, oldest arrival first', async () => {
    const { index, s } = fresh();
    for (const [name, at] of [
      ['late', 30],
      ['early', 10],
      ['unarmed', 5],
      ['closed', 7],
    ] as const) {
      const seen = await index.touch(`${s}-${name}`, { at, batch: 'a' });
      if (name !== 'unarmed') await index.markArmed(`${s}-${name}`, 't');
      if (name === 'closed') await index.markClosed(`${s}-${name}`, seen, closing);
    }
    const pending: string[] = [];
    for await (const state of index.pending())
      if (state.sessionId.startsWith(`${s}-`)) pending.push(state.sessionId);
    expect(pending).toEqual([`${s}-early`, `${s}-late`]);
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
    const timer = { sessionId: 's', token: 't', idleSeconds: 1800 };
    await queue.arm(timer, 900);
    await queue.arm({ sessionId: 'u', token: 't' }, 0);
    expect(sent()).toEqual([
      { timer, delay: 900 },
      { timer: { sessionId: 'u', token: 't' }, delay: 0 },
    ]);
  });

  it.each([901, 54_524, -1, 1.5, Number.NaN])(
    'refuses DelaySeconds %d, which must be 0 to 900',
    async (delay) => {
      const { queue, sent } = open();
      await expect(queue.arm({ sessionId: 's', token: 't' }, delay)).rejects.toThrow(/DelaySeconds/);
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
