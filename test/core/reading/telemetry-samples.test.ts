import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { canonicalJson, sha256Hex } from '../../../core/base/hash.ts';
import type { JsonValue } from '../../../core/base/json.ts';
import { assembleSessions } from '../../../core/reading/assembly/assemble.ts';
import { examineTelemetry } from '../../../core/reading/doctor.ts';
import { sessionSpans } from '../../../core/session/session.ts';
import { sharedPath } from '../../helpers/shared-data.ts';
import { assembled, inferences, parsed, recordsOf, tools } from '../../helpers/telemetry.ts';

/** The real files of the shared samples, where that folder is present. */

const root = sharedPath('samples');
const load = (file: string): JsonValue => parsed(readFileSync(path.join(root ?? '', file), 'utf8'));
const hash = (records: Parameters<typeof assembleSessions>[0]): string =>
  sha256Hex(canonicalJson(assembleSessions(records)));

const CASES: readonly {
  files: string[];
  sessions: number;
  spans: number;
  calls: number;
  tools: number;
  tokens: number;
}[] = [
  {
    files: [
      'aws-agentcore/raw_otel_strands_bedrock_spans.json',
      'aws-agentcore/raw_otel_strands_bedrock_runtime_logs.json',
    ],
    sessions: 1,
    spans: 50,
    calls: 3,
    tools: 0,
    tokens: 63_568,
  },
  {
    files: [
      'aws-agentcore/raw_otel_langchain_spans.json',
      'aws-agentcore/raw_otel_langchain_runtime_logs.json',
    ],
    sessions: 1,
    spans: 12,
    calls: 2,
    tools: 0,
    tokens: 667,
  },
  {
    files: ['aws-agentcore/coralogix-aws_spans-stepfunctions-inprogress.json'],
    sessions: 6,
    spans: 24,
    calls: 0,
    tools: 0,
    tokens: 0,
  },
  {
    files: ['strands-evals-fixtures/adk_live_spans.json'],
    sessions: 1,
    spans: 7,
    calls: 2,
    tools: 1,
    tokens: 379,
  },
  {
    files: ['strands-evals-fixtures/claude_adot_spans.json'],
    sessions: 1,
    spans: 8,
    calls: 1,
    tools: 4,
    tokens: 4,
  },
  {
    files: ['strands-evals-fixtures/claude_live_spans.json'],
    sessions: 1,
    spans: 10,
    calls: 1,
    tools: 6,
    tokens: 132,
  },
  {
    files: ['strands-evals-fixtures/openai_agents_openinference_adot_spans.json'],
    sessions: 1,
    spans: 16,
    calls: 3,
    tools: 2,
    tokens: 692,
  },
  {
    files: ['strands-evals-fixtures/openinference_adot_spans.json'],
    sessions: 2,
    spans: 8,
    calls: 3,
    tools: 1,
    tokens: 0,
  },
  {
    files: ['strands-evals-fixtures/otel_genai_convention_spans.json'],
    sessions: 1,
    spans: 5,
    calls: 2,
    tools: 2,
    tokens: 200,
  },
  {
    files: ['strands-evals-fixtures/pydantic_ai_live_spans.json'],
    sessions: 1,
    spans: 4,
    calls: 2,
    tools: 1,
    tokens: 1251,
  },
  {
    files: ['strands-evals-fixtures/smolagents_live_spans.json'],
    sessions: 1,
    spans: 7,
    calls: 2,
    tools: 2,
    tokens: 6256,
  },
  { files: ['otlp/kagua-openllmetry-langchain.json'], sessions: 1, spans: 9, calls: 5, tools: 4, tokens: 0 },
  {
    files: ['langfuse-tests/genai-operation-details-span-event.json'],
    sessions: 1,
    spans: 1,
    calls: 1,
    tools: 0,
    tokens: 0,
  },
  {
    files: ['langfuse-tests/google-adk-tool-call.json'],
    sessions: 1,
    spans: 1,
    calls: 0,
    tools: 1,
    tokens: 0,
  },
  { files: ['langfuse-tests/openlit.json'], sessions: 1, spans: 1, calls: 1, tools: 0, tokens: 14 },
  { files: ['langfuse-tests/traceloop-openai.json'], sessions: 1, spans: 1, calls: 1, tools: 0, tokens: 14 },
  {
    files: ['langfuse-tests/vercel-ai-sdk-v7-genai.json'],
    sessions: 1,
    spans: 2,
    calls: 1,
    tools: 1,
    tokens: 0,
  },
  {
    files: ['langfuse-tests/pitfall-out-of-range-index.json'],
    sessions: 1,
    spans: 1,
    calls: 1,
    tools: 0,
    tokens: 0,
  },
  {
    files: ['langfuse-tests/pitfall-out-of-range-nested-index.json'],
    sessions: 1,
    spans: 1,
    calls: 1,
    tools: 0,
    tokens: 0,
  },
  {
    files: ['openinference-genai/openinference_client_span_tool_calls.json'],
    sessions: 1,
    spans: 1,
    calls: 1,
    tools: 0,
    tokens: 97,
  },
  {
    files: ['openinference-genai/otel_genai_client_span_tool_calls.json'],
    sessions: 1,
    spans: 1,
    calls: 1,
    tools: 0,
    tokens: 97,
  },
  {
    files: ['openinference-genai/otel_genai_tool_execution_span.json'],
    sessions: 1,
    spans: 1,
    calls: 0,
    tools: 1,
    tokens: 0,
  },
];

describe.skipIf(root === null).each(CASES)('$files', ({ files, ...wanted }) => {
  it('reads whole, and the same in whatever order and however often it comes', () => {
    const records = recordsOf(...files.map(load));
    const sessions = assembled(records);
    const calls = sessions.flatMap(inferences);
    expect({
      sessions: sessions.length,
      spans: sessions.flatMap(sessionSpans).length,
      calls: calls.length,
      tools: sessions.flatMap(tools).length,
      tokens: calls.reduce((sum, call) => sum + (call.usage?.inputTokens ?? 0), 0),
    }).toEqual(wanted);
    const wantedHash = hash(records);
    for (let cut = 0; cut <= records.length; cut += 1) {
      expect(hash([...records.slice(cut), ...records.slice(0, cut), ...records.slice(0, cut % 5)])).toBe(
        wantedHash,
      );
    }
    expect(hash([...records].reverse())).toBe(wantedHash);
  });
});

describe.skipIf(root === null)('the AgentCore split-layout sample', () => {
  const files = [
    'aws-agentcore/raw_otel_strands_bedrock_spans.json',
    'aws-agentcore/raw_otel_strands_bedrock_runtime_logs.json',
  ];

  it('has one session id, prompts, tool calls with arguments and results, and flags the failing call', () => {
    const [session] = assembled(recordsOf(...files.map(load)));
    expect(session).toMatchObject({
      sessionId: 'cc8a8e69-8bed-4e5f-9a06-9a58550fd713',
      agent: 'Strands Agents',
    });
    const whole = inferences(session!).find((call) => call.input.length > 0)!;
    const blocks = whole.input.flatMap((message) => message.content);
    const uses = blocks.filter((block) => block.type === 'tool_use');
    const results = blocks.filter((block) => block.type === 'tool_result');
    expect(uses.length).toBeGreaterThan(5);
    for (const use of uses) {
      expect(use.arguments).toHaveProperty('code_interpreter_input');
      expect(results.filter((result) => result.toolCallId === use.toolCallId)).toHaveLength(1);
    }
    expect(results.filter((result) => result.isError).map((result) => result.toolCallId)).toEqual([
      'tooluse_PgnNsLk2TUKPr51w2nXVAg',
    ]);
    expect(whole.errors).toMatchObject([
      { source: 'tool-status', message: expect.stringContaining('Validation failed for input parameters') },
    ]);
    expect(whole.systemPrompt).toContain('code execution');
  });

  it('either half alone says what is missing', () => {
    const codes = (file: string) =>
      examineTelemetry(recordsOf(load(file))).findings.map((finding) => finding.code);
    expect(codes(files[0]!)).toContain('spans-without-logs');
    expect(codes(files[1]!)).toContain('logs-without-spans');
  });
});
