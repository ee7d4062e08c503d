import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chunkBudget, chunkSettings } from '../../../core/planning/chunk-settings.ts';
import type { ChunkPlan, ChunkSettings } from '../../../core/planning/plan.ts';
import { planChunks } from '../../../core/planning/plan-chunks.ts';
import { makeChunkRenderer, renderChunk } from '../../../core/planning/render-chunk.ts';
import { makeTokenCounter } from '../../../core/planning/tokens/make-token-counter.ts';
import { codePoints } from '../../../core/prompting/render-text.ts';
import { toTrajectory } from '../../../core/trajectory/to-trajectory.ts';
import type { Trajectory } from '../../../core/trajectory/trajectory.ts';
import { anyText } from '../../helpers/arbitrary-session.ts';
import { message, said, session, tool } from '../../helpers/build-session.ts';

const counter = makeTokenCounter();
const window = (contextTokens: number, more: Partial<ChunkSettings> = {}): ChunkSettings => ({
  ...chunkSettings({ contextTokens, maxOutputTokens: 1, tokenFactor: 1 }, 100),
  ...more,
});
const repeat = (word: string, times: number): string =>
  Array.from({ length: times }, (_, i) => `${word}${i}`).join(' ');

/** Sessions from one line to far more than the window, single spans of several windows among them. */
const sizes = fc.oneof(
  { weight: 6, arbitrary: fc.nat(60) },
  { weight: 3, arbitrary: fc.nat(700) },
  { weight: 1, arbitrary: fc.nat(6000) },
);
const trajectories: fc.Arbitrary<Trajectory> = fc
  .record({
    steps: fc.array(fc.record({ words: sizes, odd: anyText, tool: fc.boolean() }), { maxLength: 40 }),
    system: fc.oneof(fc.constant(null), sizes),
    goal: fc.option(anyText, { nil: null }),
  })
  .map(({ steps, system, goal }) =>
    toTrajectory(
      session(
        [
          ...(system === null ? [] : [said(message('system', repeat('rule ', system)))]),
          ...steps.map(({ words, odd, tool: isTool }, i) =>
            isTool
              ? tool(`c${i}`, 'find', { odd }, `${odd}${repeat('row', words)}`)
              : said(message('user', `${odd}${repeat('word', words)}😀`)),
          ),
        ],
        { goal },
      ),
    ),
  );
const settings = fc.record({
  contextTokens: fc.integer({ min: 4400, max: 9000 }),
  overlapSpans: fc.nat(6),
});

function forAnyPlan(check: (t: Trajectory, plan: ChunkPlan) => void): void {
  fc.assert(
    fc.property(trajectories, settings, (t, { contextTokens, overlapSpans }) => {
      const chosen = window(contextTokens, { overlapSpans });
      check(t, planChunks(t, counter, chosen));
    }),
    { numRuns: 80 },
  );
}

describe('a chunk plan', () => {
  test('has every span whole or in parts that cover its text without a hole', () => {
    forAnyPlan((t, plan) => {
      const { steps } = makeChunkRenderer(t, plan.settings, plan.mode === 'direct');
      for (const step of t.steps) {
        const places = plan.chunks.flatMap((c) => c.spans).filter((s) => s.step === step.index && !s.overlap);
        expect(places.every((s) => s.spanId === step.spanId)).toBe(true);
        const parts = places.flatMap((s) => (s.part === null ? [] : [s.part]));
        if (parts.length === 0) {
          expect(places.length).toBe(1);
          continue;
        }
        expect(places.length).toBe(parts.length);
        expect(parts.map((p) => p.index)).toEqual(parts.map((_, i) => i));
        expect(new Set(parts.map((p) => p.of))).toEqual(new Set([parts.length]));
        expect(parts.map((p) => p.from)).toEqual([0, ...parts.slice(0, -1).map((p) => p.to)]);
        expect(parts.at(-1)?.to).toBe(codePoints(steps.render(step.index)));
      }
    });
  });

  test('has no chunk over its budget, and figures that are those of the text', () => {
    forAnyPlan((t, plan) => {
      const most =
        plan.mode === 'direct'
          ? Math.floor(plan.settings.contextTokens * plan.settings.preflightShare) -
            plan.settings.promptTokens
          : chunkBudget(plan.settings);
      for (const chunk of plan.chunks) {
        expect(chunk.tokens).toBeLessThanOrEqual(most);
        expect(chunk.tokens).toBe(counter.count(renderChunk(t, plan, chunk.index).text));
      }
      if (plan.mode === 'direct') expect(plan.totalTokens).toBe(plan.chunks[0]?.tokens);
      else expect(plan.totalTokens).toBeGreaterThan(chunkBudget(plan.settings));
    });
  });

  test('goes on: steps in order, each chunk with something new, at least half of it', () => {
    forAnyPlan((t, plan) => {
      const renderer = makeChunkRenderer(t, plan.settings, plan.mode === 'direct');
      let last = -1;
      for (const chunk of plan.chunks) {
        expect(chunk.spans.map((s) => s.step)).toEqual(
          chunk.spans.map((s) => s.step).toSorted((a, b) => a - b),
        );
        const tokens = (overlap: boolean) =>
          chunk.spans
            .filter((s) => s.overlap === overlap)
            .reduce((sum, s) => sum + counter.count(renderer.span(s)), 0);
        const fresh = chunk.spans.filter((s) => !s.overlap);
        expect(t.steps.length === 0 || fresh.length > 0).toBe(true);
        expect(tokens(true)).toBeLessThanOrEqual(tokens(false));
        const overlap = chunk.spans.filter((s) => s.overlap);
        expect(overlap.length).toBeLessThanOrEqual(plan.settings.overlapSpans);
        // Overlap is the end of what came before, not just anything old.
        if (overlap.length > 0) expect(overlap.at(-1)?.step).toBe(last);
        last = fresh.at(-1)?.step ?? last;
      }
    });
  });

  test('is the same for the same session', () => {
    fc.assert(
      fc.property(trajectories, (t) => {
        expect(planChunks(t, makeTokenCounter(), window(5000))).toEqual(planChunks(t, counter, window(5000)));
      }),
      { numRuns: 20 },
    );
  });

  test('is direct for what fits, and counts the instructions', () => {
    const t = toTrajectory(session([said(message('user', repeat('word', 1000)))]));
    const size = planChunks(t, counter, window(200_000)).totalTokens;
    const exactly = { preflightShare: 0.5, contextTokens: (size + 100) * 2 };
    expect(planChunks(t, counter, window(0, exactly)).mode).toBe('direct');
    expect(planChunks(t, counter, window(0, { ...exactly, promptTokens: 101 })).mode).toBe('chunked');
  });

  test('of nothing is one empty chunk', () => {
    expect(planChunks(toTrajectory(session([])), counter, window(200_000))).toMatchObject({
      mode: 'direct',
      totalTokens: 0,
      chunks: [{ index: 0, spans: [], tokens: 0 }],
    });
  });

  test('a window that the instructions fill is a configuration fault that says what to do', () => {
    expect(() =>
      planChunks(toTrajectory(session([])), counter, window(8000, { promptTokens: 3000 })),
    ).toThrow(
      expect.objectContaining({
        name: 'ConfigurationInvalidError',
        message: expect.stringMatching(/larger window/),
      }),
    );
  });

  test('allows for a tokenizer that needs more tokens than ours', () => {
    expect(
      chunkSettings({ contextTokens: 200_000, maxOutputTokens: 1, tokenFactor: 1.25 }, 0).contextTokens,
    ).toBe(160_000);
  });

  test('marks the last spans of the chunk before as overlap', () => {
    const t = toTrajectory(
      session(Array.from({ length: 60 }, (_, i) => said(message('user', repeat(`w${i}`, 30))))),
    );
    const { chunks } = planChunks(t, counter, window(5000));
    expect(chunks.length).toBeGreaterThan(2);
    for (const [i, chunk] of chunks.slice(1).entries()) {
      const before = chunks[i]!.spans.map((s) => s.step);
      expect(chunk.spans.filter((s) => s.overlap).map((s) => s.step)).toEqual(before.slice(-5));
    }
  });
});
