import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createModel } from '../../../adapters/models/create-model.ts';
import { canonicalJson, sha256Hex } from '../../../core/base/hash.ts';
import { ErrorName } from '../../../core/errors/error-names.ts';
import { ModelPendingError } from '../../../core/errors/errors.ts';
import { askForJson } from '../../../core/model/ask-for-json.ts';
import type { ModelRequest } from '../../../core/model/port.ts';
import { sampleRequest } from '../../helpers/sample-request.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'rootspan-batch-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const recordSchema = z.strictObject({ recordId: z.string(), modelInput: z.record(z.string(), z.json()) });

async function requestLines(): Promise<z.infer<typeof recordSchema>[]> {
  const text = await readFile(path.join(dir, 'requests.jsonl'), 'utf8');
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => recordSchema.parse(JSON.parse(line)));
}

const ask = async (request: ModelRequest) => (await createModel(`batch:${dir}`)).ask(request);
const numbered = (n: number) => sampleRequest({ user: [{ text: `question ${n}` }] });

async function hashOf(request: ModelRequest): Promise<string> {
  const error = await ask(request).catch((caught: unknown) => caught);
  if (!(error instanceof ModelPendingError)) throw error;
  return error.requestHashes[0]!;
}

async function respond(...lines: unknown[]): Promise<void> {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  await writeFile(path.join(dir, 'responses.jsonl'), `${text}\n`);
}

const converse = (text: string, stopReason = 'end_turn') => ({
  output: { message: { role: 'assistant', content: [{ reasoningContent: {} }, { text }] } },
  stopReason,
  usage: { inputTokens: 10, outputTokens: 5 },
});

describe('an open request', () => {
  it('is written once, in the form of a Bedrock batch job, and rejects as pending', async () => {
    await expect(ask(sampleRequest({ system: 'Be exact.' }))).rejects.toMatchObject({
      name: ErrorName.ModelPending,
      requestHashes: [expect.stringMatching(/^[0-9a-f]{64}$/)],
    });
    await expect(ask(sampleRequest({ system: 'Be exact.' }))).rejects.toThrow('waits in');
    const [line, ...others] = await requestLines();
    expect(others).toEqual([]);
    expect(line?.recordId).toBe(sha256Hex(canonicalJson(line?.modelInput)));
    expect(Object.keys(line?.modelInput ?? {}).sort()).toEqual([
      'inferenceConfig',
      'messages',
      'outputConfig',
      'system',
    ]);
    expect(line?.modelInput).toMatchObject({
      messages: [{ role: 'user', content: [{ text: 'What went wrong in this session?' }, {}] }],
      inferenceConfig: { maxTokens: 500 },
      outputConfig: { textFormat: { structure: { jsonSchema: { schema: expect.any(String) } } } },
    });
  });

  it('is written once among concurrent calls of several models on one folder', async () => {
    const models = await Promise.all(Array.from({ length: 5 }, () => createModel(`batch:${dir}`)));
    const calls = models.flatMap((model) => Array.from({ length: 8 }, (_, n) => model.ask(numbered(n))));
    const results = await Promise.allSettled(calls);
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    const ids = (await requestLines()).map(({ recordId }) => recordId);
    expect(ids).toHaveLength(8);
    expect(new Set(ids).size).toBe(8);
  });

  it('is written once among processes', async () => {
    const script = `
      import { createModel } from ${JSON.stringify(path.resolve(import.meta.dirname, '../../../adapters/models/create-model.ts'))};
      import { sampleRequest } from ${JSON.stringify(path.resolve(import.meta.dirname, '../../helpers/sample-request.ts'))};
      const model = await createModel('batch:' + process.argv[1]);
      await Promise.allSettled(Array.from({ length: 20 }, (_, n) => model.ask(sampleRequest({ user: [{ text: 'question ' + n }] }))));`;
    await Promise.all(
      Array.from({ length: 3 }, async () => {
        const child = spawn(process.execPath, ['--input-type=module', '-e', script, dir], {
          stdio: 'inherit',
        });
        const [code] = await once(child, 'exit');
        expect(code).toBe(0);
      }),
    );
    const ids = (await requestLines()).map(({ recordId }) => recordId);
    expect(ids).toHaveLength(20);
    expect(new Set(ids).size).toBe(20);
  });

  it('is distinct by vote, and only by vote', async () => {
    const hashes = [undefined, 0, 1, 2].map((sample) =>
      hashOf(sampleRequest(sample === undefined ? {} : { sample })),
    );
    const [none, zero, one, two] = await Promise.all(hashes);
    expect(none).toBe(zero);
    expect(new Set([zero, one, two]).size).toBe(3);
  });

  it('has the same hash in another folder', async () => {
    const here = await hashOf(sampleRequest());
    await rm(dir, { recursive: true });
    dir = await mkdtemp(path.join(tmpdir(), 'rootspan-elsewhere-'));
    expect(await hashOf(sampleRequest())).toBe(here);
  });

  it('follows a line that a dying process left half-written', async () => {
    await hashOf(numbered(1));
    await appendFile(path.join(dir, 'requests.jsonl'), '{"recordId":"dead","modelIn');
    await hashOf(numbered(2));
    expect(await requestLines()).toHaveLength(2);
  });

  it('does not wait for a lock that a dead process left', async () => {
    const lock = path.join(dir, 'requests.jsonl.lock');
    await writeFile(lock, '');
    await utimes(lock, new Date(0), new Date(0));
    await hashOf(numbered(1));
    expect(await requestLines()).toHaveLength(1);
  });
});

describe('answers', () => {
  it('are found in any order, among others and among duplicates', async () => {
    const [a, b, c] = await Promise.all([hashOf(numbered(1)), hashOf(numbered(2)), hashOf(numbered(3))]);
    await respond(
      { recordId: c, modelOutput: converse('three') },
      { recordId: 'of-somebody-else', modelOutput: converse('x') },
      { modelInput: {}, recordId: a, modelOutput: converse('one') },
      { recordId: a, modelOutput: converse('one again') },
    );
    expect((await ask(numbered(1))).text).toBe('one');
    expect((await ask(numbered(3))).text).toBe('three');
    await expect(ask(numbered(2))).rejects.toMatchObject({
      name: ErrorName.ModelPending,
      requestHashes: [b],
    });
    expect(await requestLines()).toHaveLength(3);
  });

  it('are seen by a model that was already open', async () => {
    const model = await createModel(`batch:${dir}`);
    await expect(model.ask(numbered(1))).rejects.toThrow(ModelPendingError);
    const recordId = await hashOf(numbered(1));
    await respond({ recordId, modelOutput: 'now' });
    expect((await model.ask(numbered(1))).text).toBe('now');
    await respond({ recordId, modelOutput: 'and then' });
    expect((await model.ask(numbered(1))).text).toBe('and then');
  });

  it.each([
    ['a Converse response', converse('{"ok":true}'), 5],
    [
      'an Anthropic message',
      {
        type: 'message',
        model: 'claude-sonnet-4-6',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: '{"ok":true}' },
        ],
        stop_reason: 'end_turn',
        usage: { input_tokens: 10, output_tokens: 5 },
      },
      5,
    ],
    [
      'a chat completion',
      {
        model: 'm',
        choices: [
          { index: 0, message: { role: 'assistant', content: '{"ok":true}' }, finish_reason: 'stop' },
        ],
        usage: { prompt_tokens: 10, completion_tokens: 5 },
      },
      5,
    ],
    ['a chat completion without usage', { choices: [{ message: { content: '{"ok":true}' } }] }, 0],
    [
      'a Converse response without stop reason and usage',
      { output: { message: { content: [{ text: '{"ok":true}' }] } } },
      0,
    ],
    ['a bare string', '{"ok":true}', 0],
  ])('may be %s', async (_, modelOutput, outputTokens) => {
    await respond({ recordId: await hashOf(sampleRequest()), modelOutput });
    const answer = await ask(sampleRequest());
    expect(answer).toMatchObject({
      text: '{"ok":true}',
      outputMode: 'text',
      usage: { outputTokens, calls: 1 },
    });
  });

  it('cost half of the list price where the model is known', async () => {
    const modelOutput = {
      model: 'claude-sonnet-4-6',
      content: [{ type: 'text', text: '{}' }],
      usage: { input_tokens: 1000, output_tokens: 100 },
    };
    await respond({ recordId: await hashOf(sampleRequest()), modelOutput });
    expect((await ask(sampleRequest())).usage.costUsd).toBeCloseTo((1000 * 3 + 100 * 15) / 2 / 1e6, 12);
  });

  it.each([
    ['max_tokens', converse('{"ok":', 'max_tokens'), 'cut'],
    ['guardrail', converse('no', 'guardrail_intervened'), 'blocked'],
    ['an empty text', converse(''), 'empty'],
    ['an empty string', '', 'empty'],
    ['length', { choices: [{ message: { content: '{' }, finish_reason: 'length' }] }, 'cut'],
    ['a shape nobody knows', { answer: 42 }, 'malformed'],
    ['an empty object', {}, 'malformed'],
  ])('that end badly are errors: %s', async (_, modelOutput, defect) => {
    await respond({ recordId: await hashOf(sampleRequest()), modelOutput });
    await expect(ask(sampleRequest())).rejects.toMatchObject({ name: ErrorName.ModelOutputInvalid, defect });
  });

  it.each([
    [{ errorCode: 429, errorMessage: 'Too many requests' }, ErrorName.ModelThrottled],
    [{ errorCode: 400, errorMessage: 'Input is too long for requested model.' }, ErrorName.ContextOverflow],
    [{ errorCode: 'InternalServerException', errorMessage: 'Failed' }, ErrorName.ModelUnavailable],
    [{ errorCode: 403, errorMessage: 'no' }, ErrorName.ModelAccess],
    [{}, ErrorName.ConfigurationInvalid],
  ])('may be error records: %j', async (error, name) => {
    await respond({ recordId: await hashOf(sampleRequest()), error });
    await expect(ask(sampleRequest())).rejects.toMatchObject({ name });
  });

  it('overcome an earlier error record', async () => {
    const recordId = await hashOf(sampleRequest());
    await respond(
      { recordId, error: { errorCode: 500, errorMessage: 'x' } },
      { recordId, modelOutput: 'fine' },
    );
    expect((await ask(sampleRequest())).text).toBe('fine');
  });

  it('in lines that cannot be read stay open, and the message says which', async () => {
    const recordId = await hashOf(sampleRequest());
    await respond('not json', { recordId }, { recordId: 'x', modelOutput: 'y' });
    await expect(ask(sampleRequest())).rejects.toMatchObject({
      name: ErrorName.ModelPending,
      message: expect.stringContaining('line 1, 2 of it'),
    });
  });

  it('whose last line is still being written are open', async () => {
    const recordId = await hashOf(sampleRequest());
    const line = JSON.stringify({ recordId, modelOutput: 'fine' });
    await writeFile(path.join(dir, 'responses.jsonl'), line.slice(0, -5));
    await expect(ask(sampleRequest())).rejects.toThrow(ModelPendingError);
    await writeFile(path.join(dir, 'responses.jsonl'), line);
    expect((await ask(sampleRequest())).text).toBe('fine');
  });
});

it('a repair goes round as a request of its own', async () => {
  const schema = z.object({ ok: z.boolean() });
  const run = async () => askForJson(await createModel(`batch:${dir}`), sampleRequest(), schema);
  await expect(run()).rejects.toThrow(ModelPendingError);
  const first = (await requestLines())[0]?.recordId;
  await respond({ recordId: first, modelOutput: 'It was fine.' });
  await expect(run()).rejects.toThrow(ModelPendingError);
  const second = (await requestLines())[1]?.recordId;
  await respond(
    { recordId: second, modelOutput: '{"ok":true}' },
    { recordId: first, modelOutput: 'It was fine.' },
  );
  expect(await run()).toMatchObject({ value: { ok: true }, repaired: true });
  expect(await requestLines()).toHaveLength(2);
});
