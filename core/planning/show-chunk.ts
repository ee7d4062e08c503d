import { makeStepRenderer } from '../prompting/render-steps.ts';
import { makeSpanAliases } from '../prompting/span-aliases.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import type { Chunk, ChunkPlan, ChunkSpan } from './plan.ts';
import { renderChunk } from './render-chunk.ts';

/** What a prompt shows of a session, and the names it uses. */
export interface Shown {
  readonly text: string;
  /** Alias as rendered → span id, of the spans shown: an answer may speak of no others. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Alias → span id of every span of the session: a text may refer to spans that are not shown. */
  readonly names: ReadonlyMap<string, string>;
}

export function showChunk(trajectory: Trajectory, plan: ChunkPlan, chunk: Chunk): Shown {
  const { text, aliases } = renderChunk(trajectory, plan, chunk);
  return {
    text,
    aliases: new Map(chunk.spans.map((span) => [aliases.of(span.step), span.spanId])),
    names: new Map(trajectory.steps.map((step) => [aliases.of(step.index), step.spanId])),
  };
}

/** A chunk of whole spans, for the stages that choose their own. */
export function chunkOf(trajectory: Trajectory, steps: readonly number[]): Chunk {
  const spans = steps.flatMap((index): ChunkSpan[] => {
    const step = trajectory.steps[index];
    return step === undefined ? [] : [{ spanId: step.spanId, step: index, part: null, overlap: false }];
  });
  return { index: 0, spans, tokens: 0 };
}

/** Span id → alias, for the whole session. */
export function aliasOfSpans(trajectory: Trajectory): ReadonlyMap<string, string> {
  const aliases = makeSpanAliases(trajectory);
  return new Map(trajectory.steps.map((step) => [step.spanId, aliases.of(step.index)]));
}

/** One line a span: its first line as rendered, cut to the number of characters. */
export function outline(trajectory: Trajectory, characters: number): string {
  const renderer = makeStepRenderer(trajectory);
  return trajectory.steps
    .map((step) =>
      renderer
        .render(step.index)
        .slice(0, characters * 2)
        .replace(/\s+/gu, ' ')
        .slice(0, characters),
    )
    .join('\n');
}
