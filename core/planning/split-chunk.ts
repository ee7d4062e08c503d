import { codePoints } from '../prompting/render-text.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import type { Chunk, ChunkPlan, ChunkSpan } from './plan.ts';
import { type ChunkRenderer, makeChunkRenderer } from './render-chunk.ts';
import type { TokenCounter } from './tokens/counter.ts';

/** A part of fewer code points is not cut again: if that overflows, the trouble is not the chunk. */
const SMALLEST_PART = 1000;

/**
 * Two smaller chunks for one that overflowed the model's window after a passed pre-flight: halves by tokens, with
 * overlap before the second; a single span in two parts; `null` at the floor, where the caller reports the spans
 * as not analysed. Both keep the index of the chunk they come from. Each has fewer new spans, or less of one, than
 * the chunk, so that splitting on ends.
 */
export function splitChunk(
  trajectory: Trajectory,
  plan: ChunkPlan,
  chunk: Chunk,
  counter: TokenCounter,
): readonly [Chunk, Chunk] | null {
  const renderer = makeChunkRenderer(trajectory, plan.settings, false);
  const make = (spans: readonly ChunkSpan[]): Chunk => {
    const earlier = renderer.earlierSpans(spans);
    return {
      index: chunk.index,
      spans,
      earlier,
      tokens: counter.count(renderer.render(spans, earlier).text),
    };
  };
  const fresh = chunk.spans.filter((span) => !span.overlap);
  const [only] = fresh;
  if (only === undefined) return null;
  if (fresh.length === 1) {
    const halves = splitSpan(only, renderer);
    return halves === null ? null : [make([halves[0]]), make([halves[1]])];
  }
  const sizes = fresh.map((span) => counter.count(renderer.span(span)));
  const total = sizes.reduce((a, b) => a + b, 0);
  let cut = 1;
  let before = sizes[0] ?? 0;
  while (cut < fresh.length - 1 && before + (sizes[cut] ?? 0) <= total / 2) before += sizes[cut++] ?? 0;
  const overlap = tailWithin(fresh, sizes, cut, plan.settings.overlapSpans, (total - before) / 2);
  return [make(fresh.slice(0, cut)), make([...overlap, ...fresh.slice(cut)])];
}

function splitSpan(span: ChunkSpan, renderer: ChunkRenderer): readonly [ChunkSpan, ChunkSpan] | null {
  const part = span.part ?? { index: 0, of: 1, from: 0, to: codePoints(renderer.steps.render(span.step)) };
  if (part.to - part.from < 2 * SMALLEST_PART) return null;
  const middle = Math.floor((part.from + part.to) / 2);
  const half = (which: 0 | 1, from: number, to: number): ChunkSpan => ({
    ...span,
    part: { index: part.index * 2 + which, of: part.of * 2, from, to },
  });
  return [half(0, part.from, middle), half(1, middle, part.to)];
}

/** The last whole spans before `cut`, at most `most` of them and `tokens` together, as overlap. */
function tailWithin(
  spans: readonly ChunkSpan[],
  sizes: readonly number[],
  cut: number,
  most: number,
  tokens: number,
): ChunkSpan[] {
  let from = cut;
  let used = 0;
  // The first span stays out, so that the second chunk is always the smaller for the split.
  while (from > 1 && cut - from < most && spans[from - 1]?.part === null) {
    used += sizes[from - 1] ?? 0;
    if (used > tokens) break;
    from--;
  }
  return spans.slice(from, cut).map((span) => ({ ...span, overlap: true }));
}
