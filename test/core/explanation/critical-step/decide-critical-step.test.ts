import { describe, expect, it } from 'vitest';
import { DEFAULT_OPTIONS, type DiagnosisOptions } from '../../../../core/diagnosis/options.ts';
import type { ValidationEntry } from '../../../../core/diagnosis/schema.ts';
import { ModelPendingError } from '../../../../core/errors/errors.ts';
import { decideCriticalStep } from '../../../../core/explanation/critical-step/by-model.ts';
import type { JudgeInput } from '../../../../core/explanation/critical-step/judge-input.ts';
import { showRun } from '../../../../core/explanation/critical-step/show-run.ts';
import type { Model, ModelRequest } from '../../../../core/model/port.ts';
import { chunkSettings } from '../../../../core/planning/chunk-settings.ts';
import { planChunks } from '../../../../core/planning/plan-chunks.ts';
import { makeTokenCounter } from '../../../../core/planning/tokens/make-token-counter.ts';
import type { Session } from '../../../../core/session/session.ts';
import { toTrajectory } from '../../../../core/trajectory/to-trajectory.ts';
import { inference, message, said, session, tool, use } from '../../../helpers/build-session.ts';
import { type ScriptedReply, scriptedModel } from '../../../helpers/scripted-model.ts';

const counter = makeTokenCounter();

/** Two agents: the searcher reads 12 as 21, the writer writes it down. span-3 and span-4 are at fault. */
const crew: Session = session(
  [
    said(message('user', 'How many moons? Write it down.')),
    tool('c1', 'search', { q: 'moons' }, 'There are 12 moons.', { agent: 'Searcher' }),
    said({ ...message('assistant', 'I found 21 moons.'), name: 'Searcher' }, { agent: 'Searcher' }),
    inference([], [message('assistant', use('c2', 'write', { text: '21 moons' }))], {
      agent: 'Writer',
      systemPrompt: 'You write what others find.',
      tools: [{ name: 'write', description: 'Writes a text.' }],
    }),
    tool('c2', 'write', { text: '21 moons' }, 'written', { agent: 'Writer' }),
  ],
  { goal: 'How many moons? Write it down.' },
);

function judgeInput(
  model: Model,
  options: Partial<DiagnosisOptions> = {},
  more: Partial<JudgeInput> = {},
  of = crew,
): JudgeInput {
  const trajectory = toTrajectory(of);
  const settings = chunkSettings({ contextTokens: 200_000, maxOutputTokens: 8_000, tokenFactor: 1 }, 3_000);
  return {
    trajectory,
    plan: planChunks(trajectory, counter, settings),
    failures: [],
    checks: [],
    validationLog: [],
    options: { ...DEFAULT_OPTIONS, ...options },
    model,
    counter,
    ...more,
  };
}

const step = (span: string, category = 'misinterpretation', confidence = 'high', more: object = {}) => ({
  span,
  category,
  confidence,
  reason: `because of ${span}`,
  evidence: [{ span: 's1', quote: 'There are 12 moons.', note: 'the source' }],
  ...more,
});
const verdict = (...criticalSteps: object[]) => ({ analysis: 'a walk', criticalSteps });
const sent = (request: ModelRequest | undefined): string =>
  request?.user.map(({ text }) => text).join('') ?? '';
const judge = (
  replies: ScriptedReply[],
  options: Partial<DiagnosisOptions> = {},
  more: Partial<JudgeInput> = {},
) => {
  const model = scriptedModel(replies);
  return { model, decided: decideCriticalStep(judgeInput(model, options, more)) };
};

describe('all at once', () => {
  it('gives step, agent, category, confidence, evidence ids and three alternatives', async () => {
    const { decided } = judge([
      verdict(step('s2'), step('s3', 'plan-adherence', 'low'), step('s1'), step('s4'), step('s0')),
    ]);
    expect((await decided).critical).toMatchObject({
      spanId: 'span-3',
      position: 2,
      agent: 'Searcher',
      category: 'misinterpretation',
      confidence: 0.9,
      evidence: [{ spanId: 'span-2', quote: 'There are 12 moons.' }],
      alternatives: [
        { spanId: 'span-4', agent: 'Writer', confidence: 0.5 },
        { spanId: 'span-2' },
        { spanId: 'span-5' },
      ],
      agreement: null,
      judgedBy: 'model',
    });
  });

  it('is really given the instruction, the tools, the run, the checklist and the log', async () => {
    const violated: ValidationEntry = {
      constraint: 'same-number',
      origin: 'user',
      spanId: 'span-4',
      position: 3,
      verdict: 'violated',
      reason: 'What is written is what was found.',
      severity: 'high',
      evidence: [{ spanId: 'span-4', quote: '21 moons', note: 'looked up: call.args.text = "21 moons"' }],
      healthyFiringRate: 0.25,
    };
    const { model, decided } = judge([verdict(step('s2'))], {}, { validationLog: [violated] });
    await decided;
    const text = sent(model.requests[0]);
    for (const piece of [
      'How many moons? Write it down.',
      'You write what others find.',
      'Writes a text.',
      'There are 12 moons.',
      'underspecified-intent',
      'constraint same-number violated (high, also fires on 25 % of healthy runs): What is written is what was found.',
      'looked up: call.args.text',
      'Look ahead',
    ]) {
      expect(text).toContain(piece);
    }
  });

  it('may overrule a violation: the log is evidence, not the verdict', async () => {
    const log: ValidationEntry[] = [
      {
        constraint: 'c',
        origin: 'dynamic',
        spanId: 'span-5',
        position: 4,
        verdict: 'violated',
        reason: 'r',
        severity: 'high',
        evidence: [],
        healthyFiringRate: null,
      },
    ];
    const { decided } = judge([verdict(step('s2'))], {}, { validationLog: log });
    expect((await decided).critical?.spanId).toBe('span-3');
  });

  it('a session without failure has no critical step, and that is a decision', async () => {
    const { model, decided } = judge([verdict()]);
    expect(await decided).toMatchObject({ critical: null, gaps: [] });
    expect(sent(model.requests[0])).toContain('give an empty list');
  });

  it('a run known to have failed is told so', async () => {
    const { model, decided } = judge([verdict(step('s2'))], { assumeFailed: true });
    await decided;
    expect(sent(model.requests[0])).toContain('known to have failed');
  });

  it('a judge that names only unknown spans has not said that there is no failure', async () => {
    const { decided } = judge([verdict(step('s99'))]);
    const { critical, gaps, quarantined } = await decided;
    expect(critical).toBeUndefined();
    expect(gaps).toEqual([expect.objectContaining({ what: 'a vote of the judge' })]);
    expect(quarantined[0]).toMatchObject({
      stage: 'judge',
      reason: expect.stringContaining('critical step'),
    });
  });

  it('two agents at fault: the first unrecovered is critical, the other stands among the alternatives', async () => {
    const { decided } = judge([verdict(step('s2'), step('s3', 'plan-adherence'))]);
    const { critical } = await decided;
    expect(critical?.agent).toBe('Searcher');
    expect(critical?.alternatives.map(({ agent }) => agent)).toEqual(['Writer']);
  });
});

describe('step, then category', () => {
  const steps = {
    analysis: 'a',
    steps: [step('s2', undefined, 'high'), step('s3', undefined, 'low')].map(
      ({ category: _, ...rest }) => rest,
    ),
  };
  const options = { protocol: 'step-then-category' as const };

  it('asks for the step without categories, then for the category of that step', async () => {
    const categories = {
      categories: [
        { span: 's3', category: 'plan-adherence', reason: 'c3' },
        { span: 's2', category: 'invention', reason: 'no source' },
      ],
    };
    const { model, decided } = judge([steps, categories], options);
    expect((await decided).critical).toMatchObject({
      spanId: 'span-3',
      category: 'invention',
      reason: 'because of s2 no source',
      alternatives: [{ spanId: 'span-4', category: 'plan-adherence' }],
    });
    expect(sent(model.requests[0])).not.toContain('unsupported-intent');
    expect(sent(model.requests[1])).toContain('unsupported-intent');
    expect(sent(model.requests[1])).toContain('because of s2');
    expect(model.requests.map(({ purpose }) => purpose)).toEqual(['judge-step', 'judge-category']);
  });

  it('a candidate without a category is inconclusive, not lost', async () => {
    const { decided } = judge([steps, { categories: [] }], options);
    expect((await decided).critical).toMatchObject({ spanId: 'span-3', category: 'inconclusive' });
  });

  it('no step means no second question', async () => {
    const { model, decided } = judge([{ analysis: 'a', steps: [] }], options);
    expect((await decided).critical).toBeNull();
    expect(model.requests).toHaveLength(1);
  });

  it('a second stage that stays unusable is a gap, not a verdict', async () => {
    const { decided } = judge([steps, 'no', 'no'], options);
    expect(await decided).toMatchObject({
      critical: undefined,
      gaps: [expect.objectContaining({ reason: expect.stringMatching(/^model-output-invalid/) })],
    });
  });
});

describe('category, then step', () => {
  it('asks for the kind of failure first, then for its step', async () => {
    const kinds = {
      analysis: 'a',
      kinds: [{ category: 'misinterpretation', confidence: 'high', reason: 'misread' }],
    };
    const { model, decided } = judge([kinds, { criticalSteps: [step('s2')] }], {
      protocol: 'category-then-step',
    });
    expect((await decided).critical).toMatchObject({ spanId: 'span-3', category: 'misinterpretation' });
    expect(sent(model.requests[1])).toContain('misread');
    expect(model.requests.map(({ purpose }) => purpose)).toEqual(['judge-category', 'judge-step']);
  });
});

describe('votes', () => {
  it('that disagree: most votes win, with the agreement, and the others become alternatives', async () => {
    const { model, decided } = judge(
      [
        verdict(step('s2')),
        verdict(step('s3', 'plan-adherence')),
        verdict(step('s2', 'invention', 'medium')),
      ],
      { votes: 3 },
    );
    const { critical } = await decided;
    expect(critical).toMatchObject({
      spanId: 'span-3',
      category: 'misinterpretation',
      agreement: 2 / 3,
      alternatives: [{ spanId: 'span-4', category: 'plan-adherence' }],
    });
    expect(critical?.confidence).toBeCloseTo(((0.9 + 0.75) / 2) * (2 / 3));
    expect(model.requests.map(({ sample }) => sample)).toEqual([0, 1, 2]);
  });

  it('an unusable vote does not count, and is named', async () => {
    const { decided } = judge([verdict(step('s2')), 'no', verdict(step('s2')), 'no'], { votes: 3 });
    const { critical, gaps } = await decided;
    expect(critical).toMatchObject({ spanId: 'span-3', agreement: 1 });
    expect(gaps).toHaveLength(1);
  });

  it('all go out before the run waits for a batch', async () => {
    const pending = (hash: string) => new ModelPendingError('open', [hash]);
    const { model, decided } = judge([pending('a'), pending('b'), pending('c')], { votes: 3 });
    await expect(decided).rejects.toMatchObject({ requestHashes: ['a', 'b', 'c'] });
    expect(model.requests).toHaveLength(3);
  });

  it('share their prompt up to the question, for the prefix cache', async () => {
    const { model, decided } = judge([verdict(step('s2')), verdict(step('s2'))], { votes: 2 });
    await decided;
    const [first, second] = model.requests.map(({ user }) => user);
    expect(first).toEqual(second);
    expect(first?.filter(({ cache }) => cache)).toHaveLength(2);
  });
});

describe('a run too long for the judge', () => {
  const long = session([
    said(message('user', 'Read everything.')),
    ...Array.from({ length: 60 }, (_, page) =>
      tool(`c${page}`, 'read', { page }, `page ${page} ${'lorem ipsum '.repeat(200)}end ${page}`),
    ),
    said(message('assistant', 'All read.')),
  ]);
  const violation = { spanId: 'span-31', verdict: 'violated' } as ValidationEntry;
  const input = judgeInput(scriptedModel([]), {}, { validationLog: [violation] }, long);

  it('shows near parts in full and far parts shortened, and says so; no span disappears', () => {
    const shown = showRun(input, 9_000);
    expect(shown?.note).toContain('shortened');
    for (let index = 0; index < 62; index += 1) expect(shown?.text).toContain(`@s${index} `);
    const near = shown?.text.split('\n').find((line) => line.startsWith('@s30 '));
    expect(near).not.toContain('characters left out');
    const far = shown?.text.split('\n').find((line) => line.startsWith('@s12 '));
    expect(far).toMatch(/\d+ characters left out/);
    expect(counter.count(shown?.text ?? '')).toBeLessThanOrEqual(9_000);
  });

  it('is not judged when not even the shortened run fits', async () => {
    expect(showRun(input, 500)).toBeNull();
    const small = {
      ...input,
      plan: { ...input.plan, settings: { ...input.plan.settings, contextTokens: 10_000 } },
    };
    expect(await decideCriticalStep(small)).toMatchObject({
      critical: undefined,
      gaps: [expect.objectContaining({ reason: expect.stringMatching(/^context-overflow/) })],
      calls: [],
    });
  });
});
