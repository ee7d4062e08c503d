import { ConfigurationInvalidError } from '../errors/errors.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import { reservedTokens } from './chunk-header.ts';
import { chunkBudget } from './chunk-settings.ts';
import type { Chunk, ChunkPlan, ChunkSettings, ChunkSpan } from './plan.ts';
import { type ChunkRenderer, makeChunkRenderer, renderPartLine } from './render-chunk.ts';
import { splitText } from './split-text.ts';
import type { TokenCounter } from './tokens/counter.ts';

/** Below it a chunk holds no more than a remark, and the header would take all of it. */
const LEAST_BUDGET = 2000;

/**
 * Plans which spans go to the model in which call.
 *
 * Laws: every span is in at least one chunk, whole or in parts that cover its text; no chunk exceeds the budget;
 * a chunk begins with up to `overlapSpans` last spans of the one before, at most half of its spans' tokens; figures
 * are exact (header and spans as `renderChunk` writes them); equal input gives an equal plan.
 *
 * Throws a ConfigurationInvalidError when the instructions leave no room in the window.
 */
export function planChunks(
  trajectory: Trajectory,
  counter: TokenCounter,
  settings: ChunkSettings,
): ChunkPlan {
  const budget = chunkBudget(settings);
  if (budget < LEAST_BUDGET) {
    throw new ConfigurationInvalidError(
      `a window of ${settings.contextTokens} tokens leaves ${budget} tokens for the session (instructions take ` +
        `${settings.promptTokens}, a chunk may fill ${settings.chunkShare} of the window); at least ${LEAST_BUDGET} ` +
        'are needed: use a model with a larger window or shorter guidelines',
    );
  }
  const measure = (whole: boolean) => {
    const renderer = makeChunkRenderer(trajectory, settings, whole);
    return {
      renderer,
      sizes: trajectory.steps.map(({ index }) =>
        counter.count(renderer.span(wholeSpan(trajectory.steps[index]?.spanId ?? '', index, false))),
      ),
    };
  };
  const headerTokens = makeHeaderCounter(counter);
  const { renderer, sizes } = measure(true);
  const all = trajectory.steps.map((step) => wholeSpan(step.spanId, step.index, false));
  const totalTokens = headerTokens(renderer.header(all)) + sum(sizes, 0, sizes.length);
  const preflight = Math.floor(settings.contextTokens * settings.preflightShare) - settings.promptTokens;
  if (totalTokens <= preflight) {
    return { mode: 'direct', chunks: [{ index: 0, spans: all, tokens: totalTokens }], totalTokens, settings };
  }
  const chunks = fillChunks({ trajectory, counter, headerTokens, ...measure(false) }, settings, budget);
  return { mode: 'chunked', chunks, totalTokens, settings };
}

/** Header sections repeat from chunk to chunk; each is counted once. */
function makeHeaderCounter(counter: TokenCounter): (sections: readonly string[]) => number {
  const known = new Map<string, number>();
  return (sections) =>
    sections.reduce((total, section) => {
      const tokens = known.get(section) ?? counter.count(section);
      known.set(section, tokens);
      return total + tokens;
    }, 0);
}

interface Measured {
  readonly trajectory: Trajectory;
  readonly counter: TokenCounter;
  readonly headerTokens: (sections: readonly string[]) => number;
  readonly renderer: ChunkRenderer;
  /** Tokens of each step with its line end. Sums are exact: no token spans a line end and the `@` after it. */
  readonly sizes: readonly number[];
}

function fillChunks(measured: Measured, settings: ChunkSettings, budget: number): Chunk[] {
  const { sizes, renderer, headerTokens } = measured;
  const { steps } = measured.trajectory;
  const chunks: Chunk[] = [];
  const span = (step: number, overlap: boolean): ChunkSpan =>
    wholeSpan(steps[step]?.spanId ?? '', step, overlap);
  const push = (spans: readonly ChunkSpan[], bodyTokens: number): void => {
    const earlier = renderer.earlierSpans(spans);
    const tokens = headerTokens(renderer.header(spans, earlier)) + bodyTokens;
    chunks.push({ index: chunks.length, spans, earlier, tokens });
  };
  /** Room beside the header of a chunk that begins at the step; a part, so that the header counts at its longest. */
  const capacityAt = (step: number): number => {
    const nothing = { ...span(step, false), part: { index: 0, of: 1, from: 0, to: 0 } };
    return budget - reservedTokens(settings) - headerTokens(renderer.headerAt(nothing));
  };

  let chunkStart = 0;
  for (let next = 0; next < steps.length; ) {
    if ((sizes[next] ?? 0) > capacityAt(next)) {
      for (const { piece, tokens } of splitSpan(measured, next, capacityAt(next))) push([piece], tokens);
      next++;
      chunkStart = next;
      continue;
    }
    // Most overlap first. What is new must be at least as much, so a chunk that has to close early gets less.
    let first = Math.max(chunkStart, next - settings.overlapSpans);
    for (;;) {
      const overlap = sum(sizes, first, next);
      const capacity = capacityAt(first);
      let end = next;
      let used = overlap;
      while (end < steps.length && used + (sizes[end] ?? 0) <= capacity) used += sizes[end++] ?? 0;
      if (first === next || (overlap <= capacity * settings.overlapShare && overlap <= used - overlap)) {
        push(
          Array.from({ length: end - first }, (_, i) => span(first + i, first + i < next)),
          used,
        );
        chunkStart = first;
        next = end;
        break;
      }
      first++;
    }
  }
  return chunks;
}

/** An oversized span in parts, each with a chunk of its own. */
function splitSpan(
  { trajectory, renderer, counter }: Measured,
  step: number,
  capacity: number,
): { piece: ChunkSpan; tokens: number }[] {
  const text = renderer.steps.render(step);
  const line = renderPartLine(text, renderer.steps.aliases.of(step));
  const ranges = splitText(text, capacity, counter, (slice, from, to) =>
    counter.count(line(slice, from, to)),
  );
  return ranges.map(({ from, to, tokens }, index) => ({
    piece: {
      spanId: trajectory.steps[step]?.spanId ?? '',
      step,
      part: { index, of: ranges.length, from, to },
      overlap: false,
    },
    tokens,
  }));
}

function wholeSpan(spanId: string, step: number, overlap: boolean): ChunkSpan {
  return { spanId, step, part: null, overlap };
}

function sum(values: readonly number[], from: number, to: number): number {
  let total = 0;
  for (let i = from; i < to; i++) total += values[i] ?? 0;
  return total;
}
