import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createModel } from '../../../adapters/models/create-model.ts';
import { ErrorName } from '../../../core/errors/error-names.ts';
import type { Model } from '../../../core/model/port.ts';
import { sampleRequest } from '../../helpers/sample-request.ts';
import { converseAnswer, converseError, startConverseStub } from '../../helpers/stub-converse.ts';
import type { StubScript, StubServer } from '../../helpers/stub-server.ts';

let server: StubServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const SONNET_46 = 'global.anthropic.claude-sonnet-4-6';
const SONNET_55 = 'global.anthropic.claude-sonnet-5-5';

async function serve(script: StubScript, modelId = SONNET_46, timeoutMs = 5000): Promise<Model> {
  server = await startConverseStub(script);
  return createModel(`bedrock:${modelId}`, {
    timeoutMs,
    bedrock: {
      region: 'us-east-1',
      endpoint: server.url,
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    },
  });
}

function bodies(): Record<string, unknown>[] {
  return server?.requests.map(({ body }) => body) ?? [];
}

describe('an answer', () => {
  it('comes over HTTP/2 with usage, cost, output mode and hash', async () => {
    const usage = {
      inputTokens: 1000,
      outputTokens: 100,
      totalTokens: 31_100,
      cacheReadInputTokens: 20_000,
      cacheWriteInputTokens: 10_000,
    };
    const model = await serve([converseAnswer('{"ok":true}', { usage })]);
    const answer = await model.ask(sampleRequest());
    expect(answer).toMatchObject({
      text: '{"ok":true}',
      model: SONNET_46,
      outputMode: 'native-schema',
      cached: false,
      usage: {
        inputTokens: 1000,
        outputTokens: 100,
        cacheReadTokens: 20_000,
        cacheWriteTokens: 10_000,
        calls: 1,
      },
    });
    // 3 and 15 USD a million: (1000 + 20000/10 + 10000*1.25) in, 100 out.
    expect(answer.usage.costUsd).toBeCloseTo((15_500 * 3 + 100 * 15) / 1e6, 12);
    expect(answer.requestHash).toMatch(/^[0-9a-f]{64}$/);
    expect(server?.requests[0]?.path).toBe(`/model/${encodeURIComponent(SONNET_46)}/converse`);
    expect(bodies()[0]).toMatchObject({
      inferenceConfig: { maxTokens: 500, temperature: 0 },
      outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema: { name: 'verdict' } } } },
    });
    expect(bodies()[0]).not.toHaveProperty('toolConfig');
  });

  it('leaves sampling to votes, and away from models that refuse it', async () => {
    const voter = await serve([converseAnswer('{}')]);
    await voter.ask(sampleRequest({ sample: 1 }));
    expect(bodies()[0]?.inferenceConfig).toEqual({ maxTokens: 500 });
    await server?.close();
    const newer = await serve([converseAnswer('{}')], SONNET_55);
    await newer.ask(sampleRequest());
    expect(bodies()[0]?.inferenceConfig).toEqual({ maxTokens: 500 });
  });

  it('has a cache point only behind a marked prefix that is long enough', async () => {
    const model = await serve([converseAnswer('{}'), converseAnswer('{}')]);
    await model.ask(sampleRequest({ user: [{ text: 'short', cache: true }, { text: 'question' }] }));
    await model.ask(sampleRequest({ user: [{ text: 'x'.repeat(9000), cache: true }, { text: 'question' }] }));
    const points = bodies().map((body) => JSON.stringify(body).split('cachePoint').length - 1);
    expect(points).toEqual([0, 1]);
    expect(bodies()[1]).toMatchObject({
      messages: [{ content: [{}, { cachePoint: { type: 'default' } }, {}, {}] }],
    });
  });
});

describe('a client that is not set up', () => {
  it('without a region is told so, and does not try other manners', async () => {
    vi.stubEnv('AWS_REGION', undefined);
    vi.stubEnv('AWS_CONFIG_FILE', '/nowhere');
    onTestFinished(() => void vi.unstubAllEnvs());
    const model = await createModel(`bedrock:${SONNET_46}`, {});
    await expect(model.ask(sampleRequest())).rejects.toMatchObject({
      name: ErrorName.ModelAccess,
      message: expect.stringContaining('Region is missing'),
    });
  });
});

describe('a refused structured output steps down', () => {
  it('schema, then tool, then text; and remembers the output mode for the model', async () => {
    const model = await serve([
      converseError(
        400,
        'ValidationException',
        'This model does not support the outputConfig.textFormat field.',
      ),
      converseError(400, 'ValidationException', 'toolConfig.toolChoice.tool is not supported by this model.'),
      converseAnswer('{"ok":true}'),
      converseAnswer('{"ok":false}'),
    ]);
    expect(await model.ask(sampleRequest())).toMatchObject({ outputMode: 'text', text: '{"ok":true}' });
    expect(bodies().map((body) => ['outputConfig' in body, 'toolConfig' in body])).toEqual([
      [true, false],
      [false, true],
      [false, false],
    ]);
    expect(await model.ask(sampleRequest())).toMatchObject({ outputMode: 'text', text: '{"ok":false}' });
    expect(bodies()).toHaveLength(4);
  });

  it('reads the arguments of the strict tool as the answer', async () => {
    const content = [
      { text: 'Let me.' },
      { toolUse: { toolUseId: 't', name: 'verdict', input: { ok: true } } },
    ];
    const model = await serve([
      converseError(400, 'ValidationException', 'output_config is not supported'),
      converseAnswer('', { content, stopReason: 'tool_use' }),
    ]);
    expect(await model.ask(sampleRequest())).toMatchObject({
      outputMode: 'strict-tool',
      text: '{"ok":true}',
    });
    expect(bodies()[1]?.toolConfig).toMatchObject({
      tools: [{ toolSpec: { name: 'verdict', strict: true, inputSchema: { json: { type: 'object' } } } }],
      toolChoice: { tool: { name: 'verdict' } },
    });
  });

  it('skips forced tools on models that refuse them', async () => {
    const model = await serve(
      [converseError(400, 'ValidationException', 'output_config is not supported'), converseAnswer('{}')],
      SONNET_55,
    );
    expect(await model.ask(sampleRequest())).toMatchObject({ outputMode: 'text' });
  });

  it('a too large grammar concerns that schema only', async () => {
    const model = await serve([
      converseError(400, 'ValidationException', 'The compiled grammar is too large.'),
      converseAnswer('', { content: [{ toolUse: { toolUseId: 't', name: 'v', input: {} } }] }),
      converseAnswer('{}'),
    ]);
    expect((await model.ask(sampleRequest())).outputMode).toBe('strict-tool');
    const other = sampleRequest({ answer: { ...sampleRequest().answer, name: 'other' } });
    expect((await model.ask(other)).outputMode).toBe('native-schema');
  });

  it('drops temperature without leaving the output mode', async () => {
    const model = await serve([
      converseError(400, 'ValidationException', '`temperature` is deprecated for this model.'),
      converseAnswer('{}'),
    ]);
    expect((await model.ask(sampleRequest())).outputMode).toBe('native-schema');
    expect(bodies()[1]?.inferenceConfig).toEqual({ maxTokens: 500 });
  });

  it('reports the first refusal when nothing helps, and learns nothing from it', async () => {
    const refusals = ['first complaint', 'second', 'third'].map((text) =>
      converseError(400, 'ValidationException', text),
    );
    const model = await serve([...refusals, converseAnswer('{}')]);
    await expect(model.ask(sampleRequest())).rejects.toMatchObject({
      name: ErrorName.ConfigurationInvalid,
      message: expect.stringContaining('first complaint'),
    });
    expect((await model.ask(sampleRequest())).outputMode).toBe('native-schema');
  });
});

describe('a bad end is an error and not an answer', () => {
  it.each([
    ['max_tokens', '{"failures":[]}', ErrorName.ModelOutputInvalid],
    ['malformed_model_output', '{}', ErrorName.ModelOutputInvalid],
    ['malformed_tool_use', '{}', ErrorName.ModelOutputInvalid],
    ['guardrail_intervened', 'Blocked.', ErrorName.ModelOutputInvalid],
    ['content_filtered', '{}', ErrorName.ModelOutputInvalid],
    ['end_turn', ' ', ErrorName.ModelOutputInvalid],
    ['model_context_window_exceeded', '{}', ErrorName.ContextOverflow],
  ])('%s', async (stopReason, text, name) => {
    const model = await serve([converseAnswer(text, { stopReason })]);
    await expect(model.ask(sampleRequest())).rejects.toMatchObject({ name });
  });

  it('says what was paid for it', async () => {
    const model = await serve([converseAnswer('{"ok"', { stopReason: 'max_tokens' })]);
    await expect(model.ask(sampleRequest())).rejects.toMatchObject({
      defect: 'cut',
      text: '{"ok"',
      answer: { usage: { outputTokens: 100, calls: 1 } },
    });
  });
});

describe('a failed call has a named error', () => {
  it.each([
    [400, 'ValidationException', 'Input is too long for requested model.', ErrorName.ContextOverflow],
    [
      400,
      'ValidationException',
      'prompt is too long: 210000 tokens > 200000 maximum',
      ErrorName.ContextOverflow,
    ],
    [
      400,
      'ValidationException',
      'input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000',
      ErrorName.ContextOverflow,
    ],
    [400, 'ValidationException', 'The model returned: too many total text bytes', ErrorName.ContextOverflow],
    [
      400,
      'ValidationException',
      "This model's maximum context length is 128000 tokens.",
      ErrorName.ContextOverflow,
    ],
    [400, 'ValidationException', 'The provided model identifier is invalid.', ErrorName.ModelAccess],
    [
      403,
      'AccessDeniedException',
      "You don't have access to the model with the specified model ID.",
      ErrorName.ModelAccess,
    ],
    [
      403,
      'ExpiredTokenException',
      'The security token included in the request is expired',
      ErrorName.ModelAccess,
    ],
    [404, 'ResourceNotFoundException', 'Could not resolve the foundation model', ErrorName.ModelAccess],
  ])('%i %s %s', async (status, type, message, name) => {
    const model = await serve([converseError(status, type, message)]);
    await expect(model.ask(sampleRequest())).rejects.toMatchObject({
      name,
      message: expect.stringContaining(message),
    });
  });

  it('another refusal than a 400 does not change the request', async () => {
    const model = await serve([converseError(405, 'MethodNotAllowed', 'use another door')]);
    await expect(model.ask(sampleRequest())).rejects.toMatchObject({ name: ErrorName.ConfigurationInvalid });
  });

  it('a 200 that is no JSON is a broken service', async () => {
    const model = await serve([{ json: '<html>' }]);
    await expect(model.ask(sampleRequest())).rejects.toMatchObject({ name: ErrorName.ModelUnavailable });
  });

  // The SDK itself tries these once more before it gives up.
  it.each([
    [
      429,
      'ThrottlingException',
      'Too many requests, please wait before trying again.',
      ErrorName.ModelThrottled,
    ],
    [
      429,
      'ThrottlingException',
      'Too many tokens, please wait before trying again.',
      ErrorName.ModelThrottled,
    ],
    [500, 'InternalServerException', 'Something went wrong', ErrorName.ModelUnavailable],
    [503, 'ServiceUnavailableException', 'Try later', ErrorName.ModelUnavailable],
  ])('%i %s %s', async (status, type, message, name) => {
    const model = await serve([converseError(status, type, message), converseError(status, type, message)]);
    await expect(model.ask(sampleRequest())).rejects.toMatchObject({ name, retryable: true });
  });

  it('a dropped connection is retried once by the SDK, then unavailable', async () => {
    const model = await serve(['drop', 'drop']);
    await expect(model.ask(sampleRequest())).rejects.toMatchObject({
      name: ErrorName.ModelUnavailable,
      retryable: true,
    });
  });

  it('a new connection is made after a dropped one', async () => {
    const model = await serve(['drop', converseAnswer('{"ok":true}')]);
    expect((await model.ask(sampleRequest())).text).toBe('{"ok":true}');
  });

  it('no answer in time is unavailable', async () => {
    const model = await serve(['hang'], SONNET_46, 200);
    await expect(model.ask(sampleRequest())).rejects.toMatchObject({ name: ErrorName.ModelUnavailable });
  });
});
