import { describe, expect, it } from 'vitest';
import { ConfigurationInvalidError } from '../../../core/errors/errors.ts';
import { parseModelSpec } from '../../../core/model/parse-spec.ts';

describe('a model spec', () => {
  it.each([
    ['none', { kind: 'none' }],
    [' none\n', { kind: 'none' }],
    [
      'bedrock:global.anthropic.claude-haiku-4-5-20251001-v1:0',
      { kind: 'bedrock', modelId: 'global.anthropic.claude-haiku-4-5-20251001-v1:0' },
    ],
    [
      'bedrock:arn:aws:bedrock:us-east-1:111122223333:inference-profile/global.x',
      { kind: 'bedrock', modelId: 'arn:aws:bedrock:us-east-1:111122223333:inference-profile/global.x' },
    ],
    [
      'openai:qwen3@http://127.0.0.1:8000/v1/',
      { kind: 'openai', model: 'qwen3', baseUrl: 'http://127.0.0.1:8000/v1' },
    ],
    [
      'openai:org/model:7b@rev@https://host/v1',
      { kind: 'openai', model: 'org/model:7b@rev', baseUrl: 'https://host/v1' },
    ],
    ['batch:./answers', { kind: 'batch', dir: './answers' }],
    ['batch:C:\\answers', { kind: 'batch', dir: 'C:\\answers' }],
    ['replay:/recordings', { kind: 'replay', dir: '/recordings' }],
  ])('%s', (text, spec) => {
    expect(parseModelSpec(text)).toEqual(spec);
  });

  it.each([
    ['', 'none of the known kinds'],
    ['gpt-4o', 'none of the known kinds'],
    ['None', 'none of the known kinds'],
    ['anthropic:claude', 'none of the known kinds'],
    ['bedrock', 'needs a model'],
    ['bedrock:', 'needs a model'],
    ['bedrock:https://x', 'neither spaces'],
    ['openai:gpt-4o', 'base URL'],
    ['openai:@http://x', 'base URL'],
    ['openai:m@ftp://x', 'base URL'],
    ['openai:m@http://', 'not a URL'],
    ['openai:m@https://x/v1?key=1', 'query'],
    ['batch:', 'needs a folder'],
    ['replay', 'needs a folder'],
  ])('refuses "%s": %s', (text, why) => {
    expect(() => parseModelSpec(text)).toThrow(ConfigurationInvalidError);
    expect(() => parseModelSpec(text)).toThrow(why);
    expect(() => parseModelSpec(text)).toThrow('Forms: none · bedrock:');
  });

  it('never repeats credentials that stood in a URL', () => {
    expect(() => parseModelSpec('openai:m@https://user:hunter2@host/v1')).toThrow(/credentials/);
    for (const spec of ['user:hunter2@host/v1', 'user:hunter2@host:x/v1', 'user:hunter2@host/v1?x=1'])
      expect(() => parseModelSpec(`openai:m@https://${spec}`)).toThrow(/^(?!.*hunter2)/s);
  });
});
