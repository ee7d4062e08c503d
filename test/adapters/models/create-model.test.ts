import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cachedModel } from '../../../adapters/models/cached.ts';
import { createModel, keepModels } from '../../../adapters/models/create-model.ts';
import { recordModel } from '../../../adapters/models/replay.ts';
import { retryingModel } from '../../../adapters/models/retrying.ts';
import { ErrorName } from '../../../core/errors/error-names.ts';
import { ModelAccessError, ModelThrottledError, ModelUnavailableError } from '../../../core/errors/errors.ts';
import type { ObjectStore } from '../../../core/ports/ports.ts';
import { sampleRequest } from '../../helpers/sample-request.ts';
import { scriptedModel } from '../../helpers/scripted-model.ts';
import { chatAnswer, chatError, startChatStub } from '../../helpers/stub-chat.ts';

async function makeFolder(): Promise<string> {
  const dir = await mkdtemp(path.join(tmpdir(), 'rootspan-models-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** Only what the cache uses; the rest throws. */
function memoryStore(): ObjectStore & { blobs: Map<string, Uint8Array> } {
  const blobs = new Map<string, Uint8Array>();
  const unused = () => {
    throw new Error('the cache does not use this');
  };
  return {
    blobs,
    get: async (key) => blobs.get(key) ?? null,
    put: async (key, bytes) => void blobs.set(key, bytes),
    putIfAbsent: unused,
    list: unused,
  };
}

describe('none', () => {
  it('never answers', async () => {
    const model = await createModel('none');
    await expect(model.ask(sampleRequest())).rejects.toMatchObject({ name: ErrorName.ConfigurationInvalid });
  });
});

describe('createModel', () => {
  it('refuses a bad spec', async () => {
    await expect(createModel('gpt')).rejects.toMatchObject({ name: ErrorName.ConfigurationInvalid });
  });

  it('does not load the AWS SDK for a model that does not need it', async () => {
    const file = path.resolve(import.meta.dirname, '../../../adapters/models/create-model.ts');
    const script = `
      import { registerHooks } from 'node:module';
      registerHooks({ resolve(name, context, next) { if (name.startsWith('@aws-sdk')) console.log('loaded'); return next(name, context); } });
      const { createModel } = await import(${JSON.stringify(file)});
      for (const spec of ['none', 'batch:x', 'replay:x', 'openai:m@http://127.0.0.1/v1']) await createModel(spec);
      console.log('before bedrock');
      await createModel('bedrock:m');`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    expect(stdout.split('before bedrock')[0]).not.toContain('loaded');
    expect(stdout.split('before bedrock')[1]).toContain('loaded');
  });

  it('is made once for each spec where models are kept', async () => {
    const modelFor = keepModels({});
    expect(await modelFor('replay:a')).toBe(await modelFor('replay:a'));
    expect(await modelFor('replay:a')).not.toBe(await modelFor('replay:b'));
  });

  it('retries and caches where told to', async () => {
    const server = await startChatStub([chatError(429, 'slow down'), chatAnswer('{"ok":true}')]);
    onTestFinished(() => server.close());
    const waits: number[] = [];
    const cache = memoryStore();
    const spec = `openai:m@${server.url}/v1`;
    const deps = { cache, retry: { sleep: async (ms: number) => void waits.push(ms), random: () => 1 } };
    const answer = await (await createModel(spec, deps)).ask(sampleRequest());
    expect(answer).toMatchObject({ text: '{"ok":true}', cached: false });
    expect(waits).toEqual([2000]);
    expect([...cache.blobs.keys()]).toEqual([`cache/${answer.requestHash}.json`]);
    const again = await (await createModel(spec, deps)).ask(sampleRequest());
    expect(again).toEqual({ ...answer, cached: true });
    expect(server.requests).toHaveLength(2);
  });
});

describe('the response cache', () => {
  it('asks once when equal requests run together', async () => {
    const model = cachedModel(scriptedModel(['{"ok":true}']), memoryStore());
    const answers = await Promise.all([model.ask(sampleRequest()), model.ask(sampleRequest())]);
    expect(answers.map(({ cached }) => cached)).toEqual([false, true]);
  });

  it('keeps votes apart', async () => {
    const model = cachedModel(scriptedModel(['{"a":1}', '{"a":2}']), memoryStore());
    const answers = [
      await model.ask(sampleRequest({ sample: 0 })),
      await model.ask(sampleRequest({ sample: 1 })),
    ];
    expect(answers.map(({ text }) => text)).toEqual(['{"a":1}', '{"a":2}']);
  });

  it('does not remember errors', async () => {
    const model = cachedModel(scriptedModel([new ModelThrottledError('x'), '{}']), memoryStore());
    await expect(model.ask(sampleRequest())).rejects.toThrow(ModelThrottledError);
    expect((await model.ask(sampleRequest())).text).toBe('{}');
  });

  it.each(['', '{"version":0}', '{"version":1,"answer":{"text":""}}', 'not json'])(
    'replaces an entry it cannot read: %s',
    async (text) => {
      const store = memoryStore();
      const first = await cachedModel(scriptedModel(['{}']), store).ask(sampleRequest());
      const key = `cache/${first.requestHash}.json`;
      const good = store.blobs.get(key);
      store.blobs.set(key, new TextEncoder().encode(text));
      await cachedModel(scriptedModel(['{}']), store).ask(sampleRequest());
      expect(store.blobs.get(key)).toEqual(good);
    },
  );
});

describe('retries locally', () => {
  const deps = (waits: number[], random = 1) => ({
    sleep: async (ms: number) => void waits.push(ms),
    random: () => random,
  });

  it('wait longer each time, with jitter, and end', async () => {
    const waits: number[] = [];
    const model = scriptedModel([{ reply: new ModelUnavailableError('down'), times: 5 }]);
    await expect(retryingModel(model, deps(waits)).ask(sampleRequest())).rejects.toThrow('down');
    expect(waits).toEqual([2000, 4000, 8000, 16_000]);
    const soon: number[] = [];
    const other = scriptedModel([new ModelThrottledError('x'), '{}']);
    await retryingModel(other, deps(soon, 0)).ask(sampleRequest());
    expect(soon).toEqual([1000]);
  });

  it('are not made for errors that time does not cure, nor for unknown ones', async () => {
    for (const error of [new ModelAccessError('no'), new TypeError('bug')]) {
      const waits: number[] = [];
      const model = scriptedModel([error]);
      await expect(retryingModel(model, deps(waits)).ask(sampleRequest())).rejects.toBe(error);
      expect(waits).toEqual([]);
    }
  });
});

describe('replay', () => {
  it('repeats what was recorded from any model, and throws on what was not', async () => {
    const dir = path.join(await makeFolder(), 'recordings');
    const recorded = await recordModel(scriptedModel(['{"ok":true}']), dir).ask(sampleRequest());
    const replay = await createModel(`replay:${dir}`);
    const answer = await replay.ask(sampleRequest());
    expect(answer).toMatchObject({ text: '{"ok":true}', usage: recorded.usage, model: 'scripted' });
    await expect(replay.ask(sampleRequest({ sample: 1 }))).rejects.toMatchObject({
      name: ErrorName.ConfigurationInvalid,
      message: expect.stringContaining('no recording of this request (analyze-chunks, detect-1)'),
    });
    expect(await readdir(dir)).toHaveLength(1);
  });

  it('names a recording that is none', async () => {
    const dir = await makeFolder();
    await recordModel(scriptedModel(['{}']), dir).ask(sampleRequest());
    const file = path.join(dir, (await readdir(dir))[0] ?? '');
    await writeFile(file, '{}');
    await expect((await createModel(`replay:${dir}`)).ask(sampleRequest())).rejects.toThrow(
      'is not a recording',
    );
  });
});
