import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chunkSettings } from '../../../core/planning/chunk-settings.ts';
import type { Chunk, ChunkPlan } from '../../../core/planning/plan.ts';
import { planChunks } from '../../../core/planning/plan-chunks.ts';
import { renderChunk } from '../../../core/planning/render-chunk.ts';
import { splitChunk } from '../../../core/planning/split-chunk.ts';
import { makeTokenCounter } from '../../../core/planning/tokens/make-token-counter.ts';
import { toTrajectory } from '../../../core/trajectory/to-trajectory.ts';
import type { Trajectory } from '../../../core/trajectory/trajectory.ts';
import { message, said, session } from '../../helpers/build-session.ts';

const counter = makeTokenCounter();
const planOf = (lengths: readonly number[]): { t: Trajectory; plan: ChunkPlan } => {
  const t = toTrajectory(session(lengths.map((n, i) => said(message('user', `${i} `.repeat(n))))));
  const limits = { contextTokens: 8000, maxOutputTokens: 1, tokenFactor: 1 };
  return { t, plan: planChunks(t, counter, chunkSettings(limits, 100)) };
};
/** Every unit of a chunk's own text, as step and code point. */
const ownText = (chunk: Chunk): string[] =>
  chunk.spans
    .filter((s) => !s.overlap)
    .map((s) => `${s.step}:${s.part === null ? 'all' : `${s.part.from}-${s.part.to}`}`);

describe('splitting a chunk that overflowed', () => {
  test('loses nothing and ends, however often the model still says it is too long', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(4000), { minLength: 1, maxLength: 12 }), (lengths) => {
        const { t, plan } = planOf(lengths);
        for (const chunk of plan.chunks) {
          const leaves: Chunk[] = [];
          const open: Chunk[] = [chunk];
          for (let next = open.pop(); next !== undefined; next = open.pop()) {
            expect(next.tokens).toBe(counter.count(renderChunk(t, plan, next).text));
            const halves = splitChunk(t, plan, next, counter);
            if (halves === null) leaves.push(next);
            else {
              expect(halves.map((h) => h.index)).toEqual([chunk.index, chunk.index]);
              open.push(halves[1], halves[0]);
            }
          }
          const steps = (c: Chunk) => new Set(c.spans.filter((s) => !s.overlap).map((s) => s.step));
          expect([...new Set(leaves.flatMap((leaf) => [...steps(leaf)]))]).toEqual([...steps(chunk)]);
          for (const step of steps(chunk)) {
            const ranges = leaves
              .flatMap((leaf) => leaf.spans.filter((s) => s.step === step && !s.overlap))
              .flatMap((s) => (s.part === null ? [] : [s.part]));
            if (ranges.length === 0) continue;
            const whole = chunk.spans.find((s) => s.step === step && !s.overlap)?.part;
            expect(ranges[0]?.from).toBe(whole?.from ?? 0);
            for (const [i, range] of ranges.slice(1).entries()) expect(range.from).toBe(ranges[i]?.to);
            for (const range of ranges) expect(range.to - range.from).toBeLessThan(2000);
          }
        }
      }),
      { numRuns: 25, examples: [[[995]]] },
    );
  });

  test('halves by tokens, with overlap before the second', () => {
    const { t, plan } = planOf([50, 50, 50, 50, 50, 50]);
    const halves = splitChunk(t, plan, plan.chunks[0]!, counter);
    expect(halves?.map(ownText)).toEqual([
      ['0:all', '1:all', '2:all'],
      ['3:all', '4:all', '5:all'],
    ]);
    expect(halves?.[1].spans.filter((s) => s.overlap).map((s) => s.step)).toEqual([2]);
  });

  test('the half of the only span is counted as it is shown', () => {
    const { t, plan } = planOf([1000]);
    for (const half of splitChunk(t, plan, plan.chunks[0]!, counter) ?? []) {
      expect(half.tokens).toBe(counter.count(renderChunk(t, plan, half).text));
    }
    expect.assertions(2);
  });

  test('cuts a single span, and gives up on a small one', () => {
    const { t, plan } = planOf([2000]);
    expect(splitChunk(t, plan, plan.chunks[0]!, counter)?.map(ownText)).toEqual([
      ['0:0-2005'],
      ['0:2005-4010'],
    ]);
    const small = planOf([10]);
    expect(splitChunk(small.t, small.plan, small.plan.chunks[0]!, counter)).toBeNull();
  });
});
