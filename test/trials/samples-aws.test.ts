import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '../../core/base/json.ts';
import { unwrapLogEvents } from '../../core/ingest/envelope.ts';
import { listQuarantined, type Quarantined, textOf } from '../../core/ingest/quarantine.ts';
import { sessionSpans } from '../../core/session/session.ts';
import { makeIngestHandler } from '../../lambdas/ingest/handler.ts';
import { LocalIngest } from '../helpers/local-ingest.ts';
import { logEvent, pack } from '../helpers/log-events.ts';
import { editedSample, loadSample, readSample, samples, sampleText } from '../helpers/samples.ts';
import { inferences, onlySession, recordsOf } from '../helpers/telemetry.ts';
import { diagnoseWithoutModel } from '../helpers/without-model.ts';

/** Real files that trials.md names, where that folder is present; our own fixtures stand beside. */

const SPLIT = {
  spans: 'aws-agentcore/raw_otel_strands_bedrock_spans.json',
  logs: 'aws-agentcore/raw_otel_strands_bedrock_runtime_logs.json',
};
const LANGCHAIN = {
  spans: 'aws-agentcore/raw_otel_langchain_spans.json',
  logs: 'aws-agentcore/raw_otel_langchain_runtime_logs.json',
};

describe.skipIf(samples === null)('samples of log events', () => {
  it('a control message leaves nothing, direct and as the collector recorded it', async () => {
    for (const event of [
      loadSample('derived/awslogs-control-message.json'),
      { awslogs: { data: pack(sampleText('cwl-envelope/otelcol-only_control.json')) } },
    ]) {
      const world = new LocalIngest();
      expect(await makeIngestHandler(world.deps)(event)).toMatchObject({ stored: 0, quarantined: [] });
      expect(world.objects.objects.size + world.index.states.size).toBe(0);
    }
  });

  it('the message with inner quotes that are not escaped is kept as it came, with the reason', async () => {
    const envelope = loadSample('cwl-envelope/datadog-step_functions_log.json') as unknown as {
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
    const event = loadSample(`derived/${file}`);
    const [once, often] = [new LocalIngest(), new LocalIngest()];
    const { stored, deferred, quarantined } = await makeIngestHandler(once.deps)(event);
    expect(stored + deferred).toBeGreaterThan(0);
    expect(quarantined).toEqual([]);
    for (let n = 0; n < 3; n += 1) await makeIngestHandler(often.deps)(event);
    await once.settle();
    await often.settle();
    expect(often.workflow.started).toEqual(once.workflow.started);
    expect([...often.objects.objects.keys()].sort()).toEqual([...once.objects.objects.keys()].sort());
    expect((await unwrapLogEvents(event)).trouble).toEqual([]);
  });

  it('a record over 256 KB made of a sample span, cut at 262,119 characters, is read from its halves', async () => {
    const [record] = loadSample(SPLIT.spans) as JsonObject[];
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
      const data = pack(sampleText(`cwl-envelope/${file}`));
      const report = await makeIngestHandler(world.deps)({ awslogs: { data } });
      expect({ file, ...report }).toMatchObject({ file, stored: 0, quarantined: [] });
      expect(report.unrelated).toBeGreaterThan(1);
    }
    for (const file of [
      'powertools-cloudwatch-base.json',
      'powertools-kinesis-stream-cloudwatch-logs.json',
    ]) {
      const { events, trouble } = await unwrapLogEvents(loadSample(`cwl-envelope/${file}`));
      expect(events.length).toBeGreaterThan(0);
      expect(trouble).toEqual([]);
    }
  });
});

describe.skipIf(samples === null)('samples of AWS spans', () => {
  it('X-Ray: 42 records of spans that arrive twice are 24 spans, 9 of them failed', () => {
    const file = 'aws-agentcore/coralogix-aws_spans-stepfunctions-inprogress.json';
    expect(recordsOf(loadSample(file))).toHaveLength(42);
    const sessions = readSample(file);
    const spans = sessions.flatMap(sessionSpans);
    expect(spans).toHaveLength(24);
    expect(spans.filter((span) => span.status === 'error' && span.errors.length > 0)).toHaveLength(9);
    expect(spans.filter((span) => span.flags.includes('in-progress'))).toEqual([]);
    expect(new Set(sessions.map((session) => session.service))).toEqual(new Set(['cx-span-sample']));
  });

  it('Strands: records without a session id are all in the one session, under the id that a few name', () => {
    const session = onlySession(loadSample(SPLIT.spans), loadSample(SPLIT.logs));
    expect(session.sessionId).toBe('cc8a8e69-8bed-4e5f-9a06-9a58550fd713');
    expect(sessionSpans(session)).toHaveLength(50);
    const roots = sessionSpans(session).filter((span) => span.parentSpanId === null);
    expect(roots.every((span) => span.flags.includes('missing-parent'))).toBe(true);
  });

  it('LangChain: JSON text in JSON, constructor objects and Python arguments come out as messages and arguments', () => {
    const session = onlySession(loadSample(LANGCHAIN.spans), loadSample(LANGCHAIN.logs));
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
    const alone = onlySession(loadSample(SPLIT.spans));
    expect(inferences(alone).flatMap((call) => [...call.input, ...call.output])).toEqual([]);
    const whole = onlySession(loadSample(SPLIT.spans), loadSample(SPLIT.logs));
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
      const diagnosis = await diagnoseWithoutModel(onlySession(loadSample(file)));
      expect([diagnosis.outcome, diagnosis.coverage.state]).toEqual(['UNKNOWN', 'NONE']);
      expect(diagnosis.coverage.gaps.map(({ reason }) => reason).join()).toContain('content-not-arrived');
    }
  });

  it('spans replayed after the logs were closed make the session of a tidy delivery', async () => {
    const events = (file: string) =>
      (loadSample(file) as JsonObject[]).map((row) =>
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
    const session = onlySession(loadSample(SPLIT.spans));
    expect(inferences(session)).toHaveLength(3);
    expect(sessionSpans(session).filter((span) => span.flags.includes('merged-duplicate'))).toHaveLength(3);
    const seen = (loadSample(SPLIT.spans) as JsonObject[]).map((row) =>
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
    const ghosted = editedSample(SPLIT.spans, (span, index) =>
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
