import { describe, expect, it } from 'vitest';
import { logChecks } from '../../../core/constraints/built-in.ts';
import { checkConstraints } from '../../../core/constraints/check-constraints.ts';
import { exampleTrajectory } from '../../../core/constraints/example-session.ts';
import type { Session } from '../../../core/session/session.ts';

const FILE = `
version: 1
agent: refunds
constraints:
  - name: refund-needs-order
    targets: [plan-adherence]
    kind: temporal
    guard: call.name == "refund"
    assertion: called(prior, "get_order")
    hint: An order is looked at before it is refunded.
    severity: high
    examples:
      pass:
        - turns: [{call: get_order, args: {id: "1"}, result: {total: 3}}, {call: refund, args: {amount: 3}, result: ok}]
      fail:
        - turns: [{call: refund, args: {amount: 3}, result: ok}]
  - name: wrong-examples
    targets: [invention]
    kind: provenance
    guard: call.name == "refund"
    assertion: supported(call.args.amount)
    hint: The amount is known.
    examples:
      pass:
        - turns: [{call: refund, args: {amount: 3}, result: ok}]
        - turns: [{user: hello}]
        - turns: [{call: refund, args: {}, result: ok}]
      fail:
        - turns: [{user: refund 3 please}, {call: refund, args: {amount: 3}, result: ok}]
  - name: never-applies
    targets: [invention]
    kind: protocol
    guard: call.name == "no_such_tool"
    assertion: "false"
    hint: never
  - name: does-not-compile
    targets: [invention]
    kind: protocol
    assertion: call.nme == 1
    hint: typo
  - name: NO good name
    targets: [nonsense]
    kind: protocol
    assertion: "true"
    hint: shape
`;

function session(calls: readonly string[]): Session {
  const spans = calls.map((name, index) => ({
    spanId: `s${index}`,
    traceId: 't',
    parentSpanId: null,
    name,
    agent: 'a',
    startTimeUnixNano: null,
    endTimeUnixNano: null,
    status: 'ok' as const,
    errors: [],
    flags: [],
    kind: 'execute_tool' as const,
    toolCall: { name, arguments: { amount: 3 }, toolCallId: `c${index}` },
    toolResult: { content: '3', isError: null, toolCallId: `c${index}` },
  }));
  return {
    sessionId: calls.join('-'),
    format: 'test',
    traces: [{ traceId: 't', sessionId: 's', spans }],
    goal: null,
    agent: null,
    service: null,
    unread: [],
  };
}

describe('rootspan constraints check', () => {
  const report = checkConstraints(FILE, 'c.yaml', [
    { session: session(['get_order', 'refund']), outcome: 'healthy' },
    { session: session(['refund', 'get_order']), outcome: 'failed' },
    { session: session(['refund']), outcome: 'failed' },
    { session: session(['get_order']), outcome: 'unknown' },
  ]);
  const row = (name: string) => report.find((one) => one.name === name);

  it('counts sessions in which a constraint applied and fired, by how they went', () => {
    expect(row('refund-needs-order')).toMatchObject({
      state: 'usable',
      warnings: [],
      firing: {
        healthy: { sessions: 1, applied: 1, fired: 0 },
        failed: { sessions: 2, applied: 2, fired: 2 },
        unknown: { sessions: 1, applied: 0, fired: 0 },
      },
    });
  });

  it('names every example that goes otherwise than it says', () => {
    expect(row('wrong-examples')?.examples.wrong).toEqual([
      'passing example 1 is violated',
      'passing example 2 is not reached by the guard',
      "passing example 3 is unclear (missing: assertion at this place: there is no 'amount')",
      'failing example 1 is satisfied',
    ]);
  });

  it('a constraint that never applies is doubtful, not good', () => {
    expect(row('never-applies')).toMatchObject({
      state: 'doubtful',
      warnings: ['it has no examples', 'its guard was true in none of 4 sessions'],
    });
  });

  it('a rule that cannot be decided has applied, and the reason stands beside it', () => {
    const file = FILE.replace('called(prior, "get_order")', 'call.args.total > 1');
    const [only] = checkConstraints(file, 'c.yaml', [{ session: session(['refund']), outcome: 'healthy' }]);
    expect(only?.firing.healthy).toEqual({ sessions: 1, applied: 1, fired: 0, unclear: 1 });
    expect(only?.warnings.at(-1)).toBe(
      "it could not be decided in 1 of 1 sessions (missing: assertion at this place: there is no 'total')",
    );
    expect(only?.warnings.join()).not.toContain('its guard was true in none');
  });

  it("a call's own result, recorded at the same span, does not support its arguments", () => {
    const file = FILE.replace('called(prior, "get_order")', 'supported(call.args.amount)');
    const [only] = checkConstraints(file, 'c.yaml', [{ session: session(['refund']), outcome: 'unknown' }]);
    expect(only?.firing.unknown.fired).toBe(1);
  });

  it('an alarm that fires on healthy sessions is doubtful', () => {
    const [only] = checkConstraints(FILE, 'c.yaml', [{ session: session(['refund']), outcome: 'healthy' }]);
    expect(only).toMatchObject({ state: 'doubtful', warnings: ['it fires on 1 of 1 healthy sessions'] });
  });

  it('a constraint that does not compile is refused with the reason, and the others stand', () => {
    expect(row('does-not-compile')).toMatchObject({
      state: 'refused',
      errors: [expect.stringContaining('No such key: nme')],
    });
    expect(row('NO good name')?.state).toBe('refused');
    expect(row('NO good name')?.errors.join()).toMatch(/targets/);
  });
});

describe('the built-in constraints are the checks', () => {
  const trajectory = exampleTrajectory({ turns: [{ call: 'x', result: 'Error: no' }] });
  const quote = { spanId: 's1r', quote: 'Error: no', note: 'the result' };
  const finding = {
    checkId: 'explicit-error',
    spanId: 's1r',
    category: 'execution-error-category-tool-schema' as const,
    confidence: 0.9,
    summary: 'x failed',
    evidence: [quote],
    weight: 'failure' as const,
    recovered: false,
    criticalCategory: null,
  };

  it('a finding is violated, nothing found is satisfied, a blind check is not evaluated', () => {
    const log = logChecks(
      [
        { checkId: 'explicit-error', state: 'ran', reason: null, findings: [finding] },
        { checkId: 'quiet', state: 'ran', reason: null, findings: [] },
        { checkId: 'blind', state: 'blind', reason: 'no schemas are recorded', findings: [] },
      ],
      trajectory,
    );
    expect(log.map((entry) => [entry.constraint, entry.verdict, entry.spanId, entry.severity])).toEqual([
      ['explicit-error', 'violated', 's1r', 'high'],
      ['quiet', 'satisfied', 's0', 'low'],
      ['blind', 'not-evaluated', 's0', 'low'],
    ]);
    expect(log[0]?.evidence).toEqual([quote]);
    expect(log[2]?.reason).toBe('no schemas are recorded');
  });
});
