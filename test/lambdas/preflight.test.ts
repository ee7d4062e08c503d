import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FileObjectStore } from '../../adapters/local/file-object-store.ts';
import type { Prepared } from '../../core/diagnosis/stages.ts';
import {
  ConfigurationInvalidError,
  SessionInvalidError,
  SessionTooLargeError,
} from '../../core/errors/errors.ts';
import type { ModelLimits } from '../../core/model/port.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { getCarried, putJson } from '../../core/ports/carried.ts';
import { agentConstraintsKey, preparedKey } from '../../core/ports/object-keys.ts';
import { MAX_CHUNKS } from '../../core/ports/workflow.ts';
import { makePreflightHandler } from '../../lambdas/preflight/handler.ts';
import { message, said, session } from '../helpers/build-session.ts';

let folder: string;
let objects: FileObjectStore;
const LIMITS: ModelLimits = { contextTokens: 200_000, maxOutputTokens: 8000, tokenFactor: 1 };
const asked: string[] = [];
const handler = (limits = LIMITS) =>
  makePreflightHandler({
    objects,
    counter: makeTokenCounter(),
    models: ['none', 'x:y'],
    limitsOf: (spec) => {
      asked.push(spec);
      return limits;
    },
  });

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'rootspan-preflight-'));
  objects = new FileObjectStore(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const given = session([said(message('user', 'Hello'))]);
const event = (input: object): unknown => ({ executionName: 'run', input });
const KEY = 'sessions/session-1/hash.json.gz';

describe('preflight', () => {
  it('leaves the prepared session with the options of the session and the defaults of the rest', async () => {
    await putJson(objects, KEY, given);
    const input = { sessionId: 'session-1', sessionKey: KEY, model: 'x:y', options: { confidence: 'high' } };
    expect(await handler()(event(input))).toEqual({ sessionId: 'session-1', chunks: [0] });
    const prepared = await getCarried<Prepared>(objects, preparedKey('run'));
    expect(prepared).toMatchObject({
      session: given,
      modelSpec: 'x:y',
      options: { depth: 'standard', confidence: 'high', votes: 1, assumeFailed: false },
      notAnalysed: null,
    });
    expect(asked.at(-1)).toBe('x:y');
  });

  it("takes the constraints of the agent's team from the bucket, and refuses a file that cannot be used", async () => {
    const own = session([said(message('user', 'Hello'))], { agent: 'refund desk/1' });
    await putJson(objects, KEY.replace('hash', 'own'), own);
    const input = { sessionId: 'session-1', sessionKey: KEY.replace('hash', 'own') };
    const rule = { name: 'r', targets: ['invention'], kind: 'protocol', assertion: 'true', hint: 'h' };
    const put = (file: unknown) =>
      objects.put(agentConstraintsKey('refund desk/1'), new TextEncoder().encode(JSON.stringify(file)));
    await put({ version: 1, constraints: [rule] });
    await handler()(event(input));
    const prepared = await getCarried<Prepared>(objects, preparedKey('run'));
    expect(prepared?.options.constraints).toMatchObject([
      { name: 'r', assertion: 'true', severity: 'medium' },
    ]);
    await put({ version: 1, constraints: [{ ...rule, assertion: 'nope(' }] });
    await expect(handler()(event(input))).rejects.toThrow(ConfigurationInvalidError);
  });

  it('plans no chunk when no model is to be asked', async () => {
    await putJson(objects, KEY, given);
    const result = await handler()(event({ sessionId: 'session-1', sessionKey: KEY }));
    expect(result.chunks).toEqual([]);
    expect(asked.at(-1)).toBe('none');
  });

  it.each([
    [
      'holds another session',
      async () => putJson(objects, KEY, { ...given, sessionId: 'other' }),
      /holds the session [0-9a-f]{32} \(hash of its id\), expected [0-9a-f]{32}/,
    ],
    [
      'is not a session',
      async () => putJson(objects, KEY, { sessionId: 'session-1' }),
      /the session at .* is not as expected: format/,
    ],
    ['is not gzip', async () => objects.put(KEY, new TextEncoder().encode('{}')), /is not gzipped JSON/],
    [
      'is cut off',
      async () => {
        await putJson(objects, KEY, given);
        const bytes = (await objects.get(KEY)) ?? new Uint8Array();
        await objects.put(KEY, bytes.slice(0, bytes.length / 2));
      },
      /is not gzipped JSON/,
    ],
  ])('refuses an object that %s', async (_what, arrange, says) => {
    await arrange();
    const run = handler()(event({ sessionId: 'session-1', sessionKey: KEY }));
    await expect(run).rejects.toThrow(says);
    await expect(run).rejects.toBeInstanceOf(SessionInvalidError);
  });

  it('refuses a session that needs more chunks than one execution can carry', async () => {
    const long = session(
      Array.from({ length: MAX_CHUNKS * 3 }, (_, i) => said(message('user', `${i} ${'word '.repeat(600)}`))),
    );
    await putJson(objects, KEY, long);
    const small = { contextTokens: 9500, maxOutputTokens: 1000, tokenFactor: 1 };
    const run = handler(small)(event({ sessionId: 'session-1', sessionKey: KEY, model: 'x:y' }));
    await expect(run).rejects.toBeInstanceOf(SessionTooLargeError);
  }, 60_000);

  it.each([{}, { executionName: '', input: {} }, null, 'text', { executionName: 'x'.repeat(81), input: {} }])(
    'refuses the event %j by name',
    async (bad) => {
      await expect(handler()(bad)).rejects.toBeInstanceOf(SessionInvalidError);
    },
  );

  it('sends a session to no model that the stack does not name', async () => {
    await putJson(objects, KEY, given);
    const input = { sessionId: 'session-1', sessionKey: KEY };
    const elsewhere = handler()(event({ ...input, model: 'openai:m@https://elsewhere.example/v1' }));
    await expect(elsewhere).rejects.toBeInstanceOf(ConfigurationInvalidError);
    expect(await handler()(event({ ...input, model: 'none' }))).toEqual({
      sessionId: 'session-1',
      chunks: [],
    });
  });

  it('lets a wrong model spec through as the configuration fault that it is', async () => {
    await putJson(objects, KEY, given);
    const wrong = makePreflightHandler({
      objects,
      counter: makeTokenCounter(),
      models: ['none'],
      limitsOf: () => {
        throw new ConfigurationInvalidError('no such spec');
      },
    });
    await expect(wrong(event({ sessionId: 'session-1', sessionKey: KEY }))).rejects.toThrow('no such spec');
  });
});
