import { describe, expect, it } from 'vitest';
import { classifyError } from '../../../core/trajectory/classify-error.ts';
import { agent, bareSpan, call, chat, findings, fromSpans, positions, result, user } from './sessions.ts';

describe('an error is classed by what it says', () => {
  it.each([
    ['HTTP 401 Unauthorized', 'authentication'],
    ['botocore AccessDeniedException: not authorized to perform s3:GetObject', 'authentication'],
    ['Error: invalid api key provided', 'authentication'],
    ['404 Client Error: Not Found for url', 'resource-not-found'],
    ["FileNotFoundError: [Errno 2] No such file or directory: 'a.csv'", 'resource-not-found'],
    ['{"error": {"status": 503, "message": "Service Unavailable"}}', 'service-errors'],
    ['Error: carrier API answered 503', 'service-errors'],
    ['Error 429', 'rate-limiting'],
    ['Error: returned 404 rows for the unknown argument limit', 'tool-schema'],
    ['ConnectionError: connection refused by upstream', 'service-errors'],
    ['ThrottlingException (reached max retries: 4): Too many requests', 'rate-limiting'],
    ['429: you exceeded your current quota', 'rate-limiting'],
    ['json.decoder.JSONDecodeError: Expecting value: line 1', 'formatting'],
    ['SyntaxError: unexpected EOF while parsing', 'formatting'],
    ['TimeoutError: operation timed out after 30 s', 'timeout'],
    ['504 Gateway Time-out', 'timeout'],
    ['requests.exceptions.HTTPError: 504 Server Error: Gateway Time-out', 'timeout'],
    ['OSError: [Errno 28] No space left on device', 'resource-exhaustion'],
    ['JavaScript heap out of memory', 'resource-exhaustion'],
    ["ModuleNotFoundError: No module named 'pandas'", 'environment'],
    ['bash: ffmpeg: command not found', 'environment'],
    ['ValidationException: 1 validation error detected', 'tool-schema'],
    ["TypeError: search() got an unexpected keyword argument 'q'", 'tool-schema'],
  ])('%s', (text, leaf) => {
    expect(classifyError({ text })).toEqual({ class: leaf, certain: true });
  });

  it.each([
    'Exit code 1\nFAIL test/cart.test.ts\n  expected 3 to be 4',
    'exited with status 2',
    'FAILED tests/test_cart.py',
  ])('a command that ran and failed is no broken call: %s', (text) => {
    expect(classifyError({ text, otherwise: 'tool-schema' })).toEqual({ class: null, certain: false });
  });

  it('believes a status code over words', () => {
    expect(classifyError({ text: 'resource not found', http: 429 }).class).toBe('rate-limiting');
  });
});

describe('an error in a tool result', () => {
  const failed = (text: string, after: readonly ReturnType<typeof user>[] = []) =>
    chat([user('weather in Bern?'), call('1', 'get_weather', { city: 'Bern' }), result('1', text), ...after]);

  it.each([
    'Error: no such city',
    '{"error": "rate limit reached"}',
    '{"status": "error", "message": "bad input"}',
    '{"success": false, "reason": "x"}',
    '<tool_use_error>File does not exist.</tool_use_error>',
    'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1',
    "Skill 'wether' not found. Available: weather",
    'sh: 1: curl: not found',
    '{"stdout": "", "stderr": "boom", "exit_code": 2}',
    'Exit code 1\nboom',
  ])('is seen in %j', (text) => {
    expect(findings(failed(text), 'explicit-error')).toHaveLength(1);
  });

  it.each([
    'Error handling in Python is done with try and except. Here is a guide.',
    '{"errors": [], "data": {"t": 4}}',
    '{"error": null, "t": 4}',
    'The article explains why timeouts and 404 errors happen on the web.',
    'Bern: 4 degrees',
    '{"stdout": "4", "exit_code": 0}',
    'exitcode: 0 (execution succeeded)',
    'The user rejected this call: permission denied by the user',
    "The user doesn't want to proceed with this tool use. The tool use was rejected.",
  ])('is not seen in %j', (text) => {
    expect(findings(failed(text), 'explicit-error')).toEqual([]);
  });

  it('is unrecovered when nothing better follows, and then stands as a failure', () => {
    const [one] = findings(failed('Error: 503 service unavailable', [agent('Sorry.')]), 'explicit-error');
    expect(one).toMatchObject({ recovered: false, weight: 'failure', criticalCategory: 'system-failure' });
  });

  it('is recovered when the same tool later works, and then is only evidence', () => {
    const [one] = findings(
      failed('Error: timeout', [call('2', 'get_weather', { city: 'Bern, CH' }), result('2', '4 degrees')]),
      'explicit-error',
    );
    expect(one).toMatchObject({ recovered: true, weight: 'evidence' });
  });

  it('is recovered when another tool of the same family reaches the goal', () => {
    const [one] = findings(
      chat([
        user('my order, a@b.ch'),
        call('1', 'find_user_by_email', { email: 'a@b.ch' }),
        result('1', 'Error: user not found'),
        call('2', 'find_user_by_phone', { phone: '0311234567' }),
        result('2', 'u_17'),
      ]),
      'explicit-error',
    );
    expect(one?.recovered).toBe(true);
  });

  it('is of unknown fate when the session goes on with other tools', () => {
    const [one] = findings(
      failed('Error: timeout', [call('2', 'list_cities', {}), result('2', 'Bern, Thun')]),
      'explicit-error',
    );
    expect(one).toMatchObject({ recovered: null, weight: 'evidence' });
  });
});

describe('an error of a span', () => {
  const error = (message: string) => ({ source: 'exception' as const, message });
  const other = (id: string, parent: string | null, failed: boolean) => ({
    ...bareSpan(id, parent),
    kind: 'other' as const,
    attributes: {},
    status: failed ? ('error' as const) : ('ok' as const),
    errors: failed ? [error(`${id} broke: connection refused`)] : [],
  });

  it('is reported at the deepest span only, since it climbs up the parents', () => {
    const trajectory = fromSpans([
      other('root', null, true),
      other('mid', 'root', true),
      other('leaf', 'mid', true),
    ]);
    expect(findings(trajectory, 'explicit-error').map((one) => one.spanId)).toEqual(['leaf']);
  });

  it('that a later span of its kind and name got past is recovered; one that broke the root is not', () => {
    const retried = { ...other('retry', null, false), name: 'call' };
    const recovered = fromSpans([{ ...other('first', null, true), name: 'call' }, retried]);
    expect(findings(recovered, 'explicit-error')).toMatchObject([{ recovered: true, weight: 'evidence' }]);
    const broken = fromSpans([
      other('root', null, true),
      other('leaf', 'root', true),
      other('after', 'root', false),
    ]);
    expect(findings(broken, 'explicit-error')).toMatchObject([{ recovered: false, weight: 'failure' }]);
    const aside = fromSpans([
      other('root', null, false),
      other('leaf', 'root', true),
      other('after', 'root', false),
    ]);
    expect(findings(aside, 'explicit-error')).toMatchObject([{ recovered: null, weight: 'evidence' }]);
  });

  it('that the results at its step already tell is reported once', () => {
    const results = ['Error: bad dates', '4 degrees'].map((content, n) => ({
      type: 'tool_result' as const,
      toolCallId: `c${n}`,
      content,
      isError: null,
    }));
    const asks = results.map(({ toolCallId }) => ({
      type: 'tool_use' as const,
      toolCallId,
      name: 'get',
      arguments: {},
    }));
    const one = {
      ...other('model', null, true),
      kind: 'inference' as const,
      input: [
        { role: 'assistant' as const, content: asks },
        { role: 'user' as const, content: results },
      ],
      output: [],
    };
    expect(findings(fromSpans([one]), 'explicit-error')).toHaveLength(1);
  });

  it('ends on a cycle of parents', () => {
    const trajectory = fromSpans([other('a', 'b', true), other('b', 'a', true)]);
    expect(findings(trajectory, 'explicit-error').length).toBeLessThanOrEqual(2);
  });

  it('with exit code 0 is none', () => {
    const clean = {
      ...other('a', null, false),
      errors: [{ source: 'exit-code' as const, message: '', code: 0 }],
    };
    expect(findings(fromSpans([clean]), 'explicit-error')).toEqual([]);
  });
});

describe('code that fails when it is run', () => {
  it('is the fault of its author and not of the executor', async () => {
    const { groupChat } = await import('./sessions.ts');
    const trajectory = groupChat('count the rows of the sales table', [
      ['Planner', 'Task: count the rows of the sales table.'],
      ['Coder', 'Run this:\n```python\nimport sales\n```'],
      ['Runner', "exitcode: 1 (execution failed)\nCode output: ModuleNotFoundError: No module named 'sales'"],
    ]);
    expect(positions(trajectory, 'failing-code')).toEqual([1]);
    expect(findings(trajectory, 'explicit-error')).toEqual([]);
  });
});
