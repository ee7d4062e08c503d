import { describe, expect, it } from 'vitest';
import {
  constraintsWithoutModel,
  evaluateConstraints,
} from '../../../core/constraints/evaluate-constraints.ts';
import { canYieldChecks, planWindows, windowsOf } from '../../../core/constraints/plan-synthesis.ts';
import { constraintSchema } from '../../../core/diagnosis/constraint.ts';
import { UNKNOWN_RECOVERY } from '../../../core/diagnosis/recovery.ts';
import { ModelPendingError, ModelThrottledError } from '../../../core/errors/errors.ts';
import type { PromptText } from '../../../core/model/port.ts';
import { toTrajectory } from '../../../core/trajectory/to-trajectory.ts';
import { message, said, session, tool } from '../../helpers/build-session.ts';
import { type ScriptedReply, scriptedModel } from '../../helpers/scripted-model.ts';
import { counter, preparedSession, refundSession } from './prepared-session.ts';

const written = (parts: object) => ({
  name: 'refund-within-total',
  hint: 'A refund is not more than the total of the order.',
  kind: 'postcondition',
  targets: ['plan-adherence'],
  severity: 'high',
  each: 'call',
  guard: 'call.name == "refund" && has(call.args.amount) && called(prior, "get_order")',
  assertion: 'call.args.amount <= greatest(pick(callsTo(prior, "get_order")[0].json, "total"))',
  rubric: [],
  ...parts,
});
const turn = (who: string, name: string, text: string) => ({ who, name, text });
const GLOBAL = written({
  violating: [
    turn('call', 'get_order', '{"id":"1"}'),
    turn('result', '', '{"total":5}'),
    turn('call', 'refund', '{"amount":6}'),
    turn('result', '', 'ok'),
  ],
  meeting: [
    turn('call', 'get_order', '{"id":"1"}'),
    turn('result', '', '{"total":5}'),
    turn('call', 'refund', '{"amount":5}'),
    turn('result', '', 'ok'),
  ],
});
const TRUTH = written({
  name: 'answer-is-true',
  hint: 'The last answer says what was done.',
  kind: 'provenance',
  targets: ['misinterpretation'],
  each: 'step',
  guard: 'step.last',
  assertion: '',
  rubric: ['Does the answer state the amount that was refunded?', 'Is the answer polite?'],
  spans: [],
});
const row = (question: number, verdict: string, quote = '') => ({
  item: 'i1',
  question,
  verdict,
  span: 's4',
  quote,
  note: 'as said',
});

function deep(
  replies: {
    global?: ScriptedReply;
    dynamic?: ScriptedReply;
    rubrics?: ScriptedReply;
    repair?: ScriptedReply;
  },
  options: Parameters<typeof preparedSession>[1] = {},
) {
  const model = scriptedModel([
    { purpose: 'constraints-global', reply: replies.global ?? { constraints: [] } },
    { purpose: 'constraints-dynamic', reply: replies.dynamic ?? { constraints: [] }, times: 9 },
    ...(replies.repair === undefined ? [] : [{ purpose: 'constraints-repair', reply: replies.repair }]),
    ...(replies.rubrics === undefined ? [] : [{ purpose: 'constraints-rubrics', reply: replies.rubrics }]),
  ]);
  return {
    model,
    result: evaluateConstraints(preparedSession(refundSession(), options), null, model, { counter }),
  };
}

const entryOf = (result: Awaited<ReturnType<typeof evaluateConstraints>>, name: string) =>
  result.validationLog.filter((entry) => entry.constraint === name);

describe('constraints of the agent, written from instructions and tools', () => {
  it('are asked of the run, and a violation links the span of the call', async () => {
    const { result } = deep({ global: { constraints: [GLOBAL] } });
    const [entry] = entryOf(await result, 'refund-within-total');
    expect(entry).toMatchObject({
      origin: 'global',
      verdict: 'violated',
      spanId: 'span-3',
      severity: 'high',
    });
    expect(entry?.evidence[0]?.note).toContain('call.args.amount = 50');
  });

  it('never see the run: the prompt is the same for another session of the agent', async () => {
    const { model, result } = deep({ global: { constraints: [GLOBAL] } });
    await result;
    const [request] = model.requests;
    const sent = request?.user.map(({ text }) => text).join('') ?? '';
    expect(request?.purpose).toBe('constraints-global');
    for (const secret of ['W77', '50', 'I refunded'])
      expect(sent.split('## Your task')[1]).not.toContain(secret);
    expect(sent).toContain('Never refund more than its total');
    expect(sent).toContain('get_order');
  });

  it('that contradict their own examples are kept out, with the reason', async () => {
    const { result } = deep({ global: { constraints: [{ ...GLOBAL, assertion: 'call.args.amount < 0' }] } });
    const { validationLog, quarantined } = await result;
    expect(validationLog.some((entry) => entry.constraint === 'refund-within-total')).toBe(false);
    expect(quarantined[0]).toMatchObject({
      stage: 'constraints',
      reason: 'its own examples: passing example 1 is violated',
    });
  });

  it('need instructions or tools: without both the log says so, and no call is made', async () => {
    const bare = session([said(message('user', 'hello')), tool('c', 'x', {}, 'y')]);
    const model = scriptedModel([{ purpose: 'constraints-dynamic', reply: { constraints: [] } }]);
    const { gaps, validationLog } = await evaluateConstraints(preparedSession(bare), null, model, {
      counter,
    });
    expect(gaps).toEqual([]);
    expect(validationLog.find((entry) => entry.constraint === 'agent-constraints')).toMatchObject({
      verdict: 'not-evaluated',
      reason: expect.stringMatching(/^no-instructions/),
    });
  });
});

describe('constraints for one run', () => {
  it('know names and hints of those that exist, and nothing more of them', async () => {
    const { model, result } = deep({ global: { constraints: [GLOBAL] } });
    await result;
    const sent = model.requests[1]?.user.map(({ text }) => text).join('') ?? '';
    expect(sent).toContain('refund-within-total: A refund is not more than the total of the order.');
    expect(sent).not.toContain('greatest(pick(callsTo');
  });

  it('are asked only at the spans they name', async () => {
    const everywhere = written({ name: 'no-calls', guard: 'true', assertion: 'false', spans: ['s2'] });
    const { result } = deep({ dynamic: { constraints: [everywhere] } });
    expect(entryOf(await result, 'no-calls').map((entry) => [entry.spanId, entry.origin])).toEqual([
      ['span-3', 'dynamic'],
    ]);
  });

  it('that name no span of the run are kept out', async () => {
    const { result } = deep({ dynamic: { constraints: [written({ spans: ['s99'] })] } });
    expect((await result).quarantined[0]?.reason).toBe('it names no span of the run');
  });

  it('that do not compile are repaired once, by a call that sends neither run nor agent', async () => {
    const bad = written({ assertion: 'call.args.amount <= greatest(calls)', spans: ['s2'] });
    const { model, result } = deep({
      dynamic: { constraints: [bad] },
      repair: { constraints: [written({ assertion: 'call.args.amount <= 30', spans: [] })] },
    });
    expect(entryOf(await result, 'refund-within-total')[0]).toMatchObject({
      verdict: 'violated',
      spanId: 'span-3',
    });
    const sent =
      model.requests
        .at(-1)
        ?.user.map(({ text }) => text)
        .join('') ?? '';
    expect(sent).toContain('Unknown variable: calls');
    expect(sent).not.toContain('W77');
    expect(sent).not.toContain('Never refund more');
  });

  it('that stay broken are quarantined with the compiler message', async () => {
    const bad = written({ assertion: 'nonsense(', spans: [] });
    const { result } = deep({ dynamic: { constraints: [bad] }, repair: { constraints: [] } });
    expect((await result).quarantined[0]?.reason).toMatch(/^refused: assertion: /);
  });

  it('that say the same as another are asked once', async () => {
    const { result } = deep({
      global: { constraints: [GLOBAL] },
      dynamic: { constraints: [written({ name: 'again', spans: [] })] },
    });
    expect(entryOf(await result, 'again')).toEqual([]);
  });

  it('one bad item does not cost its neighbours', async () => {
    const { result } = deep({ dynamic: { constraints: [{ name: 'half' }, written({ spans: [] })] } });
    const { quarantined, validationLog } = await result;
    expect(quarantined).toHaveLength(1);
    expect(validationLog.some((entry) => entry.constraint === 'refund-within-total')).toBe(true);
  });

  it('an answer that stays unusable is a gap, never "no violation"', async () => {
    const model = scriptedModel([
      { purpose: 'constraints-global', reply: { constraints: [] } },
      { purpose: 'constraints-dynamic', reply: 'no' },
      { purpose: 'repair', reply: 'no' },
    ]);
    const { gaps } = await evaluateConstraints(preparedSession(refundSession()), null, model, { counter });
    expect(gaps).toEqual([
      expect.objectContaining({
        what: 'constraints-dynamic',
        reason: expect.stringMatching(/^model-output-invalid/),
      }),
    ]);
  });

  it('throttling and open batch requests are thrown for the caller to retry', async () => {
    for (const error of [new ModelThrottledError('slow down'), new ModelPendingError('open', ['h'])]) {
      const { result } = deep({ global: error });
      await expect(result).rejects.toBe(error);
    }
  });
});

describe('step by step', () => {
  const long = session([
    said(message('user', 'Add up the numbers of all pages.')),
    ...Array.from({ length: 20 }, (_, page) =>
      tool(`c${page}`, 'read', { page }, `page ${page} says ${page * 7}`),
    ),
    said(message('assistant', 'The sum is 1330.')),
  ]);
  const trajectory = toTrajectory(long);

  it('asks one call a window, each beginning as the one before it, at boundaries that are cached', () => {
    const prompts = planWindows(trajectory, []).map(({ user }) => user);
    expect(prompts.length).toBe(4);
    const textOf = (prompt: readonly PromptText[]) => prompt.map((part) => part.text).join('');
    for (const [index, prompt] of prompts.entries()) {
      expect(prompt.filter((part) => part.cache).length).toBeLessThanOrEqual(4);
      const before = prompts[index - 1];
      if (before === undefined) continue;
      // All but the question of the window before is the beginning of this one, block by block …
      expect(prompt.slice(0, before.length - 1).map((part) => part.text)).toEqual(
        before.slice(0, -1).map((part) => part.text),
      );
      // … and the last of these blocks was marked there and is marked here, so that it is read from the cache.
      expect(before.at(-2)?.cache).toBe(true);
      expect(prompt[before.length - 2]?.cache).toBe(true);
      expect(textOf(prompt).length).toBeGreaterThan(textOf(before).length);
    }
  });

  it('an open batch request does not hold up the next window; another fault does', async () => {
    const pending = (hash: string) => new ModelPendingError('open', [hash]);
    const options = { synthesis: 'step-by-step' as const };
    const batch = scriptedModel(['a', 'b', 'c', 'd'].map(pending));
    await expect(
      evaluateConstraints(preparedSession(long, options), null, batch, { counter }),
    ).rejects.toMatchObject({
      requestHashes: ['a', 'b', 'c', 'd'],
    });
    const throttled = scriptedModel([new ModelThrottledError('slow down')]);
    await expect(
      evaluateConstraints(preparedSession(long, options), null, throttled, { counter }),
    ).rejects.toThrow('slow down');
  });

  it('skips steps that cannot be checked', () => {
    expect(windowsOf(trajectory).flat()).toHaveLength(21);
    const crew = toTrajectory(
      session([
        said(message('system', 'be good')),
        said({ ...message('assistant', 'Next speaker: Coder'), name: 'Manager (thought)' }),
        said({ ...message('assistant', 'Write the code.'), name: 'Manager (-> Coder)' }),
        said({ ...message('assistant', 'Here it is.'), name: 'Coder' }),
        said(message('user', 'thanks')),
      ]),
    );
    expect(crew.steps.filter(canYieldChecks).map(({ index }) => index)).toEqual([2, 3]);
  });

  it('joins the answers of all windows', async () => {
    const answer = {
      constraints: [written({ name: 'sum', each: 'session', guard: 'true', assertion: 'false', spans: [] })],
    };
    const model = scriptedModel([{ purpose: 'constraints-dynamic', reply: answer, times: 4 }]);
    const { validationLog, calls } = await evaluateConstraints(
      preparedSession(long, { synthesis: 'step-by-step' }),
      null,
      model,
      { counter },
    );
    expect(calls).toHaveLength(4);
    expect(validationLog.filter((entry) => entry.constraint === 'sum')).toHaveLength(1);
  });
});

describe('rubrics', () => {
  it('a clear fail with its quote violates, at the span of the place, with the quote', async () => {
    const { result } = deep({
      dynamic: { constraints: [TRUTH] },
      rubrics: { rows: [row(1, 'CLEAR_FAIL', 'I refunded 30'), row(2, 'CLEAR_PASS')] },
    });
    expect(entryOf(await result, 'answer-is-true')).toEqual([
      expect.objectContaining({
        origin: 'semantic',
        verdict: 'violated',
        spanId: 'span-5',
        evidence: [expect.objectContaining({ spanId: 'span-5', quote: 'I refunded 30' })],
      }),
    ]);
  });

  it.each([
    ['unclear rows are discarded', [row(1, 'UNCLEAR'), row(2, 'CLEAR_PASS')], 'satisfied'],
    ['only unclear rows leave it unclear', [row(1, 'UNCLEAR'), row(2, 'UNCLEAR')], 'unclear'],
    [
      'a fail whose quote is invented proves nothing',
      [row(1, 'CLEAR_FAIL', 'I stole 30'), row(2, 'CLEAR_PASS')],
      'unclear',
    ],
    ['no row is not evaluated', [], 'not-evaluated'],
    [
      'a row about something else is no row',
      [{ ...row(1, 'CLEAR_FAIL', 'ok'), item: 'i7' }],
      'not-evaluated',
    ],
  ])('%s', async (_symptom, rows, verdict) => {
    const { result } = deep({ dynamic: { constraints: [TRUTH] }, rubrics: { rows } });
    expect(entryOf(await result, 'answer-is-true').map((entry) => entry.verdict)).toEqual([verdict]);
  });

  it('of several constraints go out in one call', async () => {
    const { model, result } = deep({
      dynamic: { constraints: [TRUTH, { ...TRUTH, name: 'other', rubric: ['Is it short?'] }] },
      rubrics: { rows: [] },
    });
    await result;
    expect(model.requests.filter((request) => request.purpose === 'constraints-rubrics')).toHaveLength(1);
  });

  it('without a model they are named as not evaluated', async () => {
    const { spans: _spans, ...rest } = { spans: [], ...TRUTH };
    const user = constraintSchema.parse({ ...rest, assertion: null });
    const { validationLog } = await evaluateConstraints(
      preparedSession(refundSession(), { depth: 'standard', constraints: [user] }),
      null,
      scriptedModel([]),
      { counter },
    );
    expect(validationLog.filter((entry) => entry.constraint === 'answer-is-true')).toEqual([
      expect.objectContaining({ verdict: 'not-evaluated', reason: expect.stringMatching(/^depth/) }),
    ]);
  });
});

describe('reflection and pruning', () => {
  const healthy = Array.from({ length: 6 }, () => ({
    session: refundSession(),
    outcome: 'healthy' as const,
  }));
  const model = () =>
    scriptedModel([
      { purpose: 'constraints-global', reply: { constraints: [GLOBAL] } },
      { purpose: 'constraints-dynamic', reply: { constraints: [] } },
    ]);

  it('a written constraint that fires on healthy sessions is dropped, with its rate', async () => {
    const { validationLog, quarantined } = await evaluateConstraints(
      preparedSession(refundSession()),
      null,
      model(),
      {
        counter,
        healthy,
      },
    );
    expect(validationLog.some((entry) => entry.constraint === 'refund-within-total')).toBe(false);
    expect(quarantined[0]?.reason).toBe('pruned: fires on 6 of 6 healthy sessions');
  });

  it('a constraint of the user is weighed and stays', async () => {
    const {
      violating: _v,
      meeting: _m,
      ...rest
    } = GLOBAL as ReturnType<typeof written> & {
      violating: unknown;
      meeting: unknown;
    };
    const { validationLog } = await evaluateConstraints(
      preparedSession(refundSession(), { depth: 'checks', constraints: [constraintSchema.parse(rest)] }),
      null,
      scriptedModel([]),
      { counter, healthy },
    );
    expect(validationLog.find((entry) => entry.constraint === 'refund-within-total')).toMatchObject({
      origin: 'user',
      verdict: 'violated',
      severity: 'low',
      healthyFiringRate: 1,
    });
  });

  it('what healthy sessions leave undecided has no rate', async () => {
    const { spans: _, ...rule } = {
      spans: [],
      ...written({ guard: 'call.name == "refund"', assertion: 'call.args.sum > 1' }),
    };
    const { validationLog } = await evaluateConstraints(
      preparedSession(refundSession(), { depth: 'checks', constraints: [constraintSchema.parse(rule)] }),
      null,
      scriptedModel([]),
      { counter, healthy },
    );
    expect(validationLog.find(({ origin }) => origin === 'user')).toMatchObject({
      verdict: 'unclear',
      healthyFiringRate: null,
    });
  });

  it('every constraint of the user has its entry, and only what says the same is a repetition', async () => {
    const rule = (name: string, more: object) =>
      written({ name, guard: 'true', assertion: 'session.goal != "a  b"', spans: [], ...more });
    const plain = (name: string) => {
      const { spans: _, ...rest } = { spans: [], ...rule(name, {}) };
      return constraintSchema.parse(rest);
    };
    const { validationLog } = await evaluateConstraints(
      preparedSession(refundSession(), {
        depth: 'deep',
        constraints: [plain('one'), plain('two')],
      }),
      null,
      scriptedModel([
        { purpose: 'constraints-global', reply: { constraints: [] } },
        {
          purpose: 'constraints-dynamic',
          reply: {
            constraints: [
              rule('same', { assertion: 'session.goal!="a  b"' }),
              rule('other-text', { assertion: 'session.goal != "a b"' }),
              rule('other-places', { each: 'step' }),
            ],
          },
        },
      ]),
      { counter },
    );
    const names = new Set(validationLog.map(({ constraint }) => constraint));
    for (const name of ['one', 'two', 'other-text', 'other-places']) expect(names).toContain(name);
    expect(names).not.toContain('same');
  });

  it('a written constraint that the run breaks nearly everywhere counts as low and says so', async () => {
    const calls = Array.from({ length: 8 }, (_, at) => tool(`c${at}`, 'read', { at }, 'x'));
    const strict = written({ name: 'strict', guard: 'true', assertion: 'call.args.at > 6', spans: [] });
    const { validationLog } = await evaluateConstraints(
      preparedSession(session(calls)),
      null,
      scriptedModel([{ purpose: 'constraints-dynamic', reply: { constraints: [strict] } }]),
      { counter },
    );
    const entries = validationLog.filter((entry) => entry.constraint === 'strict');
    expect(entries).toHaveLength(7);
    expect(entries[0]).toMatchObject({
      severity: 'low',
      reason: expect.stringContaining('likely too strict'),
    });
  });
});

describe('the validation log', () => {
  it('has the built-in checks, user constraints that cannot be used, and stands in step order', async () => {
    const typo = constraintSchema.parse({
      name: 'typo',
      targets: ['invention'],
      kind: 'protocol',
      assertion: 'call.nme == "x"',
      hint: 'typo',
    });
    const { result } = deep({ global: { constraints: [GLOBAL] } }, { constraints: [typo] });
    const { validationLog } = await result;
    expect(entryOf(await result, 'typo')[0]).toMatchObject({
      verdict: 'error',
      reason: expect.stringContaining('nme'),
    });
    expect(validationLog.some((entry) => entry.origin === 'built-in')).toBe(true);
    const positions = validationLog.map((entry) => entry.position);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  });
});

describe('depth by rule', () => {
  const quiet = session([said(message('user', 'hi')), said(message('assistant', 'Hello, how can I help?'))]);
  const merged = {
    failures: [],
    quarantined: [],
    calls: [],
    coverage: { spansTotal: 2, spansAnalysed: 2, tokensTotal: 9, tokensAnalysed: 9, gaps: [] },
  };
  const failure = {
    span_id: 'span-2',
    category: ['other'],
    confidence: [0.9],
    evidence: ['x'],
    source: [],
    ...UNKNOWN_RECOVERY,
  };

  it('asks the model only where something was found, and the log says when it did not', async () => {
    const { validationLog } = await evaluateConstraints(
      preparedSession(quiet, { deepRule: 'on-findings' }),
      merged,
      scriptedModel([]),
      { counter },
    );
    expect(validationLog.find((entry) => entry.constraint === 'written-constraints')?.reason).toMatch(
      /^depth-rule/,
    );
  });

  it.each([
    ['a failure of detection', { deepRule: 'on-findings' as const }, [failure]],
    ['a run known to have failed', { deepRule: 'on-findings' as const, assumeFailed: true }, []],
    ['no rule', {}, []],
  ])('asks on %s', async (_why, options, failures) => {
    const model = scriptedModel([{ purpose: 'constraints-dynamic', reply: { constraints: [] } }]);
    await evaluateConstraints(preparedSession(quiet, options), { ...merged, failures }, model, { counter });
    model.assertDone();
  });

  it('asks on a check finding unless the session got past it', async () => {
    const found = (recovered: boolean) => {
      const prepared = preparedSession(quiet, { deepRule: 'on-findings' });
      const finding = {
        checkId: 'explicit-error',
        spanId: 'span-2',
        category: 'other' as const,
        confidence: 0.9,
        summary: 'x failed',
        evidence: [],
        weight: 'failure' as const,
        recovered,
        criticalCategory: null,
      };
      return {
        ...prepared,
        checks: [{ checkId: 'explicit-error', state: 'ran' as const, reason: null, findings: [finding] }],
      };
    };
    const model = scriptedModel([{ purpose: 'constraints-dynamic', reply: { constraints: [] } }]);
    await evaluateConstraints(found(false), merged, model, { counter });
    model.assertDone();
    await evaluateConstraints(found(true), merged, scriptedModel([]), { counter });
  });

  it('when the model cannot be asked, what needs none is done and the gap is named', async () => {
    const { validationLog, gaps } = await constraintsWithoutModel(
      preparedSession(refundSession()),
      null,
      'budget: spent',
      scriptedModel([]),
      { counter },
    );
    expect(validationLog.length).toBeGreaterThan(0);
    expect(gaps).toEqual([{ what: 'constraints that a model writes', reason: 'budget: spent', spanIds: [] }]);
  });
});
