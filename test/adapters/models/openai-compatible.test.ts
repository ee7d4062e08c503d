import { afterEach, describe, expect, it } from 'vitest';
import { createModel } from '../../../adapters/models/create-model.ts';
import { ErrorName } from '../../../core/errors/error-names.ts';
import type { Model } from '../../../core/model/port.ts';
import { sampleRequest } from '../../helpers/sample-request.ts';
import { chatAnswer, chatError, startChatStub } from '../../helpers/stub-chat.ts';
import type { StubScript, StubServer } from '../../helpers/stub-server.ts';

let server: StubServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function serve(script: StubScript, openaiApiKey?: string, timeoutMs = 5000): Promise<Model> {
  server = await startChatStub(script);
  return createModel(`openai:qwen3@${server.url}/v1/`, {
    timeoutMs,
    ...(openaiApiKey === undefined ? {} : { openaiApiKey }),
  });
}

function bodies(): Record<string, unknown>[] {
  return server?.requests.map(({ body }) => body) ?? [];
}

function formats(): unknown[] {
  return bodies().map(({ response_format: format }) =>
    typeof format === 'object' && format !== null && 'type' in format ? format.type : 'plain',
  );
}

it('a redirect takes neither the session nor the key elsewhere', async () => {
  const model = await serve(
    [
      { status: 307, json: {}, headers: { location: '/elsewhere' } },
      { status: 307, json: {}, headers: { location: '/elsewhere' } },
      { status: 307, json: {}, headers: { location: '/elsewhere' } },
    ],
    'secret',
  );
  await expect(model.ask(sampleRequest())).rejects.toMatchObject({ retryable: false });
  expect(new Set(server?.requests.map(({ path }) => path))).toEqual(new Set(['/v1/chat/completions']));
});

describe('an answer', () => {
  it('comes with usage, the served model and no made-up price', async () => {
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 800 },
    };
    const model = await serve([chatAnswer('{"ok":true}', { usage })], 'secret');
    expect(await model.ask(sampleRequest({ system: 'Be exact.' }))).toMatchObject({
      text: '{"ok":true}',
      model: 'served-model',
      outputMode: 'native-schema',
      usage: { inputTokens: 200, cacheReadTokens: 800, outputTokens: 50, costUsd: null, calls: 1 },
    });
    expect(server?.requests[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer secret' },
      body: {
        model: 'qwen3',
        max_tokens: 500,
        messages: [{ role: 'system', content: 'Be exact.' }, { role: 'user' }],
        response_format: { type: 'json_schema', json_schema: { name: 'verdict', strict: true } },
      },
    });
  });

  it('sends no authorization without a key', async () => {
    const model = await serve([chatAnswer('{}')]);
    await model.ask(sampleRequest());
    expect(server?.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it('has an unknown cost when the server reports no usage', async () => {
    const model = await serve([chatAnswer('{}', { usage: null })]);
    expect((await model.ask(sampleRequest())).usage).toMatchObject({
      inputTokens: 0,
      costUsd: null,
      calls: 1,
    });
  });
});

describe('a server that takes less', () => {
  it('is asked with a schema, then for JSON, then plainly; what worked is remembered', async () => {
    const model = await serve([
      chatError(400, "'response_format.type' must be 'json_object'"),
      chatError(422, 'Extra inputs are not permitted: response_format'),
      chatAnswer('{"ok":true}'),
      chatAnswer('{"ok":true}'),
    ]);
    expect((await model.ask(sampleRequest())).outputMode).toBe('text');
    expect((await model.ask(sampleRequest())).outputMode).toBe('text');
    expect(formats()).toEqual(['json_schema', 'json_object', 'plain', 'plain']);
    // The form is in the prompt as well, so that the last output mode can know it.
    expect(JSON.stringify(bodies()[2])).toContain('additionalProperties');
  });

  it('gets the token limit under its other name', async () => {
    const model = await serve([
      chatError(
        400,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      ),
      chatAnswer('{}'),
      chatAnswer('{}'),
    ]);
    await model.ask(sampleRequest());
    await model.ask(sampleRequest());
    expect(bodies().map((body) => [body.max_tokens, body.max_completion_tokens])).toEqual([
      [500, undefined],
      [undefined, 500],
      [undefined, 500],
    ]);
    expect(formats()).toEqual(['json_schema', 'json_schema', 'json_schema']);
  });

  it('whose refusal nothing cures reports its first', async () => {
    const model = await serve([chatError(400, 'first'), chatError(400, 'second'), chatError(400, 'third')]);
    await expect(model.ask(sampleRequest())).rejects.toMatchObject({
      name: ErrorName.ConfigurationInvalid,
      message: expect.stringContaining('first'),
    });
  });
});

describe('a bad end is an error and not an answer', () => {
  it.each([
    ['cut', chatAnswer('{"ok"', { finish: 'length' })],
    ['blocked', chatAnswer('', { finish: 'content_filter' })],
    ['refused', chatAnswer(null, { refusal: 'I will not.' })],
    ['empty', chatAnswer(null)],
    ['malformed', { json: { id: 'no choices' } }],
    ['malformed', { json: '<html>' }],
  ] as const)('%s', async (defect, reply) => {
    const model = await serve([reply]);
    await expect(model.ask(sampleRequest())).rejects.toMatchObject({
      name: ErrorName.ModelOutputInvalid,
      defect,
    });
  });
});

describe('a failed call has a named error', () => {
  it.each([
    [
      '429',
      chatError(429, 'Rate limit reached for requests', 'rate_limit_exceeded'),
      ErrorName.ModelThrottled,
    ],
    [
      '429 for a request over the quota',
      chatError(429, 'Request too large for gpt-4o on tokens per min (TPM)'),
      ErrorName.ContextOverflow,
    ],
    [
      '429 without money',
      chatError(429, 'You exceeded your current quota, please check your plan', 'insufficient_quota'),
      ErrorName.ModelAccess,
    ],
    [
      '400 overflow by code',
      chatError(400, 'Too long.', 'context_length_exceeded'),
      ErrorName.ContextOverflow,
    ],
    [
      '400 overflow by wording',
      chatError(400, "This model's maximum context length is 8192 tokens. However, you requested 9000"),
      ErrorName.ContextOverflow,
    ],
    [
      '400 of llama.cpp',
      chatError(400, 'the request exceeds the available context size'),
      ErrorName.ContextOverflow,
    ],
    ['413', { status: 413, json: 'Payload Too Large' }, ErrorName.ContextOverflow],
    ['401', chatError(401, 'Incorrect API key provided', 'invalid_api_key'), ErrorName.ModelAccess],
    ['404', chatError(404, 'The model `qwen3` does not exist', 'model_not_found'), ErrorName.ModelAccess],
    ['500', { status: 500, json: 'Internal Server Error' }, ErrorName.ModelUnavailable],
    ['503', chatError(503, 'The engine is overloaded'), ErrorName.ModelUnavailable],
    [
      '200 with a 429 inside',
      { json: { error: { code: 429, message: 'Provider returned error' } } },
      ErrorName.ModelThrottled,
    ],
    [
      '200 with an error inside',
      { json: { error: { message: 'Upstream broke' } } },
      ErrorName.ModelUnavailable,
    ],
    ['a dropped connection', 'drop', ErrorName.ModelUnavailable],
  ] as const)('%s', async (_, reply, name) => {
    const model = await serve([reply]);
    await expect(model.ask(sampleRequest())).rejects.toMatchObject({ name });
    expect(server?.requests).toHaveLength(1);
  });

  it('no answer in time is unavailable', async () => {
    const model = await serve(['hang'], undefined, 100);
    await expect(model.ask(sampleRequest())).rejects.toMatchObject({ name: ErrorName.ModelUnavailable });
  });

  it('nobody listening is unavailable, with the reason', async () => {
    const model = await serve([]);
    await server?.close();
    await expect(model.ask(sampleRequest())).rejects.toMatchObject({
      name: ErrorName.ModelUnavailable,
      message: expect.stringContaining('ECONNREFUSED'),
    });
    server = undefined;
  });
});
