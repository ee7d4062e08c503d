import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/base/json.ts';
import { explicitErrors } from '../../core/checks/explicit-errors.ts';
import { missingResults } from '../../core/checks/missing-results.ts';
import { toTrajectory } from '../../core/trajectory/to-trajectory.ts';
import {
  answer,
  asks,
  at,
  chat,
  fixture,
  flatSpan,
  inferences,
  onlySession,
  spanById,
  toolRun,
  tools,
  user,
} from '../helpers/telemetry.ts';

/** Failures that no span states with an ERROR status; each trial named after its symptom. */

describe('failures without an ERROR status', () => {
  const toolCall = (name: string, args: string, result?: string): JsonObject => ({
    'ai.operationId': 'ai.toolCall',
    'ai.toolCall.name': name,
    'ai.toolCall.id': name,
    'ai.toolCall.args': args,
    ...(result === undefined ? {} : { 'ai.toolCall.result': result }),
  });

  it('a tool threw but its span is no error: the missing result is said, the text comes from the next call', () => {
    const [tool] = tools(onlySession(fixture('vercel-ai')));
    expect(tool).toMatchObject({ status: 'unset', toolResult: { content: 'locked', isError: true } });
    expect(tool!.errors.map((e) => e.source)).toContain('tool-status');
  });

  it('a tool threw, its span is no error, and no call came after it: the missing result is found', () => {
    const session = onlySession([
      flatSpan('run', { scope: 'ai', attributes: { 'ai.operationId': 'ai.generateText' }, end: 90 }),
      flatSpan('first', {
        parent: 'run',
        scope: 'ai',
        start: 1,
        end: 10,
        attributes: toolCall('first', '{"id":1}', '"ok"'),
      }),
      flatSpan('second', {
        parent: 'run',
        scope: 'ai',
        start: 20,
        end: 30,
        attributes: toolCall('second', '{"id":2}'),
      }),
    ]);
    const [, second] = tools(session);
    expect(second).toMatchObject({ toolCall: { name: 'second' }, status: 'unset', toolResult: null });
    const found = missingResults.run(toTrajectory(session));
    expect('blind' in found ? found : found.map(({ spanId }) => spanId)).toEqual(['second']);
  });

  it('a throttled model call says so in an exception event', () => {
    const message =
      'An error occurred (ThrottlingException) when calling the Converse operation (reached max retries: 4): Too many requests';
    const session = onlySession([
      flatSpan('c', {
        attributes: chat([user('Hi')], []),
        events: [
          {
            name: 'exception',
            timeUnixNano: at(5),
            attributes: { 'exception.type': 'ThrottlingException', 'exception.message': message },
          },
        ],
      }),
    ]);
    expect(inferences(session)[0]!.errors).toEqual([
      { source: 'exception', type: 'ThrottlingException', message },
    ]);
    expect(explicitErrors.run(toTrajectory(session))).toMatchObject([
      { spanId: 'c', category: 'execution-error-category-rate-limiting', criticalCategory: 'system-failure' },
    ]);
  });

  it('the second tool_use is cut: empty input with stop reason max_tokens', () => {
    const session = onlySession([
      flatSpan('c', {
        attributes: chat([user('Hi')], [{ ...asks('A', 'calculate', {}), finish_reason: 'max_tokens' }]),
      }),
    ]);
    expect(inferences(session)[0]!.errors).toEqual([
      { source: 'finish-reason', type: 'max_tokens', message: 'the model stopped with max_tokens' },
    ]);
  });

  it('an HTTP failure shows only on a client span below the tool', () => {
    const session = onlySession([
      flatSpan('t', { end: 50, attributes: toolRun('fetch', {}, 'nothing') }),
      flatSpan('h', {
        parent: 't',
        start: 1,
        end: 40,
        kind: 'CLIENT',
        name: 'GET /orders',
        attributes: { 'http.response.status_code': 503 },
      }),
    ]);
    expect(tools(session)[0]!.errors).toEqual([
      { source: 'http', code: 503, message: 'HTTP 503 from GET /orders (span h)' },
    ]);
  });

  it.each([
    ['{"exit_code": 2, "stderr": "boom"}', { source: 'exit-code', code: 2, message: 'boom' }],
    ['{"stdout": "", "stderr": "no such file"}', { source: 'exit-code', message: 'no such file' }],
    [
      'Exit code 127\nmake: not found',
      { source: 'exit-code', code: 127, message: 'Exit code 127\nmake: not found' },
    ],
  ])('a command failed: %s', (result, error) => {
    expect(tools(onlySession([flatSpan('t', { attributes: toolRun('sh', {}, result) })]))[0]!.errors).toEqual(
      [error],
    );
  });

  it.each([
    '{"exit_code": 0, "stderr": "warning"}',
    '{"stdout": "17", "stderr": "warning: slow"}',
    'Exit code 0',
  ])('a command did not fail: %s', (result) => {
    expect(tools(onlySession([flatSpan('t', { attributes: toolRun('sh', {}, result) })]))[0]!.errors).toEqual(
      [],
    );
  });

  it('the user rejected a permission: no fault of the tool', () => {
    const history = [
      asks('A', 'rm', {}),
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'A',
            is_error: true,
            content: "The user doesn't want to proceed with this tool use.",
          },
        ],
      },
    ];
    const session = onlySession([flatSpan('c', { attributes: chat(history, [answer('ok')]) })]);
    expect(inferences(session)[0]!.errors).toEqual([]);
  });

  it('an error line of the application stands in the log of the span', () => {
    const session = onlySession([
      flatSpan('s', { attributes: { 'http.route': '/invocations' } }),
      {
        traceId: 'trace-1',
        spanId: 's',
        timeUnixNano: at(4),
        scope: { name: 'app' },
        severityText: 'ERROR',
        body: 'Invocation failed: KeyError',
        attributes: {},
      },
    ]);
    expect(spanById(session, 's').errors).toEqual([
      { source: 'exception', message: 'Invocation failed: KeyError' },
    ]);
  });
});
