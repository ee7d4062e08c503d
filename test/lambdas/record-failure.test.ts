import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FileObjectStore } from '../../adapters/local/file-object-store.ts';
import { DEFAULT_OPTIONS } from '../../core/diagnosis/options.ts';
import type { ChunkResult } from '../../core/diagnosis/stages.ts';
import { ErrorName } from '../../core/errors/error-names.ts';
import { SessionInvalidError } from '../../core/errors/errors.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { getCarried, putJson } from '../../core/ports/carried.ts';
import { chunkResultKey, preparedKey } from '../../core/ports/object-keys.ts';
import type { ExecutionFailure } from '../../core/ports/ports.ts';
import { preflight } from '../../core/stages/pipeline.ts';
import { makeRecordFailureHandler } from '../../lambdas/record-failure/handler.ts';
import { message, said, session } from '../helpers/build-session.ts';

let folder: string;
let objects: FileObjectStore;
const rows: ExecutionFailure[] = [];
const record = (event: unknown): Promise<unknown> =>
  makeRecordFailureHandler({
    objects,
    failures: {
      record: async (row) => void rows.push(row),
      ofSession: () => Promise.reject(new Error('not asked for in this test')),
    },
    clock: { now: () => 0 },
  })(event);

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'rootspan-record-'));
  objects = new FileObjectStore(folder);
  const prepared = preflight(
    session([said(message('user', 'a')), said(message('user', 'b'))]),
    DEFAULT_OPTIONS,
    {
      counter: makeTokenCounter(),
      limits: { contextTokens: 200_000, maxOutputTokens: 8000, tokenFactor: 1 },
      modelSpec: 'x:y',
    },
  );
  await putJson(objects, preparedKey('run'), prepared);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a chunk given up on', () => {
  it.each([
    [
      {
        Error: ErrorName.ModelThrottled,
        Cause: JSON.stringify({ errorMessage: 'too many', errorType: 'x' }),
      },
      'model-throttled: too many',
    ],
    [{ Error: 'States.Timeout', Cause: '' }, 'fault: States.Timeout'],
    [{ Error: 'Sandbox.Timedout', Cause: 'Task timed out' }, 'fault: Sandbox.Timedout: Task timed out'],
    [{ Error: 'Lambda.Unknown', Cause: '{"half": ' }, 'fault: Lambda.Unknown: {"half": '],
    [{ Error: ErrorName.BudgetExhausted }, 'budget-exhausted'],
  ])('%j leaves a result with all its spans as a gap: %s', async (error, reason) => {
    await record({ what: 'chunk', executionName: 'run', index: 0, error });
    const result = await getCarried<ChunkResult>(objects, chunkResultKey('run', 0));
    expect(result).toMatchObject({
      index: 0,
      state: 'not_analyzed',
      reason,
      spanIdsSeen: [],
      gaps: [{ reason, spanIds: ['span-1', 'span-2'] }],
    });
  });

  it('of an index that was never planned is refused', async () => {
    const event = { what: 'chunk', executionName: 'run', index: 7, error: { Error: 'x' } };
    await expect(record(event)).rejects.toBeInstanceOf(SessionInvalidError);
  });
});

describe('an execution that failed', () => {
  it('makes a row even of an input that is the fault itself, and cuts a long cause', async () => {
    const error = { Error: ErrorName.SessionInvalid, Cause: 'x'.repeat(10_000) };
    await record({ what: 'execution', executionName: 'run-1', input: 'nonsense', error });
    expect(rows.at(-1)).toEqual({
      sessionId: 'run-1',
      sessionKey: null,
      executionName: 'run-1',
      errorName: ErrorName.SessionInvalid,
      message: 'x'.repeat(2000),
      at: '1970-01-01T00:00:00.000Z',
    });
  });

  it('keeps no credential of its cause', async () => {
    const error = { Error: 'TypeError', Cause: 'cannot read password=hunter2x of undefined' };
    await record({ what: 'execution', executionName: 'run-2', input: 'nonsense', error });
    expect(rows.at(-1)).toMatchObject({
      message: 'cannot read password=[credential-1 password] of undefined',
    });
  });
});
