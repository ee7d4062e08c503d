import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../core/base/hash.ts';
import { assembleSessions } from '../../core/reading/assembly/assemble.ts';
import { decodeLogEventMessage } from '../../core/reading/decode/decode-log-event.ts';
import { examineTelemetry } from '../../core/reading/doctor.ts';
import { sessionSpans } from '../../core/session/session.ts';
import {
  answer,
  asks,
  at,
  chat,
  fixture,
  flatSpan,
  inferences,
  onlySession,
  recordsOf,
  sessionsOf,
  spanById,
  tools,
  unpack,
  user,
} from '../helpers/telemetry.ts';

/** Telemetry as it is delivered: records, spans of AWS, sessions; each trial named after its symptom. */

describe('log events', () => {
  const record = JSON.stringify(flatSpan('s1', { attributes: chat([user('x'.repeat(300_000))], []) }));

  it('inner quotes are not escaped and JSON.parse throws: that record alone is unread, with the reason', () => {
    const broken = '{"id":"1","details":{"input":"{"Comment": "Insert"}"}}';
    const { records, unread } = unpack({
      logEvents: [record, broken, record].map((message, i) => ({
        id: `${i}`.padStart(56, '3'),
        timestamp: 1,
        message,
      })),
    });
    expect(records).toHaveLength(2);
    expect(unread).toEqual([{ where: 'aws-flat', count: 1, reason: expect.stringContaining('bad-json') }]);
  });

  it('a stdout line over the limit arrives cut in two: neither half is read alone, the pair is', () => {
    const [first, second] = [record.slice(0, 262_119), record.slice(262_119)];
    expect(decodeLogEventMessage(first)).toMatchObject({ reason: expect.stringMatching(/^cut-json/) });
    expect(decodeLogEventMessage(second)).toMatchObject({ reason: expect.stringMatching(/^(not|bad)-json/) });
    expect(decodeLogEventMessage(first + second)).toHaveLength(1);
  });

  it('text stands in front of the JSON: text is not telemetry', () => {
    expect(decodeLogEventMessage(`2026-01-01T10:00:00Z [INFO] span {exporter}: ${record}`)).toMatchObject({
      reason: 'not-json: plain text',
    });
  });

  it('the same record is delivered more than once: it counts once', () => {
    const once = [
      flatSpan('s1', {
        attributes: chat([user('Hi')], [answer('Hello')], { 'gen_ai.usage.input_tokens': 5 }),
      }),
    ];
    expect(canonicalJson(sessionsOf([...once, ...once], once))).toBe(canonicalJson(sessionsOf(once)));
  });
});

describe('spans of AWS', () => {
  it('each X-Ray span arrives twice, at start and when done: one span, the completed record wins', () => {
    const session = onlySession(fixture('xray-twice'));
    expect(sessionSpans(session)).toHaveLength(2);
    expect(spanById(session, '2200000000000001')).toMatchObject({
      name: 'flow',
      endTimeUnixNano: at(90),
      status: 'error',
      flags: [],
      errors: expect.arrayContaining([
        expect.objectContaining({ source: 'exception', type: 'S3.AccessDeniedException' }),
      ]),
    });
    expect(spanById(session, '2200000000000002')).toMatchObject({
      name: 'ListBuckets',
      flags: ['in-progress'],
    });
    expect(session.service).toBe('flow');
    expect(session.unread).toEqual([
      expect.objectContaining({ count: 2, reason: expect.stringContaining('no span with agent content') }),
    ]);
  });

  it('most log records lack the session id: it is inherited through the trace, whichever comes first', () => {
    const logs = fixture('agentcore-split-logs');
    const spans = fixture('agentcore-split-spans');
    expect(onlySession(logs, spans).sessionId).toBe('9d0f5f1e-parcel-session');
    expect(canonicalJson(onlySession(spans, logs))).toBe(canonicalJson(onlySession(logs, spans)));
  });

  it('spans carry no tool arguments or results: they come from the runtime log group, by span id', () => {
    const [tool] = tools(onlySession(fixture('agentcore-split-spans'), fixture('agentcore-split-logs')));
    expect(tool!.toolCall.arguments).toEqual({ parcel: '77' });
    expect(tool!.toolResult!.content).toBe('Error: carrier API answered 503');
  });

  it('spans come without their log records: said as not arrived, never as an empty conversation', () => {
    const session = onlySession(fixture('agentcore-split-spans'));
    for (const span of [...inferences(session), ...tools(session)])
      expect(span.flags).toContain('content-not-arrived');
    expect(examineTelemetry(recordsOf(fixture('agentcore-split-spans'))).findings).toContainEqual(
      expect.objectContaining({
        code: 'spans-without-logs',
        severity: 'blocks',
        advice: expect.stringContaining('/aws/bedrock-agentcore/runtimes/parcels-AB12-DEFAULT'),
      }),
    );
  });

  it('spans appear minutes after the logs: the late delivery gives the session of a tidy one', () => {
    const [spans, logs] = [
      recordsOf(fixture('agentcore-split-spans')),
      recordsOf(fixture('agentcore-split-logs')),
    ];
    const early = assembleSessions(logs).sessions;
    expect(early).toHaveLength(1);
    expect(canonicalJson(assembleSessions([...logs, ...spans]))).toBe(
      canonicalJson(assembleSessions([...spans, ...logs])),
    );
  });
});

describe('sessions', () => {
  it('one trace for every call, no session id, base64 ids: one session, joined by the history', () => {
    const session = onlySession(fixture('traceloop-one-trace-a-call'));
    expect(session.sessionId).toBe('71aa00000000000000000000000000e1');
    expect(session.traces).toHaveLength(3);
    expect(tools(session)).toMatchObject([
      {
        toolCall: { arguments: { id: '5' }, toolCallId: 'c1' },
        toolResult: { content: '{"id": "5", "state": "open"}' },
      },
    ]);
  });

  it('two users of one service start alike: their traces stay two sessions', () => {
    const other = flatSpan('y', {
      trace: 't2',
      start: 100,
      attributes: chat([user('Approve order 5')], [answer('No.')]),
    });
    expect(
      sessionsOf([
        flatSpan('x', { trace: 't1', attributes: chat([user('Approve order 5')], [answer('Yes.')]) }),
        other,
      ]),
    ).toHaveLength(2);
  });

  it('the CLI changes session.id in the middle of a trace: one session, the second id flagged', () => {
    const session = onlySession([
      flatSpan('root', {
        start: 0,
        attributes: { ...chat([user('a')], [answer('b')]), 'session.id': 'mine' },
      }),
      flatSpan('kid', { parent: 'root', start: 5, attributes: { 'session.id': 'cli-123' } }),
    ]);
    expect(session.sessionId).toBe('mine');
    expect(spanById(session, 'kid').flags).toEqual(['second-session-id']);
    expect(spanById(session, 'root').flags).toEqual([]);
  });

  it('a better key beats one nearer to the root', () => {
    const session = onlySession([
      flatSpan('root', { attributes: { 'gen_ai.conversation.id': 'conversation' } }),
      flatSpan('kid', { parent: 'root', attributes: { 'session.id': 'session' } }),
    ]);
    expect(session.sessionId).toBe('session');
  });
});

it('model calls carry no tool definitions, so "wrong tool" cannot be judged: the doctor says so', () => {
  const records = recordsOf([
    flatSpan('c', { attributes: { ...chat([user('Hi')], [asks('A', 'find', {})]), 'session.id': 'S' } }),
  ]);
  expect(examineTelemetry(records).findings.map((f) => f.code)).toEqual(['no-tool-definitions']);
});
