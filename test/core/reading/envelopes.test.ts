import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../core/base/json.ts';
import { ENVELOPES, unpackTelemetry } from '../../../core/reading/envelopes/index.ts';
import { readSessions } from '../../../core/reading/registry.ts';
import { fixture, flatSpan, recordsOf } from '../../helpers/telemetry.ts';

const span = flatSpan('s1', { attributes: { 'gen_ai.operation.name': 'chat' } });
const text = JSON.stringify(span);

describe('one record, however it is packed', () => {
  const wanted = recordsOf([span]);
  it.each<[string, JsonValue]>([
    ['alone', span],
    ['in a list', [span]],
    ['wrapped with its time', [{ timestamp: '2026-01-01 00:00:00.000', raw_otel_json: span }]],
    ['rows of Logs Insights', [{ '@timestamp': '2026-01-01 00:00:00.000', '@message': text }]],
    [
      'get-query-results',
      {
        results: [
          [
            { field: '@message', value: text },
            { field: '@ptr', value: 'x' },
          ],
        ],
        status: 'Complete',
      },
    ],
    [
      'filter-log-events',
      {
        events: [
          { logStreamName: 'a', timestamp: 1, message: text, ingestionTime: 2, eventId: '3'.repeat(56) },
        ],
      },
    ],
    [
      'get-log-events',
      { events: [{ timestamp: 1, message: text, ingestionTime: 2 }], nextForwardToken: 'f' },
    ],
    [
      'a decoded subscription envelope',
      {
        messageType: 'DATA_MESSAGE',
        logGroup: 'aws/spans',
        logEvents: [{ id: '3'.repeat(56), timestamp: 1, message: text }],
      },
    ],
  ])('%s', (_, document) => {
    expect(unpackTelemetry(document)).toMatchObject({ envelope: 'aws-flat', unread: [] });
    expect(recordsOf(document)).toEqual(wanted);
  });
});

it('the same span as OTLP, flat record and snake_case is the same raw span', () => {
  const [otlp] = recordsOf(fixture('otlp-genai'));
  if (otlp?.type !== 'span') throw new Error('a span was expected');
  const { resource, scope, attributes, status, traceId, spanId, name, kind } = otlp;
  const times = { start: otlp.startTimeUnixNano, end: otlp.endTimeUnixNano };
  const flat = {
    resource: { attributes: { ...resource } },
    scope,
    traceId,
    spanId,
    name,
    kind,
    startTimeUnixNano: times.start,
    endTimeUnixNano: times.end,
    attributes: { ...attributes },
    status,
  };
  const snake = {
    resource: { attributes: { ...resource } },
    scope,
    trace_id: traceId,
    span_id: spanId,
    parent_span_id: null,
    name,
    kind,
    start_time: times.start,
    end_time: times.end,
    attributes: { ...attributes },
    status,
    span_events: [],
  };
  expect(recordsOf(flat)).toEqual([otlp]);
  expect(recordsOf([snake])).toEqual([otlp]);
});

it('OTLP log records are read beside spans, and one without a body is still a record', () => {
  const document = {
    resourceLogs: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'svc' } }] },
        scopeLogs: [
          {
            scope: { name: 'x' },
            logRecords: [
              {
                traceId: 'AAAAAAAAAAAAAAAAAAAAAQ==',
                spanId: 'AAAAAAAAAAE=',
                timeUnixNano: '5',
                body: { kvlistValue: { values: [{ key: 'content', value: { stringValue: 'Hi' } }] } },
                eventName: 'gen_ai.user.message',
              },
              { timeUnixNano: '6' },
            ],
          },
        ],
      },
    ],
  };
  expect(recordsOf(document)).toMatchObject([
    {
      type: 'log',
      traceId: '00000000000000000000000000000001',
      spanId: '0000000000000001',
      body: { content: 'Hi' },
      attributes: { 'event.name': 'gen_ai.user.message' },
      resource: { 'service.name': 'svc' },
    },
    { type: 'log', traceId: null, body: null },
  ]);
});

it('what is no record beside records is counted, not dropped in silence', () => {
  expect(unpackTelemetry([span, { hello: 1 }, 7])).toMatchObject({
    records: [{}],
    unread: [{ count: 2, reason: 'not-telemetry: neither a span nor a log record' }],
  });
});

it('a wrapper’s session id holds for its spans, but overrules none', () => {
  const spans = [
    { trace_id: 't', span_id: 'a', name: 'a', start_time: 1, attributes: {} },
    { trace_id: 't', span_id: 'b', name: 'b', start_time: 1, attributes: { 'session.id': 'own' } },
  ];
  expect(recordsOf({ session_id: 'outer', spans }).map((r) => r.attributes['session.id'])).toEqual([
    'outer',
    'own',
  ]);
});

describe('refused by name', () => {
  it.each<[string, JsonValue]>([
    ['Jaeger', { data: [{ traceID: 'x', spans: [{ traceID: 'x', spanID: 'y' }], processes: {} }] }],
    [
      'Zipkin',
      [
        {
          traceId: 'x',
          id: 'y',
          name: 'get',
          timestamp: 1,
          duration: 2,
          localEndpoint: { serviceName: 's' },
        },
      ],
    ],
    ['Datadog', [[{ trace_id: 1, span_id: 2, name: 'web', resource: '/', meta: {}, start: 1, duration: 2 }]]],
    ['X-Ray', { Traces: [{ Id: '1-x', Segments: [] }] }],
    ['OTLP metrics', { resourceMetrics: [{ scopeMetrics: [] }] }],
    ['subscription event', { awslogs: { data: 'H4sI' } }],
  ])('%s', (name, document) => {
    expect(ENVELOPES.some((c) => c.recognise(document).match === 'yes')).toBe(false);
    expect(() => readSessions({ document, source: 'given.json' })).toThrow(new RegExp(name));
  });
});
