import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../core/base/json.ts';
import { type DoctorCode, examineTelemetry } from '../../../core/reading/doctor.ts';
import { at, chat, fixture, flatSpan, recordsOf, toolRun } from '../../helpers/telemetry.ts';

const codes = (...documents: JsonValue[]): DoctorCode[] =>
  examineTelemetry(recordsOf(...documents)).findings.map((f) => f.code);
const finding = (code: DoctorCode, ...documents: JsonValue[]) => {
  const found = examineTelemetry(recordsOf(...documents)).findings.find((f) => f.code === code);
  if (found === undefined) throw new Error(`no ${code}`);
  return found;
};
const user = [{ role: 'user', parts: [{ type: 'text', content: 'Hi' }] }];

describe('names the missing piece', () => {
  it('spans without their log records', () => {
    expect(finding('spans-without-logs', fixture('agentcore-split-spans'))).toMatchObject({
      severity: 'blocks',
      advice: expect.stringContaining('/aws/bedrock-agentcore/runtimes/parcels-AB12-DEFAULT'),
    });
  });

  it('logs without spans', () => {
    expect(finding('logs-without-spans', fixture('agentcore-split-logs')).advice).toContain('aws/spans');
  });

  it('no session id', () => {
    const document = [flatSpan('s', { scope: 'strands.telemetry.tracer', attributes: chat(user, user) })];
    expect(finding('no-session-id', document).advice).toContain('trace_attributes');
    expect(finding('no-session-id', fixture('traceloop-one-trace-a-call')).advice).toContain(
      'gen_ai.conversation.id',
    );
  });

  it('content switched off', () => {
    const document = [flatSpan('s', { attributes: { 'gen_ai.operation.name': 'chat', 'session.id': 'S' } })];
    expect(finding('content-off', document)).toMatchObject({
      severity: 'blocks',
      advice: expect.stringContaining('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true'),
    });
  });

  it('content switched off in ADK, with its own setting', () => {
    const document = [
      flatSpan('s', {
        name: 'call_llm',
        scope: 'gcp.vertex.agent',
        attributes: {
          'gcp.vertex.agent.llm_request': '{}',
          'gcp.vertex.agent.llm_response': '{}',
          'session.id': 'S',
        },
      }),
    ];
    expect(finding('content-off', document).advice).toContain('ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS');
  });

  it('an unknown scope', () => {
    expect(
      finding('unknown-scope', [
        flatSpan('s', { scope: 'acme.llm.tracing', attributes: { 'acme.prompt': 'x' } }),
      ]).found,
    ).toContain('acme.llm.tracing');
  });

  it('an unknown scope whose name says nothing of agents', () => {
    const document = [flatSpan('s', { scope: 'acme.tracing', attributes: { 'acme.prompt': 'x' } })];
    expect(finding('no-agent-content', document).found).toContain('acme.tracing');
  });

  it('a foreign schema', () => {
    const document = [flatSpan('s', { attributes: { 'mlflow.spanType': 'LLM', 'mlflow.spanInputs': '{}' } })];
    expect(finding('foreign-schema', document)).toMatchObject({
      severity: 'blocks',
      found: expect.stringContaining('MLflow'),
    });
    expect(codes(document)).toContain('no-agent-content');
  });

  it('spans still open', () => {
    expect(
      codes([flatSpan('s', { end: null, attributes: { ...chat(user, user), 'session.id': 'S' } })]),
    ).toEqual(['in-progress']);
  });

  it('a broken hierarchy', () => {
    const document = [1, 2, 3].map((n) =>
      flatSpan(`s${n}`, {
        parent: `gone${n}`,
        start: n,
        attributes: { ...chat(user, user), 'session.id': 'S' },
      }),
    );
    expect(codes(document)).toEqual(['no-hierarchy']);
  });

  it('no tool definitions', () => {
    expect(
      codes([flatSpan('s', { attributes: { ...toolRun('find', {}, 'x'), 'session.id': 'S' } })]),
    ).toEqual(['no-tool-definitions']);
  });

  it('nothing at all, and records that could not be read', () => {
    expect(examineTelemetry([]).findings.map((f) => f.code)).toEqual(['no-agent-content']);
    const exam = examineTelemetry([], [{ where: 'x', reason: 'bad-json: y', count: 3 }]);
    expect(exam.findings).toMatchObject([
      { code: 'unreadable-records', found: expect.stringContaining('bad-json: y (3)') },
    ]);
    expect(exam.records.unread).toBe(3);
  });
});

it('finds nothing to complain about in whole telemetry', () => {
  const document = [
    flatSpan('a', { attributes: { 'gen_ai.operation.name': 'invoke_agent', 'session.id': 'S' }, end: 99 }),
    flatSpan('c', {
      parent: 'a',
      start: 1,
      end: 2,
      attributes: chat(user, user, {
        'gen_ai.tool.definitions': '[{"name":"find","parameters":{"type":"object"}}]',
      }),
    }),
    flatSpan('t', { parent: 'a', start: 3, end: 4, attributes: toolRun('find', {}, 'x') }),
    {
      traceId: 'trace-1',
      spanId: 't',
      timeUnixNano: at(3),
      scope: { name: 'app' },
      severityText: 'INFO',
      body: 'found it',
      attributes: {},
    },
  ];
  expect(examineTelemetry(recordsOf(document))).toEqual({
    records: { spans: 3, logs: 1, unread: 0 },
    sessions: 1,
    conventions: { 'otel-genai': 3 },
    kinds: { invoke_agent: 1, inference: 1, execute_tool: 1 },
    findings: [],
  });
});
