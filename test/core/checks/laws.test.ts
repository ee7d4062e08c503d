import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../core/base/json.ts';
import { CHECKS, runChecks } from '../../../core/checks/registry.ts';
import { judgeWithoutModel } from '../../../core/explanation/critical-step/by-rule.ts';
import type { Block, Span } from '../../../core/session/session.ts';
import type { Step, Trajectory } from '../../../core/trajectory/trajectory.ts';
import { CATEGORY_IDS } from '../../../core/vocabulary/taxonomy.ts';
import { bareSpan, fromSpans } from './sessions.ts';

/** Bits on which the checks' patterns turn, so that random sessions reach them. */
const fragment = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }).map((text) => text.toWellFormed()),
  fc.constantFrom(
    'Error: not found',
    'exitcode: 1 (execution failed)\nCode output: Traceback (most recent call last):\nKeyError: 1',
    'exitcode: 0 ok',
    '```python\nprint(1)\n```',
    '``````',
    'There are 11 available shirts.',
    '{"items":[{"id":"a1","status":"x"},{"id":"b2","status":"y"},{"id":"c3","status":"z"},{"id":"d4","status":"z"}]}',
    '{"id":"A1001","status":"open"}',
    '{"id":"A1001","status":"closed"}',
    'I can no longer change it, it has been modified.',
    'a@b.ch',
    'Please provide your email.',
    '<|im_start|>',
    '{{name}}',
    'Let us assume the price. Hypothetical data.',
    'I have verified it. Here are the results',
    'Verify you are human',
    'go ahead ###STOP###',
    '😀'.repeat(200),
    '{"error": {"code": 429}}',
  ),
);
const text = fc.array(fragment, { maxLength: 4 }).map((pieces) => pieces.join(' '));
const name = fc.constantFrom('get_order', 'change_order', 'toString', '__proto__', 'find_user_by_id', '');
const value = fc.oneof(
  fc.constantFrom<JsonValue>(
    { id: 'A1001' },
    { id: 'Z9999' },
    {},
    null,
    'x',
    [],
    { constructor: 1 },
    { a: [{ b: 'c3d4e5' }] },
  ),
  fc.jsonValue({ maxDepth: 3 }).map((json) => JSON.parse(JSON.stringify(json)) as JsonValue),
);
const callId = fc.constantFrom('c1', 'c2', 'c3', null);

const span = (n: number): fc.Arbitrary<Span> => {
  const base = fc.record({
    parent: fc.option(fc.integer({ min: 0, max: 8 }).map((place) => `s${place}`)),
    agent: fc.constantFrom('Planner', 'Coder', null),
    failed: fc.option(
      fc.record({
        source: fc.constantFrom('exception', 'http', 'exit-code', 'status'),
        message: text,
        code: fc.constantFrom(0, 429),
      }),
    ),
  });
  const common = ({
    parent,
    agent,
    failed,
  }: {
    parent: string | null;
    agent: string | null;
    failed: unknown;
  }) => ({
    ...bareSpan(`s${n}`, parent),
    agent,
    errors: failed === null ? [] : [failed as Span['errors'][number]],
  });
  return base.chain(
    (drawn): fc.Arbitrary<Span> =>
      fc.oneof(
        fc
          .record({
            input: text,
            output: text,
            call: fc.option(fc.record({ name, value, callId })),
            reason: fc.constantFrom('length', 'stop', 'content_filter'),
          })
          .map(
            ({ input, output, call, reason }): Span => ({
              ...common(drawn),
              kind: 'inference',
              input: [{ role: 'user', content: [{ type: 'text', text: input }] }],
              output: [
                {
                  role: 'assistant',
                  content: [
                    { type: 'text', text: output },
                    ...(call === null
                      ? []
                      : [
                          {
                            type: 'tool_use',
                            toolCallId: call.callId,
                            name: call.name,
                            arguments: call.value,
                          } satisfies Block,
                        ]),
                  ],
                },
              ],
              finishReasons: [reason],
              tools: [
                {
                  name: 'get_order',
                  parameters: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
                },
                { name: 'broken', parameters: { type: 7 } },
              ],
            }),
          ),
        fc
          .record({
            name,
            value,
            callId,
            content: fc.option(text),
            isError: fc.constantFrom(true, false, null),
          })
          .map(
            ({ name, value, callId, content, isError }): Span => ({
              ...common(drawn),
              kind: 'execute_tool',
              toolCall: { name, arguments: value, toolCallId: callId },
              toolResult: content === null ? null : { content, isError, toolCallId: callId },
            }),
          ),
        fc
          .record({
            role: fc.constantFrom('user', 'assistant', 'system', 'tool'),
            speaker: fc.constantFrom('Coder', 'Terminal', 'user'),
            text,
          })
          .map(
            ({ role, speaker, text }): Span => ({
              ...common(drawn),
              kind: 'message',
              message: { role: role as 'user', name: speaker, content: [{ type: 'text', text }] },
            }),
          ),
        text.map(
          (prompt): Span => ({
            ...common(drawn),
            kind: 'invoke_agent',
            userPrompt: prompt,
            agentResponse: prompt,
            availableTools: [],
            systemPrompt: prompt,
          }),
        ),
      ),
  );
};

const trajectory: fc.Arbitrary<Trajectory> = fc
  .tuple(fc.integer({ min: 0, max: 9 }), fc.option(text))
  .chain(([length, goal]) =>
    fc.tuple(...Array.from({ length }, (_, n) => span(n))).map((spans) => fromSpans(spans as Span[], goal)),
  );

/** Everything of a step that may be quoted word for word. */
function words(step: Step): string[] {
  const { span } = step;
  const texts: string[] = [];
  for (const { block } of step.parts) {
    if (block.type === 'text' || block.type === 'reasoning') texts.push(block.text);
    if (block.type === 'tool_result') texts.push(block.content);
    if (block.type === 'tool_use')
      texts.push(block.name, block.argumentsRaw ?? '', JSON.stringify(block.arguments));
  }
  const call =
    span.kind === 'execute_tool' ? [span.toolCall.name, JSON.stringify(span.toolCall.arguments)] : [];
  const reasons = span.kind === 'inference' ? (span.finishReasons ?? []) : [];
  return [
    ...texts,
    ...call,
    ...reasons,
    ...span.errors.flatMap((error) => [error.message, error.type ?? '']),
  ];
}

describe('laws of every check', () => {
  it('none fails, whatever the session', () => {
    fc.assert(
      fc.property(trajectory, (drawn) => {
        for (const check of CHECKS) check.run(drawn);
      }),
      { numRuns: 400 },
    );
  });

  it('a finding names a span that exists, a known category of the check, and quotes word for word', () => {
    let seen = 0;
    fc.assert(
      fc.property(trajectory, (drawn) => {
        for (const [place, one] of runChecks(drawn).entries()) {
          for (const finding of one.findings) {
            seen += 1;
            expect(drawn.stepBySpan.has(finding.spanId)).toBe(true);
            expect(CATEGORY_IDS).toContain(finding.category);
            expect(CHECKS[place]!.categories).toContain(finding.category);
            expect([0.5, 0.75, 0.9]).toContain(finding.confidence);
            expect(finding.evidence.length).toBeGreaterThan(0);
            for (const { spanId, quote } of finding.evidence) {
              const step = drawn.stepBySpan.get(spanId);
              expect(step).toBeDefined();
              expect(quote.length).toBeLessThanOrEqual(300);
              expect(quote.isWellFormed()).toBe(true);
              expect(words(step!).some((whole) => whole.includes(quote))).toBe(true);
            }
          }
        }
      }),
      { numRuns: 400 },
    );
    // A generator that reaches nothing would prove nothing.
    expect(seen).toBeGreaterThan(100);
  });

  it('the same session gives the same reports and the same critical step', () => {
    fc.assert(
      fc.property(trajectory, (drawn) => {
        const copy: Trajectory = structuredClone({ ...drawn });
        const reports = runChecks(drawn);
        expect(runChecks(copy)).toEqual(reports);
        expect(judgeWithoutModel(copy, reports)).toEqual(judgeWithoutModel(drawn, reports));
      }),
      { numRuns: 100 },
    );
  });

  it('ids are unique, and each check has a title and its categories', () => {
    expect(new Set(CHECKS.map((check) => check.id)).size).toBe(CHECKS.length);
    for (const check of CHECKS) {
      expect(check.title).not.toBe('');
      expect(check.categories.length).toBeGreaterThan(0);
    }
  });

  it('a check that fails by a defect is blind with the reason, and the others still count', () => {
    const broken = {
      id: 'broken',
      title: 't',
      categories: [],
      run: () => {
        throw new TypeError('boom');
      },
    };
    const [first, second] = runChecks(fromSpans([]), [broken, CHECKS[0]!]);
    expect(first).toMatchObject({ state: 'blind', findings: [] });
    expect(first?.reason).toContain('boom');
    expect(second?.state).toBe('ran');
  });
});

describe('work grows with the session and no faster', () => {
  /** Texts on which a careless pattern or loop goes quadratic or worse. */
  const hostile: readonly (readonly [string, string])[] = [
    ['spaces', ' '],
    ['fences', '```'],
    ['inline code', '`'],
    ['braces', '{"a":'],
    ['brackets', '[['],
    ['quotes', '"\n'],
    ['words', 'I have '],
    ['error words', 'Error '],
    ['paths', 'a/b: '],
    ['at signs', 'a@b.'],
    ['digits', '1 '],
    ['letters', 'a'],
    ['numbers', '#A12345 '],
    ['lines', 'x\n'],
  ];
  it.each(hostile)('1 MB of %s is looked at', (_, unit) => {
    const whole = unit.repeat(Math.ceil(1_000_000 / unit.length));
    const spans: Span[] = [
      {
        ...bareSpan('u'),
        kind: 'message',
        message: { role: 'user', content: [{ type: 'text', text: whole }] },
      },
      {
        ...bareSpan('t'),
        kind: 'execute_tool',
        toolCall: { name: 'find_it_now', arguments: { id: whole }, toolCallId: 'c' },
        toolResult: { content: whole, isError: null, toolCallId: 'c' },
      },
      {
        ...bareSpan('a'),
        kind: 'inference',
        input: [],
        output: [{ role: 'assistant', content: [{ type: 'text', text: whole }] }],
      },
    ];
    for (const one of runChecks(fromSpans(spans))) expect(one.reason ?? '').not.toContain('itself failed');
  });

  it('10,000 steps of calls and talk are looked at', () => {
    const spans = Array.from({ length: 5_000 }, (_, n): Span[] => [
      {
        ...bareSpan(`t${n}`, n === 0 ? null : `t${n - 1}`),
        kind: 'execute_tool',
        toolCall: {
          name: `find_user_by_${n % 7}`,
          arguments: { id: `A${n}`, n: n % 3 },
          toolCallId: `c${n}`,
        },
        toolResult: {
          content: n % 2 === 0 ? 'Error: 503' : `{"id":"A${n}","status":"s${n}"}`,
          isError: null,
          toolCallId: `c${n}`,
        },
        errors: n % 2 === 0 ? [{ source: 'http', message: 'bad', code: 503 }] : [],
      },
      {
        ...bareSpan(`a${n}`),
        kind: 'inference',
        input: [],
        output: [
          {
            role: 'assistant',
            content: [{ type: 'text', text: `I cannot change A${n}, it has been modified.` }],
          },
        ],
      },
    ]).flat();
    const trajectory = fromSpans(spans);
    const reports = runChecks(trajectory);
    expect(reports.filter((one) => one.reason?.includes('itself failed'))).toEqual([]);
    // An agent has the last word, so nothing is proven.
    expect(judgeWithoutModel(trajectory, reports)).toBeNull();
  });
});
