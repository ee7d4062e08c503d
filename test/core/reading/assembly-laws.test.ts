import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../core/base/hash.ts';
import { assembleSessions } from '../../../core/reading/assembly/assemble.ts';
import type { RawEvent, RawLog, RawRecord, RawSpan } from '../../../core/reading/decode/format.ts';
import { sessionSchema, sessionSpans } from '../../../core/session/session.ts';
import { at, fixture, recordsOf } from '../../helpers/telemetry.ts';

/** Laws of assembly: the result is a function of the set of records. */

// Few ids and few moments, so that deliveries collide and only the content can decide.
const spanIds = ['s1', 's2', 's3', 's4', 's5'];
const callIds = ['c1', 'c2', 'c3'];
const words = fc.constantFrom(
  'Hello',
  'Where is it?',
  'Done.',
  'an answer that is long enough to be told apart',
  '[REDACTED]',
  '',
);
const args = fc.constantFrom({ a: 1 }, { a: 2 }, { path: 'x' });
const time = fc.option(
  fc.integer({ min: 0, max: 4 }).map((n) => at(n)),
  { nil: null, freq: 8 },
);

const parts = fc.array(
  fc.oneof(
    words.map((content) => ({ type: 'text', content })),
    fc.record({
      type: fc.constant('tool_call'),
      id: fc.constantFrom(...callIds, null),
      name: fc.constantFrom('find', 'read'),
      arguments: args,
    }),
    fc.record({
      type: fc.constant('tool_call_response'),
      id: fc.constantFrom(...callIds, null),
      response: words,
    }),
  ),
  { maxLength: 3 },
);
const messages = fc.array(fc.record({ role: fc.constantFrom('user', 'assistant', 'tool'), parts }), {
  maxLength: 3,
});

const attributes = fc
  .record(
    {
      'gen_ai.operation.name': fc.constantFrom('chat', 'execute_tool', 'invoke_agent', 'embeddings'),
      'openinference.span.kind': fc.constantFrom('LLM', 'TOOL', 'AGENT', 'CHAIN'),
      'session.id': fc.constantFrom('A', 'B'),
      'gen_ai.conversation.id': fc.constantFrom('C', 'A'),
      'gen_ai.response.id': fc.constantFrom('r1', 'r2'),
      'gen_ai.tool.name': fc.constantFrom('find', 'read'),
      'gen_ai.tool.call.id': fc.constantFrom(...callIds),
      'gen_ai.tool.call.arguments': args.map((value) => JSON.stringify(value)),
      'gen_ai.tool.call.result': words,
      'gen_ai.input.messages': messages.map((value) => JSON.stringify(value)),
      'gen_ai.output.messages': messages.map((value) => JSON.stringify(value)),
      'gen_ai.usage.input_tokens': fc.constantFrom(1, 2),
      'error.type': fc.constant('Timeout'),
      'http.status_code': fc.constantFrom(200, 503),
    },
    { requiredKeys: [] },
  )
  .map((value) => ({ ...value }));

const scope = fc
  .constantFrom('strands.telemetry.tracer', 'opentelemetry.instrumentation.botocore.bedrock-runtime', 'x', '')
  .map((name) => ({ name, version: '' }));
const traceId = fc.constantFrom('t1', 't1', 't2');
const resource = fc.constantFrom(
  {},
  { 'service.name': 'svc' },
  { 'service.name': 'svc', 'aws.log.group.names': '/g' },
);

const span: fc.Arbitrary<RawSpan> = fc.record({
  type: fc.constant('span' as const),
  traceId,
  spanId: fc.constantFrom(...spanIds),
  parentSpanId: fc.option(fc.constantFrom(...spanIds, 'gone')),
  name: fc.constantFrom('chat m', 'execute_tool find', 'work', ''),
  kind: fc.constantFrom('CLIENT', 'INTERNAL', null),
  startTimeUnixNano: time,
  endTimeUnixNano: time,
  scope,
  resource,
  attributes,
  events: fc.constant([] as RawEvent[]),
  status: fc.record({
    code: fc.constantFrom('ok' as const, 'error' as const, 'unset' as const),
    message: fc.constantFrom(null, 'broken'),
  }),
  inProgress: fc.boolean(),
});

const log: fc.Arbitrary<RawLog> = fc.record({
  type: fc.constant('log' as const),
  traceId: fc.oneof({ weight: 4, arbitrary: traceId }, fc.constant(null)),
  spanId: fc.option(fc.constantFrom(...spanIds, 'lone1', 'lone2'), { freq: 6 }),
  timeUnixNano: time,
  scope,
  resource,
  attributes: fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        'event.name': fc.constantFrom(
          'gen_ai.user.message',
          'gen_ai.choice',
          'gen_ai.tool.message',
          'strands.telemetry.tracer',
        ),
      }),
    },
    fc.record({ level: fc.constantFrom('ERROR', 'INFO'), sessionId: fc.constantFrom('A', 'B') }),
    fc.constant({ 'session.id': 'A' }),
  ),
  body: fc.oneof(
    { weight: 4, arbitrary: words.map((text) => ({ content: [{ text }] })) },
    fc.record({
      input: messages.map((list) => ({ messages: list })),
      output: messages.map((list) => ({ messages: list })),
    }),
    words,
  ),
});

const records = fc.array(fc.oneof(span, log), { minLength: 1, maxLength: 24 });

const identity = (list: readonly RawRecord[]): string => canonicalJson(assembleSessions(list));

describe('assembly is a function of the set of records', () => {
  it('a shuffled, repeated delivery gives the identical sessions', () => {
    fc.assert(
      fc.property(
        records.chain((list) =>
          fc.tuple(
            fc.constant(list),
            fc.shuffledSubarray(list, { minLength: list.length }),
            fc.subarray(list),
          ),
        ),
        ([tidy, shuffled, repeated]) => {
          expect(identity([...repeated, ...shuffled, ...structuredClone(repeated)])).toBe(identity(tidy));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('every span is in exactly one session, once, under an id of its own', () => {
    fc.assert(
      fc.property(records, (list) => {
        const { sessions } = assembleSessions(list);
        const delivered = new Set(
          list.flatMap((r) => (r.type === 'span' ? [`${r.traceId} ${r.spanId}`] : [])),
        );
        const found = sessions.flatMap(sessionSpans).map((s) => `${s.traceId} ${s.spanId.split(':').at(-1)}`);
        expect(new Set(found).size).toBe(found.length);
        for (const key of delivered) expect(found).toContain(key);
        for (const session of sessions) {
          const ids = sessionSpans(session).map((s) => s.spanId);
          expect(new Set(ids).size).toBe(ids.length);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('each trace is a forest in order: known parents only, a parent before its children', () => {
    fc.assert(
      fc.property(records, (list) => {
        for (const session of assembleSessions(list).sessions) {
          sessionSchema.parse(session);
          for (const trace of session.traces) {
            const seen = new Set<string>();
            for (const s of trace.spans) {
              if (s.parentSpanId !== null) expect(seen.has(s.parentSpanId)).toBe(true);
              seen.add(s.spanId);
            }
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('tokens of one response id are counted once in a trace', () => {
    fc.assert(
      fc.property(records, (list) => {
        for (const session of assembleSessions(list).sessions) {
          for (const trace of session.traces) {
            const ids = trace.spans.flatMap((s) =>
              s.kind === 'inference' && s.responseId ? [s.responseId] : [],
            );
            expect(new Set(ids).size).toBe(ids.length);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

const FIXTURES = [
  ['agentcore-split-spans', 'agentcore-split-logs'],
  ['strands-unified'],
  ['langchain-adot'],
  ['otlp-genai'],
  ['google-adk'],
  ['vercel-ai'],
  ['pydantic-ai'],
  ['smolagents'],
  ['openai-agents'],
  ['claude-agent-sdk'],
  ['traceloop-one-trace-a-call'],
  ['xray-twice'],
];

describe.each(FIXTURES)('real-looking telemetry: %s %s', (...names) => {
  const tidy = recordsOf(...names.filter((name) => name !== undefined).map(fixture));
  const wanted = identity(tidy);

  it('comes out the same in any order and repeated', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(tidy, { minLength: tidy.length }), fc.subarray(tidy), (all, again) => {
        expect(identity([...all, ...again])).toBe(wanted);
      }),
      { numRuns: 40 },
    );
  });

  it('comes out the same split at every record boundary, the later half first', () => {
    for (let cut = 0; cut <= tidy.length; cut += 1) {
      expect(identity([...tidy.slice(cut), ...tidy.slice(0, cut)])).toBe(wanted);
    }
  });
});
