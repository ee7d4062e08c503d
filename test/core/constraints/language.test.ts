import { describe, expect, it } from 'vitest';
import { compileConstraint } from '../../../core/constraints/compile.ts';
import { exampleTrajectory } from '../../../core/constraints/example-session.ts';
import { admitConstraints } from '../../../core/constraints/read-constraints.ts';
import { runConstraints } from '../../../core/constraints/run.ts';
import { constraintSchema, type Example } from '../../../core/diagnosis/constraint.ts';

const REFUND: Example = {
  goal: 'Refund order #W77',
  policy: 'Refunds above 100 need a manager.',
  tools: [
    {
      name: 'get_order',
      parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    },
    {
      name: 'refund',
      parameters: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
    },
  ],
  turns: [
    { user: 'Please refund my order #W77.' },
    {
      call: 'get_order',
      args: { id: '#W77' },
      result: { total: 30.5, items: [{ price: 10 }, { price: 20.5 }] },
    },
    { assistant: 'I will refund 30.50 to your card. Do you agree?' },
    { user: 'Yes, please go ahead' },
    { call: 'refund', args: { id: 'W77', amount: 30.5, note: '' }, result: 'ok' },
    { assistant: 'Done: 30.50 was refunded.' },
  ],
};

/** The verdict of one assertion at the refund call (or step, or session). */
function verdict(
  assertion: string,
  each: 'call' | 'step' | 'session' = 'call',
  example: Example = REFUND,
): string {
  const guard = each === 'call' ? 'call.name == "refund"' : each === 'step' ? 'step.last' : 'true';
  const result = compileConstraint(
    constraintSchema.parse({
      name: 't',
      targets: ['invention'],
      kind: 'schema',
      each,
      guard,
      assertion,
      hint: 'h',
    }),
    'user',
  );
  if (!result.ok) return `refused ${result.errors.join(' ')}`;
  const [entry] = runConstraints([result.compiled], exampleTrajectory(example)).entries;
  return entry === undefined
    ? 'nothing'
    : entry.verdict === 'unclear'
      ? `unclear ${entry.reason}`
      : entry.verdict;
}

describe('what an expression can ask', () => {
  it.each([
    ['call.args.amount == 30.5', 'satisfied'],
    ['call.args.amount + 1 > 31', 'satisfied'],
    ['call.args.amount > 100', 'violated'],
    ['call.name in ["refund", "exchange"]', 'satisfied'],
    ['schemaValid(call)', 'satisfied'],
    ['knownTool(call)', 'satisfied'],
    ['called(prior, "get_order")', 'satisfied'],
    ['count(prior, "get_order") == 1', 'satisfied'],
    ['inOrder(prior, ["get_order", "refund"])', 'satisfied'],
    ['prior.exists(p, p.name == "get_order" && sameId(p.args.id, call.args.id))', 'satisfied'],
    ['prior.all(p, !p.failed)', 'satisfied'],
    ['near(sum(pick(callsTo(prior, "get_order")[0].json, "items.*.price")), call.args.amount)', 'satisfied'],
    ['greatest(pick(prior[0].json, "items.*.price")) == 20.5', 'satisfied'],
    ['least(pick(prior[0].json, "items.*.price")) == 10', 'satisfied'],
    ['supported(call.args.amount)', 'satisfied'],
    ['supported("99.99")', 'violated'],
    ['supported(77)', 'violated'],
    ['saidByUser("#w77")', 'satisfied'],
    ['saidByUser(30.5)', 'violated'],
    ['saidByUser("manager")', 'violated'],
    ['supported("manager")', 'satisfied'],
    ['confirmedBefore(call)', 'satisfied'],
    ['userTurns[0].matches("#W[0-9]+")', 'satisfied'],
    ['matches(call.result, "^ok$")', 'satisfied'],
    ['userTurns.exists(t, t.lowerAscii().contains("refund"))', 'satisfied'],
    ['subset(["refund"], session.tools)', 'satisfied'],
    ['session.policy.contains("manager")', 'satisfied'],
    ['!prior.exists(p, sameCall(p, call))', 'satisfied'],
    ['earlier.size() > 0 && !earlier.exists(s, s.text.contains("Done"))', 'satisfied'],
    ['has(call.args.note) && !has(call.args.missing)', 'satisfied'],
    ['size(call.args) == 3', 'satisfied'],
    ['prior.all(a, prior.all(b, prior.all(c, prior.all(d, prior.all(e, a.id == e.id)))))', 'satisfied'],
    ['dyn(null) == null && prior.all(p, p.json != null)', 'satisfied'],
    ['string(call.args.amount) == "30.5" && int("30") == 30 && double("2.5") > 2', 'satisfied'],
    ['"a, b".split(",").map(t, t.trim()).join("+") == "a+b"', 'satisfied'],
    ['prior.exists_one(p, p.name == "get_order") && prior.filter(p, p.failed).size() == 0', 'satisfied'],
    ['{"a": 1}.a == 1 && "a" in {"a": 1} && 7 % 4 == 3 && 7 / 2 == 3.5 && -1 < 0', 'satisfied'],
    ['call.args.missing == 1 || call.args.amount > 1', 'satisfied'],
    ['call.args.missing == 1', "unclear missing: assertion at this place: there is no 'missing'"],
    ['call.args.id > 3', 'unclear type'],
    ['1 / 0 > 1', 'unclear arithmetic'],
  ])('%s is %s', (assertion, expected) => {
    expect(verdict(assertion)).toMatch(new RegExp(`^${expected.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`));
  });

  it('sees the end of the session only when asked about the whole session', () => {
    expect(verdict('numbersIn(session.answer)[0] == 30.5', 'session')).toBe('satisfied');
    expect(verdict('session.answer == ""')).toMatch(/^refused assertion: No such key: answer/);
    expect(verdict('!called(prior, "refund")')).toBe('satisfied');
    expect(verdict('called(session.calls, "refund")', 'session')).toBe('satisfied');
    expect(verdict('earlier.exists(s, s.text.contains("Do you agree"))', 'step')).toBe('satisfied');
  });

  it('does not take a tool result in the name of the user for what the user said', () => {
    const trajectory = exampleTrajectory(REFUND);
    const steps = trajectory.steps.map((step) => ({
      ...step,
      parts: step.parts.map((part) =>
        part.block.type === 'tool_result' ? { ...part, role: 'user' as const } : part,
      ),
    }));
    const { accepted } = admitConstraints(
      [
        {
          name: 't',
          targets: ['invention'],
          kind: 'provenance',
          guard: 'call.name == "refund"',
          assertion: 'supported(20.5) && !saidByUser(20.5)',
          hint: 'h',
        },
      ],
      'user',
    );
    expect(runConstraints(accepted, { ...trajectory, steps }).tallies[0]?.satisfied).toBe(1);
  });

  it('cannot know what the session does not record', () => {
    const bare: Example = { turns: [{ call: 'refund', args: {}, result: 'ok' }] };
    expect(verdict('schemaValid(call)', 'call', bare)).toMatch(/^unclear unknown: .*no schema is recorded/);
    expect(verdict('knownTool(call)', 'call', bare)).toMatch(/^unclear unknown/);
    expect(verdict('confirmedBefore(call)', 'call', bare)).toMatch(/^unclear unknown/);
  });

  it('cannot know what a schema says that takes too long', () => {
    const slow: Example = {
      tools: [{ name: 'refund', parameters: { properties: { city: { pattern: '(a{0,500}){2}b' } } } }],
      turns: [{ call: 'refund', args: { city: 'a'.repeat(1_000_000) }, result: 'ok' }],
    };
    expect(verdict('schemaValid(call)', 'call', slow)).toMatch(/^unclear unknown: .*takes too long/);
  });

  it('does not take a refusal for a yes', () => {
    for (const said of ["No, don't", 'Wait, not yet', 'What would it cost?']) {
      const example: Example = { turns: [{ user: said }, { call: 'refund', args: {}, result: 'ok' }] };
      expect(verdict('confirmedBefore(call)', 'call', example)).toBe('violated');
    }
  });
});

describe('what is refused when it is compiled', () => {
  it.each([
    ['call.nme == "x"', 'No such key: nme'],
    ['call.name == 1', 'no such overload'],
    ['call.args.amount', ''],
    ['call.name', 'gives string'],
    ['size(prior)', 'gives int'],
    ['process.exit(1)', "there is no method 'exit'"],
    ['require("fs").readFileSync("/etc/passwd") == ""', 'there is no method'],
    ['fetch("https://example.com") == ""', "there is no function 'fetch'"],
    ['globalThis == 1', 'Unknown variable'],
    ['call.constructor == 1', 'No such key'],
    ['call.__proto__ == 1', 'No such key'],
    ['cel.bind(a, prior, size(a) > 0)', "there is no method 'bind'"],
    ['timestamp("2024-01-01T00:00:00Z") == timestamp("2024-01-01T00:00:00Z")', 'there is no function'],
    ['b"abc" == b"abc"', 'literals'],
    ['call.name.matches("(a")', 'regular expression refused'],
    ['call.name.matches("((a{1,100}){1,100})")', 'regular expression refused'],
    ['true &&', ''],
  ])('%s', (assertion, expected) => {
    const result = verdict(assertion);
    if (assertion === 'call.args.amount') expect(result).toMatch(/^unclear type/);
    else expect(result).toMatch(new RegExp(`^refused.*${expected.replace(/[()]/g, '\\$&')}`));
  });
});

describe('the prototype does not exist', () => {
  it.each([
    'call.args.constructor == 1',
    'call.args["__proto__"] == 1',
    'prior[0].json.prototype == 1',
    'call.args["toString"] == 1',
  ])('%s', (assertion) => {
    expect(verdict(assertion)).toMatch(/^unclear missing/);
  });

  it('has() says no to it', () => {
    expect(
      verdict('!has(call.args.constructor) && !("__proto__" in call.args) && !has(call.args.hasOwnProperty)'),
    ).toBe('satisfied');
  });
});

describe('evidence', () => {
  it('quotes the call and the values that were looked up, at the span of the call', () => {
    const result = compileConstraint(
      constraintSchema.parse({
        name: 'limit',
        targets: ['plan-adherence'],
        kind: 'protocol',
        guard: 'call.name == "refund"',
        assertion: 'call.args.amount <= 20.0',
        hint: 'Refunds stay below 20.',
        severity: 'high',
      }),
      'user',
    );
    if (!result.ok) throw new Error(result.errors.join());
    const { entries } = runConstraints([result.compiled], exampleTrajectory(REFUND));
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({
      constraint: 'limit',
      verdict: 'violated',
      spanId: 's5',
      reason: 'Refunds stay below 20.',
      severity: 'high',
    });
    expect(entries[0]?.evidence[0]?.quote).toBe('refund({"id":"W77","amount":30.5,"note":""})');
    expect(entries[0]?.evidence[0]?.note).toContain('call.args.amount = 30.5');
  });
});
