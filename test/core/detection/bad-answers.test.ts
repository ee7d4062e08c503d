import { describe, expect, test } from 'vitest';
import { DEFAULT_OPTIONS } from '../../../core/diagnosis/options.ts';
import type { Diagnosis } from '../../../core/diagnosis/schema.ts';
import { makeTokenCounter } from '../../../core/planning/tokens/make-token-counter.ts';
import { diagnose } from '../../../core/stages/pipeline.ts';
import { type ScriptedEntry, type ScriptedReply, scriptedModel } from '../../helpers/scripted-model.ts';
import { EXPLAINED, FOUND, refundSession } from '../stages/a-session.ts';

/**
 * What models really send. Each line ends in a repair, a quarantine or an honest partial; none may read as clean,
 * and none may lose the finding without a trace.
 */
const counter = makeTokenCounter();
const json = JSON.stringify(FOUND);
const [finding] = FOUND.failures;
const item = (change: object) => ({ failures: [{ ...finding, ...change }] });

async function answered(...replies: ScriptedReply[]): Promise<Diagnosis> {
  const script: ScriptedEntry[] = [
    ...replies.map((reply, i) => ({ purpose: i === 0 ? 'analyze-chunks' : 'repair', reply })),
    { purpose: 'root-cause', reply: EXPLAINED, times: 1 },
  ];
  return diagnose(refundSession(), DEFAULT_OPTIONS, {
    model: scriptedModel(script),
    counter,
    clock: { now: () => 0 },
  });
}

const found = (diagnosis: Diagnosis) => diagnosis.failures.map(({ span_id }) => span_id);
const reasons = (diagnosis: Diagnosis) => diagnosis.quarantined.map(({ reason }) => reason).join('; ');

describe('an answer that only looks wrong is read', () => {
  test.each<[string, ScriptedReply]>([
    ['fenced', `\`\`\`json\n${json}\n\`\`\``],
    ['prefixed', `Sure! Here is the result:\n${json}`],
    ['single-quoted', json.replaceAll("'", '’').replaceAll('"', "'")],
    ['in a text of JSON', JSON.stringify(json)],
    ['after its thinking', `<think>maybe {"failures":[]}, or { rather</think>${json}`],
    ['a bare list', JSON.stringify(FOUND.failures)],
    ['one finding without its list', JSON.stringify(finding)],
    [
      'in the shape of the Strands detectors',
      {
        errors: [
          { location: 's3', category: [finding?.category], confidence: ['high'], evidence: ['wrong amount'] },
        ],
      },
    ],
  ])('%s', async (_, reply) => {
    const diagnosis = await answered(reply);
    expect(found(diagnosis)).toEqual(['span-4']);
    expect(diagnosis.outcome).toBe('FAILED');
    expect(diagnosis.quarantined).toEqual([]);
  });
});

describe('an unusable answer is asked for again, once', () => {
  const unusable: [string, string][] = [
    ['cut', json.slice(0, -30)],
    ['wrong-typed list', '{"failures": "none"}'],
    ['wrong-typed answer', '42'],
    ['empty', ''],
    ['refused', 'I am sorry, but I cannot help with that.'],
    ['prose', 'The agent did quite well in general.'],
    ['another object', '{"score": 1}'],
  ];

  test.each(unusable)('%s, then good', async (_, reply) => {
    const diagnosis = await answered(reply, FOUND);
    expect(found(diagnosis)).toEqual(['span-4']);
    expect(diagnosis.outcome).toBe('FAILED');
    expect(diagnosis.usage.byStage.repair?.calls).toBe(1);
  });

  test.each(unusable)('%s, twice: not analysed, with reason, spans and bill', async (_, reply) => {
    const diagnosis = await answered(reply, reply);
    expect([diagnosis.outcome, diagnosis.coverage.state]).toEqual(['UNKNOWN', 'NONE']);
    expect(diagnosis.outcomeReason).toMatch(/^model-output-invalid: /);
    expect(diagnosis.coverage.spansAnalysed).toBe(0);
    expect(diagnosis.coverage.gaps[0]?.spanIds).toHaveLength(5);
    expect(diagnosis.usage.calls).toBe(2);
  });
});

describe('one bad finding costs only itself', () => {
  test.each<[string, object, { span: string; category: string; confidence: number; note: RegExp | null }]>([
    [
      'unknown confidence word',
      { confidence: 'pretty sure' },
      {
        span: 'span-4',
        category: finding?.category ?? '',
        confidence: 0.5,
        note: /unknown confidence .* read as low/,
      },
    ],
    [
      'confidence as a number',
      { confidence: 0.8 },
      { span: 'span-4', category: finding?.category ?? '', confidence: 0.75, note: null },
    ],
    [
      'no confidence',
      { confidence: undefined },
      {
        span: 'span-4',
        category: finding?.category ?? '',
        confidence: 0.5,
        note: /unknown confidence null read as low/,
      },
    ],
    [
      'category by its leaf',
      { category: 'hall_misunderstand' },
      { span: 'span-4', category: finding?.category ?? '', confidence: 0.9, note: null },
    ],
    [
      'category in another spelling',
      { category: 'Hallucination / Category / Hall Misunderstand' },
      { span: 'span-4', category: finding?.category ?? '', confidence: 0.9, note: null },
    ],
    [
      'unknown category',
      { category: 'bad-vibes' },
      {
        span: 'span-4',
        category: 'other',
        confidence: 0.9,
        note: /unknown category "bad-vibes" kept as "other"/,
      },
    ],
    [
      'span id in brackets',
      { span: '[s3]' },
      {
        span: 'span-4',
        category: finding?.category ?? '',
        confidence: 0.9,
        note: /span id "\[s3\]" read as span-4/,
      },
    ],
    [
      'span id with its mark',
      { span: '@s3' },
      { span: 'span-4', category: finding?.category ?? '', confidence: 0.9, note: /read as span-4/ },
    ],
    [
      'span id in other case',
      { span: 'S3' },
      { span: 'span-4', category: finding?.category ?? '', confidence: 0.9, note: /read as span-4/ },
    ],
    [
      'span number only',
      { span: 3 },
      { span: 'span-4', category: finding?.category ?? '', confidence: 0.9, note: /read as span-4/ },
    ],
    [
      'the real id',
      { span: 'span-4' },
      { span: 'span-4', category: finding?.category ?? '', confidence: 0.9, note: null },
    ],
  ])('repaired: %s', async (_, change, want) => {
    const diagnosis = await answered(item(change));
    expect(diagnosis.failures).toMatchObject([
      { span_id: want.span, category: [want.category], confidence: [want.confidence] },
    ]);
    if (want.note === null) expect(reasons(diagnosis)).toBe('');
    else expect(reasons(diagnosis)).toMatch(want.note);
    expect(diagnosis.outcome).toBe('FAILED');
  });

  test.each<[string, object | string, RegExp]>([
    ['invented span id', { ...finding, span: 'deadbeef00000000' }, /span id was not among the spans shown/],
    ['no span id', { category: finding?.category }, /finding names no span/],
    ['no category', { span: 's3' }, /finding names no category/],
    ['not an object', 's3 is bad', /finding is not an object/],
  ])('quarantined beside a good one: %s', async (_, bad, reason) => {
    const diagnosis = await answered({ failures: [bad, finding] });
    expect(found(diagnosis)).toEqual(['span-4']);
    expect(reasons(diagnosis)).toMatch(reason);
    expect(diagnosis.coverage.gaps.map((gap) => gap.what)).toContain('a finding of the model');
  });

  test('all span ids invented: nothing found, but never clean', async () => {
    const diagnosis = await answered({
      failures: [
        { ...finding, span: 'zz1' },
        { ...finding, span: 'zz2' },
      ],
    });
    expect(diagnosis.failures).toEqual([]);
    expect([diagnosis.outcome, diagnosis.coverage.state]).toEqual(['UNKNOWN', 'PARTIAL']);
    expect(diagnosis.outcomeReason).toBe('span id was not among the spans shown');
    expect(diagnosis.quarantined).toHaveLength(2);
    expect(diagnosis.quarantined[0]?.content).toContain('zz1');
  });

  test('lists of unequal length: every category is kept, the missing values are said', async () => {
    const diagnosis = await answered({
      failures: [
        {
          span_id: 's3',
          category: [finding?.category, 'incorrect-actions-category-clarification'],
          confidence: ['high'],
          evidence: ['wrong amount', 'no question', 'one too many'],
        },
      ],
    });
    expect(diagnosis.failures).toMatchObject([
      {
        category: [finding?.category, 'incorrect-actions-category-clarification'],
        confidence: [0.9, 0.5],
        evidence: ['wrong amount', 'no question'],
      },
    ]);
    expect(reasons(diagnosis)).toMatch(
      /unequal length: 2 categories, 1 confidences, 3 evidence texts.*read as low/,
    );
  });

  test('a quote that is not in the session is marked', async () => {
    const diagnosis = await answered(item({ quote: 'I have stolen 210 dollars' }));
    expect(diagnosis.failures[0]?.evidence[0]).toContain('[not found word for word in the session]');
  });
});
