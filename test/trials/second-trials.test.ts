import { describe, expect, it } from 'vitest';
import { runChecks } from '../../core/checks/registry.ts';
import { unwrapLogEvents } from '../../core/ingest/envelope.ts';
import { decodeLogEventMessage } from '../../core/reading/decode/decode-log-event.ts';
import { readSessions } from '../../core/reading/registry.ts';
import { dataGaps } from '../../core/report-build/data-gaps.ts';
import { sessionSpans } from '../../core/session/session.ts';
import { toTrajectory } from '../../core/trajectory/to-trajectory.ts';
import {
  answer,
  asks,
  chat,
  flatSpan,
  inferences,
  onlySession,
  toolRun,
  tools,
  user,
} from '../helpers/telemetry.ts';

/** The kinds of fault of the second trials that reading, assembly and ingest answer for. */

const errorsOf = (session: Parameters<typeof toTrajectory>[0]) =>
  runChecks(toTrajectory(session)).find((one) => one.checkId === 'explicit-error')?.findings ?? [];

describe('a parent that we made up is no proof that two calls are one', () => {
  const first = chat([user('Where is it?')], [asks('c1', 'track', { id: 1 })]);
  const last = chat([user('Where is it?')], [answer('It was delivered yesterday.')]);

  it('spans that are their own parents', () => {
    const session = onlySession([
      flatSpan('a1', { parent: 'a1', attributes: first }),
      flatSpan('a2', { parent: 'a2', start: 10, attributes: last }),
    ]);
    expect(inferences(session)).toHaveLength(2);
  });

  it('a turn whose own parent never arrived', () => {
    const session = onlySession([
      flatSpan('a1', { parent: 'gone1', attributes: first }),
      flatSpan('b1', { parent: 'gone2', start: 10, attributes: {} }),
      flatSpan('a2', { parent: 'b1', start: 11, attributes: last }),
    ]);
    expect(inferences(session)).toHaveLength(2);
  });
});

describe('what is unread beside a session is said by the session', () => {
  const line = JSON.stringify(flatSpan('a1', { attributes: chat([user('Hi')], [answer('Hello')]) }));
  const read = (second: string) => readSessions({ text: `${line}\n${second}`, source: 'spans.jsonl' });

  it('a record that is cut, by its structure', () => {
    const { sessions, unread } = read(`${line.slice(0, line.indexOf('Hello') + 2)}}`);
    expect(unread[0]?.reason).toMatch(/^cut-json/);
    expect(dataGaps(sessions[0]!).map((gap) => gap.reason)).toEqual([expect.stringMatching(/^cut-json/)]);
  });

  it('but not the other lines of an application', () => {
    expect(dataGaps(read('{"price": 3}').sessions[0]!)).toEqual([]);
  });
});

describe('one broken element costs itself alone', () => {
  const payload = (id: string) =>
    btoa(
      JSON.stringify({
        messageType: 'DATA_MESSAGE',
        logGroup: 'aws/spans',
        logStream: 'default',
        logEvents: [{ id, timestamp: 1, message: '{}' }, { id: 7 }],
      }),
    );

  it('of a Kinesis batch, and of the events of one record', async () => {
    const record = (id: string) => ({ kinesis: { data: payload(id) } });
    const { events, trouble } = await unwrapLogEvents({
      Records: [record('1'), { kinesis: {} }, record('2')],
    });
    expect(events.map(({ id }) => id)).toEqual(['1', '2']);
    expect(trouble).toHaveLength(3);
  });

  it('every decoded envelope of a file is read', () => {
    const envelope = (spanId: string) => ({
      messageType: 'DATA_MESSAGE',
      logGroup: 'aws/spans',
      logStream: 'default',
      logEvents: [
        {
          id: '3'.repeat(56),
          timestamp: 1,
          message: JSON.stringify(flatSpan(spanId, { attributes: chat([user('Hi')], [answer(spanId)]) })),
        },
      ],
    });
    const { sessions } = readSessions({ document: [envelope('a1'), envelope('a2')], source: 'two.json' });
    expect(sessions.flatMap(sessionSpans)).toHaveLength(2);
  });
});

describe('content', () => {
  it.each(['{"status":"sent","log":"scan sca', '{"log":"scan [Truncated...]', 'a list … (truncated)'])(
    'of a result that is cut is flagged: %s',
    (result) => {
      const session = onlySession([flatSpan('t', { attributes: toolRun('track', {}, result) })]);
      expect(tools(session)[0]?.flags).toContain('content-truncated');
    },
  );

  it.each(['[INFO] done {', '{name}, hello', '{"a":1}', '[1, 2] of ['])('%s is whole', (result) => {
    const session = onlySession([flatSpan('t', { attributes: toolRun('track', {}, result) })]);
    expect(tools(session)[0]?.flags).toEqual([]);
  });

  it('in the attributes of an event without a body is read', () => {
    const { operation: _, ...content } = { operation: 0, ...chat([user('When?')], [answer('Monday.')]) };
    const event = {
      traceId: flatSpan('a1').traceId,
      spanId: flatSpan('a1').spanId,
      timeUnixNano: '1790000000500000000',
      eventName: 'gen_ai.client.inference.operation.details',
      attributes: content,
    } as never;
    const session = onlySession([flatSpan('a1', { attributes: { 'gen_ai.operation.name': 'chat' } }), event]);
    expect(JSON.stringify(inferences(session)[0]?.output)).toContain('Monday.');
  });

  it('of a call that stands in a form that is not read is missing, and checks of calls say so', () => {
    const repr = "Call(arguments='{}', name='escalate')";
    const said = { ...answer(repr), finish_reason: 'tool_calls' };
    const session = onlySession([flatSpan('a1', { attributes: chat([user('Refund')], [said]) })]);
    expect(inferences(session)[0]?.flags).toContain('content-lost');
    const blind = runChecks(toTrajectory(session)).filter((one) => one.state === 'blind');
    expect(blind.map((one) => one.checkId)).toEqual(
      expect.arrayContaining(['unknown-tool', 'arguments-break-schema', 'missing-result']),
    );
  });

  it('a record with a trace id that is neither span nor log record is kept as that', () => {
    expect(decodeLogEventMessage(JSON.stringify({ traceId: 'a'.repeat(32), what: 1 }))).toMatchObject({
      reason: expect.stringMatching(/^unknown-record/),
    });
    expect(decodeLogEventMessage('{"traceId":"request-9","what":1}')).toMatchObject({
      reason: expect.stringMatching(/^not-telemetry/),
    });
  });
});

describe('parallel calls of one answer are not before or after each other', () => {
  it.each([0, 1, 2])('the same verdict when number %i failed', (failed) => {
    const asked = [0, 1, 2].map((at) => ({
      type: 'tool_call',
      id: `c${at}`,
      name: 'weather',
      arguments: { at },
    }));
    const session = onlySession([
      flatSpan('a1', {
        attributes: chat(
          [user('Weather?')],
          [{ role: 'assistant', parts: asked, finish_reason: 'tool_calls' }],
        ),
      }),
      ...[0, 1, 2].map((at) =>
        flatSpan(`t${at}`, {
          start: 10 + at,
          attributes: {
            ...toolRun('weather', { at }, at === failed ? 'Error: 503 service unavailable' : '{"t":1}'),
            'gen_ai.tool.call.id': `c${at}`,
          },
        }),
      ),
      flatSpan('a2', { start: 20, attributes: chat([user('Weather?')], [answer('All sunny.')]) }),
    ]);
    expect(errorsOf(session)).toMatchObject([{ weight: 'failure', recovered: false }]);
  });
});

describe('numbers', () => {
  const usage = (input: unknown) =>
    inferences(
      onlySession([
        flatSpan('a1', {
          attributes: {
            ...chat([user('Hi')], [answer('Hello')]),
            'gen_ai.usage.input_tokens': input as never,
            'gen_ai.usage.output_tokens': 7,
          },
        }),
      ]),
    )[0]?.usage;

  it('in two halves are numbers', () =>
    expect(usage({ low: 7, high: 0, unsigned: false })).toEqual({ inputTokens: 7, outputTokens: 7 }));
  it('that are none are unknown, never 0', () => expect(usage('NaN')).toBeUndefined());
});

describe('results and ends', () => {
  const read = (...messages: readonly object[]) =>
    readSessions({
      document: { messages: [{ role: 'user', content: 'Show the clicks.' }, ...messages] } as never,
      source: 's',
    }).sessions[0]!;
  const call = { id: 'c1', type: 'function', function: { name: 'get_report', arguments: '{}' } };
  const asked = { role: 'assistant', content: null, tool_calls: [call] };
  const result = (content: object) => ({
    role: 'tool',
    tool_call_id: 'c1',
    content: JSON.stringify(content),
  });
  const ends = (session: Parameters<typeof toTrajectory>[0]) =>
    runChecks(toTrajectory(session)).find((one) => one.checkId === 'abrupt-end')?.findings ?? [];

  it.each([
    { response_status: 'Error', message: 'the service rejected it' },
    { resultStatus: 'FATAL', reason: 'the service rejected it' },
    { executionStatus: 'error', detail: 'the service rejected it' },
    { status: 'error', message: 'ERROR: the service rejected it' },
    { result: { status: 'error', message: 'Error: the service rejected it' } },
  ])('a call that is said to have ended in an error did: %j', (content) => {
    const session = read(asked, result(content), { role: 'assistant', content: 'Up by 4 percent.' });
    expect(errorsOf(session)).toMatchObject([{ weight: 'failure' }]);
  });

  it.each([
    { status: 'error', message: 'the report is not open to guests' },
    { response_status: 'Rejected', message: 'the report is not open to guests' },
    { response_status: 'ok', message: 'Error: 0' },
  ])('a refusal, and no error, is none: %j', (content) => {
    const session = read(asked, result(content), { role: 'assistant', content: 'It is not open to you.' });
    expect(errorsOf(session).filter(({ weight }) => weight === 'failure')).toEqual([]);
  });

  it.each(['', ' \n', []])('an empty last answer is seen: %j', (content) => {
    expect(ends(read({ role: 'assistant', content }))).toMatchObject([
      { weight: 'failure', summary: 'The last answer is empty' },
    ]);
    const told = read({ role: 'assistant', content: 'I look.' }, { role: 'assistant', content });
    expect(ends(told)).toMatchObject([{ weight: 'evidence' }]);
  });

  it('a failed result and the answer to it in one model call: nothing stops there', () => {
    const failed = { type: 'tool_call_response', id: 'c1', response: 'Error: 503 service unavailable' };
    const session = onlySession([
      flatSpan('a1', { attributes: chat([user('Where?')], [asks('c1', 'track', {})]) }),
      flatSpan('a2', {
        start: 10,
        attributes: chat(
          [user('Where?'), asks('c1', 'track', {}), { role: 'tool', parts: [failed] }],
          [answer('It was delivered.')],
        ),
      }),
    ]);
    expect(ends(session)).toEqual([]);
    expect(errorsOf(session)).toHaveLength(1);
  });

  it('the text of an error stands beside its HTTP status, wherever the producer puts it', () => {
    const session = onlySession([
      flatSpan('a1', { attributes: chat([user('List')], [answer('None.')]) }),
      flatSpan('b1', {
        parent: 'a1',
        attributes: {
          'http.status_code': 403,
          'aws.xray.cause': { message: 'not allowed to list' } as never,
        },
      }),
    ]);
    expect(errorsOf(session)).toMatchObject([
      { evidence: [{ quote: expect.stringContaining('not allowed to list') }] },
    ]);
  });
});
