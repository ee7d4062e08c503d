import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../core/base/hash.ts';
import type { JsonObject, JsonValue } from '../../core/base/json.ts';
import { DEFAULT_OPTIONS } from '../../core/diagnosis/options.ts';
import { ErrorName } from '../../core/errors/error-names.ts';
import { classifyModelFault } from '../../core/model/classify-model-fault.ts';
import type { ModelRequest } from '../../core/model/port.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { readSessions } from '../../core/reading/registry.ts';
import { type Session, sessionSpans } from '../../core/session/session.ts';
import { diagnose } from '../../core/stages/pipeline.ts';
import { editedSample, loadSample, readSample, samples } from '../helpers/samples.ts';
import { scriptedModel } from '../helpers/scripted-model.ts';
import { inferences, spanById, tools } from '../helpers/telemetry.ts';
import { diagnoseWithoutModel, reportOf } from '../helpers/without-model.ts';

/** Real files that trials.md names, where that folder is present; our own fixtures stand beside. */

const counter = makeTokenCounter();

describe.skipIf(samples === null)('samples of frameworks', () => {
  const live = 'strands-evals-fixtures/claude_live_spans.json';
  const adot = 'strands-evals-fixtures/claude_adot_spans.json';

  it('Claude: tool output in JSON quotes is the plain text, and the session id of the root is that of all', () => {
    const [session, ...more] = readSample(live);
    expect(more).toEqual([]);
    expect(tools(session!).map((tool) => tool.toolResult?.content)).toContain(
      '89°F, partly cloudy with high humidity',
    );
    for (const tool of tools(session!)) expect(tool.toolResult?.content).not.toMatch(/^".*"$/s);
  });

  it.each([live, adot])('Claude: sub-agents outlive their parents, whose parent is missing: %s', (file) => {
    const [session] = readSample(file);
    const late = sessionSpans(session!).filter((span) => span.flags.includes('outlives-parent'));
    expect(late.length).toBeGreaterThan(1);
    for (const span of late) {
      const parent = spanById(session!, span.parentSpanId ?? '');
      expect(BigInt(span.endTimeUnixNano ?? 0)).toBeGreaterThan(BigInt(parent.endTimeUnixNano ?? 0));
    }
    const roots = sessionSpans(session!).filter((span) => span.parentSpanId === null);
    expect(roots.map((span) => span.flags)).toEqual([expect.arrayContaining(['missing-parent'])]);
  });

  it('Claude: the id of the CLI on half of the spans does not make two sessions of one trace', () => {
    const [before] = readSample(adot);
    const changed = editedSample(adot, (span, index) =>
      index < 2
        ? span
        : { ...span, attributes: { ...(span.attributes as JsonObject), 'session.id': 'cli-42' } },
    );
    const { sessions } = readSessions({ document: changed, source: 'changed' });
    expect(sessions.map((session) => sessionSpans(session).length)).toEqual([sessionSpans(before!).length]);
    expect(sessionSpans(sessions[0]!).some((span) => span.flags.includes('second-session-id'))).toBe(true);
  });

  it('OpenLLMetry: nine spans in nine traces, base64 ids and no session id, are one session', () => {
    const [session, ...more] = readSample('otlp/kagua-openllmetry-langchain.json');
    expect(more).toEqual([]);
    expect(session!.traces).toHaveLength(9);
    for (const span of sessionSpans(session!)) expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(tools(session!).every((tool) => tool.toolResult !== null)).toBe(true);
  });

  it('OpenAI Agents: of two hand-offs asked at once the ignored one is found', async () => {
    const [session] = readSample('strands-evals-fixtures/openai_agents_openinference_adot_spans.json');
    const asked = inferences(session!)[0]?.output.flatMap((m) => m.content) ?? [];
    expect(
      asked.filter((block) => block.type === 'tool_use' && block.name.startsWith('transfer_to_')),
    ).toHaveLength(2);
    const found = (reportOf(await diagnoseWithoutModel(session!), 'explicit-error')?.findings ?? []).flatMap(
      ({ evidence }) => evidence,
    );
    expect(found.map(({ quote }) => quote)).toContain('Multiple handoffs detected, ignoring this one.');
  });

  it.each([
    'langfuse-tests/pitfall-out-of-range-index.json',
    'langfuse-tests/pitfall-out-of-range-nested-index.json',
  ])('an index far past the length is left out and said: %s', (file) => {
    const [session] = readSample(file);
    expect(inferences(session!)[0]?.flags).toContain('index-capped');
    expect(canonicalJson(session!)).not.toContain('unsafe');
    expect(canonicalJson(session!).length).toBeLessThan(2000);
  });
});

describe.skipIf(samples === null)('samples of files', () => {
  it('Who&When: a label, in the history or beyond it, reaches no session', () => {
    const file = 'trajectories/whowhen-handcrafted-24.json';
    const { history, mistake_reason: reason } = loadSample(file) as {
      history: JsonValue[];
      mistake_reason: string;
    };
    const [session] = readSample(file);
    expect(sessionSpans(session!)).toHaveLength(history.length);
    expect(reason.length).toBeGreaterThan(10);
    expect(canonicalJson(session!)).not.toContain(reason.slice(0, 40));
  });

  it('tau-bench: two failed runs without any error are two sessions, partial and not clean without a model', async () => {
    const sessions = readSample('trajectories/taubench-gpt4o-airline-2-failed.json');
    expect(sessions).toHaveLength(2);
    for (const session of sessions) {
      const last = sessionSpans(session).at(-1);
      expect(last?.kind === 'message' ? JSON.stringify(last.message.content) : '').toContain('###STOP###');
      expect(await diagnoseWithoutModel(session)).toMatchObject({
        outcome: 'UNKNOWN',
        outcomeReason: expect.stringMatching(/^no-model/),
      });
    }
  });

  it('OpenInference recording: the second tool_use was cut at the token limit', async () => {
    const [session] = readSample('bedrock-recordings/should-handle-multiple-tools-in-single-request.json');
    const diagnosis = await diagnoseWithoutModel(session!);
    expect(reportOf(diagnosis, 'output-cut')?.findings ?? []).toHaveLength(1);
    expect(reportOf(diagnosis, 'arguments-break-schema')?.findings ?? []).toEqual([]);
  });

  it('OpenInference recording: a 400 of Bedrock is an error of the call, and not an overflow by its status alone', () => {
    const file = 'bedrock-recordings/should-handle-api-error-scenarios.json';
    const [recording] = loadSample(file) as unknown as { status: number; response: { message: string } }[];
    const [session] = readSample(file);
    expect(inferences(session!)[0]?.errors).toMatchObject([{ source: 'http', code: 400 }]);
    const fault = (message: string) =>
      classifyModelFault({ name: 'ValidationException', status: recording!.status, message }).name;
    expect(fault(recording!.response.message)).toBe(ErrorName.ModelAccess);
    expect(fault('Input is too long for requested model.')).toBe(ErrorName.ContextOverflow);
  });

  it('all trajectories in one session, larger than the window: each call fits, and each span is seen', async () => {
    const spans = [
      'trajectories/agentrx-magentic-42576abe.json',
      'trajectories/taubench-gpt4o-airline-2-failed.json',
      'trajectories/whowhen-handcrafted-24.json',
      'trajectories/exgentic-tau2-trajectory.jsonl',
    ]
      .flatMap(readSample)
      .flatMap((session, part) => sessionSpans(session).map((span) => ({ span, part })))
      .map(({ span, part }, position) => ({
        ...span,
        traceId: 't',
        spanId: `p${part}-${span.spanId}`,
        parentSpanId: null,
        sourcePosition: position,
      }));
    const session: Session = {
      sessionId: 'all',
      format: 'test',
      traces: [{ traceId: 't', sessionId: 'all', spans }],
      goal: null,
      agent: null,
      service: null,
      unread: [],
    };
    const limits = { contextTokens: 12_000, maxOutputTokens: 4000, tokenFactor: 1 };
    const model = scriptedModel([{ reply: { failures: [] }, times: 99 }], { limits });
    const diagnosis = await diagnose(session, DEFAULT_OPTIONS, { model, counter, clock: { now: () => 0 } });
    const size = ({ user }: ModelRequest): number =>
      user.reduce((sum, part) => sum + counter.count(part.text), 0);
    expect(model.requests.length).toBeGreaterThan(2);
    expect(Math.max(...model.requests.map(size))).toBeLessThan(limits.contextTokens);
    expect(diagnosis.coverage.spansAnalysed).toBe(spans.length);
  });
});
