import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { noneModel } from '../../adapters/models/none.ts';
import { ErrorName } from '../../core/contracts/error-names.ts';
import { canonicalJson } from '../../core/contracts/hash.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/contracts/json.ts';
import { DEFAULT_OPTIONS } from '../../core/diagnosis/options.ts';
import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { readSessions } from '../../core/formats/registry.ts';
import { unwrapLogEvents } from '../../core/ingest/envelope.ts';
import { listQuarantined, type Quarantined, textOf } from '../../core/ingest/quarantine.ts';
import { classifyModelFault } from '../../core/model/classify-model-fault.ts';
import type { ModelRequest } from '../../core/model/port.ts';
import { diagnose } from '../../core/pipeline.ts';
import { type Session, sessionSpans } from '../../core/session/model.ts';
import { makeTokenCounter } from '../../core/tokens/make-token-counter.ts';
import { makeIngestHandler } from '../../lambdas/ingest/handler.ts';
import { LocalIngest } from '../helpers/local-ingest.ts';
import { logEvent, pack } from '../helpers/log-events.ts';
import { scriptedModel } from '../helpers/scripted-model.ts';
import { sharedPath } from '../helpers/shared-data.ts';
import { inferences, onlySession, parsed, recordsOf, spanById, tools } from '../helpers/telemetry.ts';

/** The real files that trials.md names, where that folder is present; our own fixtures stand beside. */

const root = sharedPath('samples');
const text = (file: string): string => readFileSync(`${root}/${file}`, 'utf8');
const load = (file: string): JsonValue => parsed(text(file));
const read = (file: string): Session[] => readSessions({ text: text(file), source: file }).sessions.slice();

const SPLIT = {
  spans: 'aws-agentcore/raw_otel_strands_bedrock_spans.json',
  logs: 'aws-agentcore/raw_otel_strands_bedrock_runtime_logs.json',
};
const LANGCHAIN = {
  spans: 'aws-agentcore/raw_otel_langchain_spans.json',
  logs: 'aws-agentcore/raw_otel_langchain_runtime_logs.json',
};

const counter = makeTokenCounter();
const checked = (session: Session): Promise<Diagnosis> =>
  diagnose(session, DEFAULT_OPTIONS, { model: noneModel, counter, clock: { now: () => 0 } });
const findings = (diagnosis: Diagnosis, check: string) =>
  diagnosis.checks.find(({ checkId }) => checkId === check)?.findings ?? [];

/** Spans of a list, each with some fields replaced. */
const edited = (file: string, edit: (span: JsonObject, index: number) => JsonObject): JsonValue => {
  const document = load(file);
  if (Array.isArray(document))
    return document.map((item, index) => {
      if (!isJsonObject(item)) return item;
      return isJsonObject(item.raw_otel_json)
        ? { ...item, raw_otel_json: edit(item.raw_otel_json, index) }
        : edit(item, index);
    });
  if (isJsonObject(document) && Array.isArray(document.spans))
    return {
      ...document,
      spans: document.spans.map((span, i) => (isJsonObject(span) ? edit(span, i) : span)),
    };
  throw new Error(`${file} is no list of spans`);
};

describe.skipIf(root === null)('samples of log events', () => {
  it('a control message leaves nothing, direct and as the collector recorded it', async () => {
    for (const event of [
      load('derived/awslogs-control-message.json'),
      { awslogs: { data: pack(text('cwl-envelope/otelcol-only_control.json')) } },
    ]) {
      const world = new LocalIngest();
      expect(await makeIngestHandler(world.deps)(event)).toMatchObject({ stored: 0, quarantined: [] });
      expect(world.objects.objects.size + world.index.states.size).toBe(0);
    }
  });

  it('the message with inner quotes that are not escaped is kept as it came, with the reason', async () => {
    const envelope = load('cwl-envelope/datadog-step_functions_log.json') as unknown as {
      logEvents: { message: string }[];
    };
    const world = new LocalIngest();
    const data = pack(JSON.stringify(envelope));
    expect((await makeIngestHandler(world.deps)({ awslogs: { data } })).quarantined).toHaveLength(1);
    const kept: Quarantined[] = [];
    for await (const item of listQuarantined(world.objects)) kept.push(item);
    expect(kept[0]?.reason).toMatch(/^bad-json/);
    expect(textOf(kept[0]?.raw ?? '')).toBe(envelope.logEvents[0]?.message);
  });

  it.each([
    'awslogs-langchain-spans.json',
    'awslogs-langchain-runtime-logs.json',
    'awslogs-xray-inprogress-stepfunctions-spans.json',
  ])('%s delivered three times leaves what it leaves once', async (file) => {
    const event = load(`derived/${file}`);
    const [once, often] = [new LocalIngest(), new LocalIngest()];
    const { stored, quarantined } = await makeIngestHandler(once.deps)(event);
    expect(stored).toBeGreaterThan(0);
    expect(quarantined).toEqual([]);
    for (let n = 0; n < 3; n += 1) await makeIngestHandler(often.deps)(event);
    await once.settle();
    await often.settle();
    expect(often.workflow.started).toEqual(once.workflow.started);
    expect([...often.objects.objects.keys()].sort()).toEqual([...once.objects.objects.keys()].sort());
    expect((await unwrapLogEvents(event)).trouble).toEqual([]);
  });

  it('a record over 256 KB made of a sample span, cut at 262,119 characters, is read from its halves', async () => {
    const [record] = load(SPLIT.spans) as JsonObject[];
    const raw = (isJsonObject(record?.raw_otel_json) ? record.raw_otel_json : record) as JsonObject;
    const line = JSON.stringify({
      ...raw,
      attributes: { ...(raw.attributes as JsonObject), filler: 'ten chars '.repeat(30_000) },
    });
    const world = new LocalIngest();
    const halves = [line.slice(0, 262_119), line.slice(262_119)].map((message) => logEvent(message));
    expect(await world.deliver(halves)).toMatchObject([{ stored: 1, quarantined: [], unrelated: 0 }]);
  });

  it('lines of applications in the envelopes of others are counted, and fill no quarantine', async () => {
    for (const file of ['datadog-cloudwatch_log.json', 'datadog-cloudwatch_log_lambda_invocation.json']) {
      const world = new LocalIngest();
      const data = pack(text(`cwl-envelope/${file}`));
      const report = await makeIngestHandler(world.deps)({ awslogs: { data } });
      expect({ file, ...report }).toMatchObject({ file, stored: 0, quarantined: [] });
      expect(report.unrelated).toBeGreaterThan(1);
    }
    for (const file of [
      'powertools-cloudwatch-base.json',
      'powertools-kinesis-stream-cloudwatch-logs.json',
    ]) {
      const { events, trouble } = await unwrapLogEvents(load(`cwl-envelope/${file}`));
      expect(events.length).toBeGreaterThan(0);
      expect(trouble).toEqual([]);
    }
  });
});

describe.skipIf(root === null)('samples of AWS spans', () => {
  it('X-Ray: 42 records of spans that arrive twice are 24 spans, 9 of them failed', () => {
    const file = 'aws-agentcore/coralogix-aws_spans-stepfunctions-inprogress.json';
    expect(recordsOf(load(file))).toHaveLength(42);
    const sessions = read(file);
    const spans = sessions.flatMap(sessionSpans);
    expect(spans).toHaveLength(24);
    expect(spans.filter((span) => span.status === 'error' && span.errors.length > 0)).toHaveLength(9);
    expect(spans.filter((span) => span.flags.includes('in-progress'))).toEqual([]);
    expect(new Set(sessions.map((session) => session.service))).toEqual(new Set(['cx-span-sample']));
  });

  it('Strands: records without a session id are all in the one session, under the id that a few name', () => {
    const session = onlySession(load(SPLIT.spans), load(SPLIT.logs));
    expect(session.sessionId).toBe('cc8a8e69-8bed-4e5f-9a06-9a58550fd713');
    expect(sessionSpans(session)).toHaveLength(50);
    const roots = sessionSpans(session).filter((span) => span.parentSpanId === null);
    expect(roots.every((span) => span.flags.includes('missing-parent'))).toBe(true);
  });

  it('LangChain: JSON text in JSON, constructor objects and Python arguments come out as messages and arguments', () => {
    const session = onlySession(load(LANGCHAIN.spans), load(LANGCHAIN.logs));
    const blocks = inferences(session).flatMap((call) =>
      [...call.input, ...call.output].flatMap((m) => m.content),
    );
    expect(blocks.some((block) => block.type === 'text' && block.text.trim() !== '')).toBe(true);
    for (const block of blocks) {
      if (block.type === 'text') expect(block.text).not.toMatch(/"lc":\s*1|^\{"inputs"/);
      if (block.type === 'tool_use') expect(typeof block.arguments).toBe('object');
    }
  });

  it('spans carry no arguments or results; with the runtime log group every call has both', () => {
    const alone = onlySession(load(SPLIT.spans));
    expect(inferences(alone).flatMap((call) => [...call.input, ...call.output])).toEqual([]);
    const whole = onlySession(load(SPLIT.spans), load(SPLIT.logs));
    const blocks = inferences(whole).flatMap((call) => call.input.flatMap((message) => message.content));
    const uses = blocks.filter((block) => block.type === 'tool_use');
    expect(uses.length).toBeGreaterThan(5);
    for (const use of uses) {
      expect(use.arguments).not.toEqual({});
      expect(
        blocks.some((block) => block.type === 'tool_result' && block.toolCallId === use.toolCallId),
      ).toBe(true);
    }
  });

  it('spans without their log records: not analysed because the content has not arrived, never clean', async () => {
    for (const file of [SPLIT.spans, LANGCHAIN.spans]) {
      const diagnosis = await checked(onlySession(load(file)));
      expect(diagnosis.outcome).toBe('NOT_ANALYSED');
      expect(diagnosis.coverage.gaps.map(({ reason }) => reason).join()).toContain('content-not-arrived');
    }
  });

  it('spans replayed after the logs were closed make the session of a tidy delivery', async () => {
    const events = (file: string) =>
      (load(file) as JsonObject[]).map((row) =>
        logEvent(isJsonObject(row.raw_otel_json) ? row.raw_otel_json : row),
      );
    const [late, tidy] = [new LocalIngest(), new LocalIngest()];
    await late.deliver(events(SPLIT.logs));
    await late.settle();
    const early = late.workflow.started.size;
    await late.deliver(events(SPLIT.spans));
    await late.settle();
    await tidy.deliver([...events(SPLIT.spans), ...events(SPLIT.logs)]);
    await tidy.settle();
    const id = 'cc8a8e69-8bed-4e5f-9a06-9a58550fd713';
    const hash = (await tidy.index.state(id))?.closedHash;
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect((await late.index.state(id))?.closedHash).toBe(hash);
    expect(late.workflow.started.size).toBe(early + 1);
  });

  it('framework and SDK spans of one model call: the tokens of three calls are counted once', () => {
    const session = onlySession(load(SPLIT.spans));
    expect(inferences(session)).toHaveLength(3);
    expect(sessionSpans(session).filter((span) => span.flags.includes('merged-duplicate'))).toHaveLength(3);
    const seen = (load(SPLIT.spans) as JsonObject[]).map((row) =>
      isJsonObject(row.raw_otel_json) ? row.raw_otel_json : row,
    );
    const calls = seen.filter((span) => span.name === 'chat');
    const tokens = calls.reduce(
      (sum, span) => sum + Number((span.attributes as JsonObject)['gen_ai.usage.input_tokens']),
      0,
    );
    expect(inferences(session).reduce((sum, call) => sum + (call.usage?.inputTokens ?? 0), 0)).toBe(tokens);
  });

  it('every span whose parent is taken away is still there, under the root of its trace', () => {
    const ghosted = edited(SPLIT.spans, (span, index) =>
      index % 3 === 0 ? { ...span, parentSpanId: `ghost${String(index).padStart(11, '0')}` } : span,
    );
    const session = onlySession(ghosted);
    expect(sessionSpans(session)).toHaveLength(50);
    for (const trace of session.traces) {
      const ids = new Set(trace.spans.map((span) => span.spanId));
      expect(trace.spans.filter((span) => span.parentSpanId !== null && !ids.has(span.parentSpanId))).toEqual(
        [],
      );
      expect(trace.spans.filter((span) => span.parentSpanId === null)).toHaveLength(1);
    }
  });
});

describe.skipIf(root === null)('samples of frameworks', () => {
  const live = 'strands-evals-fixtures/claude_live_spans.json';
  const adot = 'strands-evals-fixtures/claude_adot_spans.json';

  it('Claude: tool output in JSON quotes is the plain text, and the session id of the root is that of all', () => {
    const [session, ...more] = read(live);
    expect(more).toEqual([]);
    expect(tools(session!).map((tool) => tool.toolResult?.content)).toContain(
      '89°F, partly cloudy with high humidity',
    );
    for (const tool of tools(session!)) expect(tool.toolResult?.content).not.toMatch(/^".*"$/s);
  });

  it.each([live, adot])('Claude: sub-agents outlive their parents, whose parent is missing: %s', (file) => {
    const [session] = read(file);
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
    const [before] = read(adot);
    const changed = edited(adot, (span, index) =>
      index < 2
        ? span
        : { ...span, attributes: { ...(span.attributes as JsonObject), 'session.id': 'cli-42' } },
    );
    const { sessions } = readSessions({ document: changed, source: 'changed' });
    expect(sessions.map((session) => sessionSpans(session).length)).toEqual([sessionSpans(before!).length]);
    expect(sessionSpans(sessions[0]!).some((span) => span.flags.includes('second-session-id'))).toBe(true);
  });

  it('OpenLLMetry: nine spans in nine traces, base64 ids and no session id, are one session', () => {
    const [session, ...more] = read('otlp/kagua-openllmetry-langchain.json');
    expect(more).toEqual([]);
    expect(session!.traces).toHaveLength(9);
    for (const span of sessionSpans(session!)) expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(tools(session!).every((tool) => tool.toolResult !== null)).toBe(true);
  });

  it('OpenAI Agents: of two hand-offs asked at once the ignored one is found', async () => {
    const [session] = read('strands-evals-fixtures/openai_agents_openinference_adot_spans.json');
    const asked = inferences(session!)[0]?.output.flatMap((m) => m.content) ?? [];
    expect(
      asked.filter((block) => block.type === 'tool_use' && block.name.startsWith('transfer_to_')),
    ).toHaveLength(2);
    const found = findings(await checked(session!), 'explicit-error').flatMap(({ evidence }) => evidence);
    expect(found.map(({ quote }) => quote)).toContain('Multiple handoffs detected, ignoring this one.');
  });

  it.each([
    'langfuse-tests/pitfall-out-of-range-index.json',
    'langfuse-tests/pitfall-out-of-range-nested-index.json',
  ])('an index far past the length is left out and said: %s', (file) => {
    const [session] = read(file);
    expect(inferences(session!)[0]?.flags).toContain('index-capped');
    expect(canonicalJson(session!)).not.toContain('unsafe');
    expect(canonicalJson(session!).length).toBeLessThan(2000);
  });
});

describe.skipIf(root === null)('samples of files', () => {
  it('Who&When: a label, in the history or beyond it, reaches no session', () => {
    const file = 'trajectories/whowhen-handcrafted-24.json';
    const { history, mistake_reason: reason } = load(file) as {
      history: JsonValue[];
      mistake_reason: string;
    };
    const [session] = read(file);
    expect(sessionSpans(session!)).toHaveLength(history.length);
    expect(reason.length).toBeGreaterThan(10);
    expect(canonicalJson(session!)).not.toContain(reason.slice(0, 40));
  });

  it('tau-bench: two failed runs without any error are two sessions, partial and not clean without a model', async () => {
    const sessions = read('trajectories/taubench-gpt4o-airline-2-failed.json');
    expect(sessions).toHaveLength(2);
    for (const session of sessions) {
      const last = sessionSpans(session).at(-1);
      expect(last?.kind === 'message' ? JSON.stringify(last.message.content) : '').toContain('###STOP###');
      expect(await checked(session)).toMatchObject({
        outcome: 'PARTIAL',
        outcomeReason: expect.stringMatching(/^no-model/),
      });
    }
  });

  it('OpenInference recording: the second tool_use was cut at the token limit', async () => {
    const [session] = read('bedrock-recordings/should-handle-multiple-tools-in-single-request.json');
    const diagnosis = await checked(session!);
    expect(findings(diagnosis, 'output-cut')).toHaveLength(1);
    expect(findings(diagnosis, 'arguments-break-schema')).toEqual([]);
  });

  it('OpenInference recording: a 400 of Bedrock is an error of the call, and not an overflow by its status alone', () => {
    const file = 'bedrock-recordings/should-handle-api-error-scenarios.json';
    const [recording] = load(file) as unknown as { status: number; response: { message: string } }[];
    const [session] = read(file);
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
      .flatMap(read)
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
