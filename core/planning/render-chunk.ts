import { makeStepRenderer, type StepRenderer } from '../prompting/render-steps.ts';
import { codePoints } from '../prompting/render-text.ts';
import type { SpanAliases } from '../prompting/span-aliases.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import { makeHeader } from './chunk-header.ts';
import type { Chunk, ChunkPlan, ChunkSettings, ChunkSpan, EarlierSpan } from './plan.ts';

export interface RenderedChunk {
  /** Goal, system prompt, tools, what went before; the same for all calls on this chunk. */
  readonly header: string;
  readonly body: string;
  /** Header and body: what goes into the prompt. */
  readonly text: string;
  readonly aliases: SpanAliases;
}

/** Renders a chunk of the plan, by index, or one that `splitChunk` made of it. */
export function renderChunk(trajectory: Trajectory, plan: ChunkPlan, chunk: Chunk | number): RenderedChunk {
  const chosen = typeof chunk === 'number' ? plan.chunks[chunk] : chunk;
  if (chosen === undefined) throw new RangeError(`no chunk ${String(chunk)} among ${plan.chunks.length}`);
  // A half of a session of one span has as many spans as the session, but not all of it.
  const whole =
    plan.mode === 'direct' &&
    chosen.spans.length === trajectory.steps.length &&
    chosen.spans.every((span) => span.part === null);
  return makeChunkRenderer(trajectory, plan.settings, whole).render(chosen.spans, chosen.earlier);
}

/** Renders the whole trajectory as one text, with its header, whatever its length. */
export function renderWhole(trajectory: Trajectory, settings: ChunkSettings): RenderedChunk {
  return makeChunkRenderer(trajectory, settings, true).render(
    trajectory.steps.map((step) => ({ spanId: step.spanId, step: step.index, part: null, overlap: false })),
  );
}

/** Planner and renderer go through this one, so that a plan's token figures are those of the text. */
export interface ChunkRenderer {
  readonly steps: StepRenderer;
  /** Spans before these that they go back to. */
  earlierSpans(spans: readonly ChunkSpan[]): readonly EarlierSpan[];
  /** Sections of the header, each with its line end. `earlier` is looked up where it is not known. */
  header(spans: readonly ChunkSpan[], earlier?: readonly EarlierSpan[]): readonly string[];
  /** The same without what depends on every span: what a planner counts before it knows them. */
  headerAt(first: ChunkSpan): readonly string[];
  /** One span of a chunk, with its line end. */
  span(span: ChunkSpan): string;
  render(spans: readonly ChunkSpan[], earlier?: readonly EarlierSpan[]): RenderedChunk;
}

export function makeChunkRenderer(
  trajectory: Trajectory,
  settings: ChunkSettings,
  whole: boolean,
): ChunkRenderer {
  const headers = makeHeader(trajectory, settings, whole);
  const steps = makeStepRenderer(trajectory, { systemPromptAbove: headers.systemPromptWhole });
  const sections = (spans: readonly ChunkSpan[]): string[] => {
    const shown = new Set(spans.filter((span) => span.part === null).map((span) => span.step));
    return headers.sections(spans[0]?.step ?? 0, (step) => shown.has(step), steps);
  };
  const stepsOf = (spans: readonly ChunkSpan[]): number[] => spans.map(({ step }) => step);
  const earlierSpans = (spans: readonly ChunkSpan[]): readonly EarlierSpan[] =>
    headers.earlierSpans(stepsOf(spans), steps);
  const header = (spans: readonly ChunkSpan[], earlier = earlierSpans(spans)): readonly string[] => [
    headers.ofSteps(stepsOf(spans), earlier, steps),
    ...sections(spans),
  ];
  const span = ({ step, part }: ChunkSpan): string => {
    const text = steps.render(step);
    if (part === null) return `${headers.turnLine(step)}${text}\n`;
    const { from, to } = part;
    return renderPartLine(text, steps.aliases.of(step))(sliceCodePoints(text, from, to), from, to);
  };
  return {
    steps,
    earlierSpans,
    header,
    headerAt: (first) => sections([first]),
    span,
    render(spans, earlier) {
      const head = header(spans, earlier).join('');
      const body = spans.map(span).join('');
      return { header: head, body, text: head + body, aliases: steps.aliases };
    },
  };
}

/**
 * Writes a part of a step's text. It begins on a line of ours, so that a cut in the middle of text cannot leave a
 * line that looks like a mark.
 */
export function renderPartLine(
  text: string,
  alias: string,
): (slice: string, from: number, to: number) => string {
  const length = codePoints(text);
  return (slice, from, to) => `@${alias} part [characters ${from} to ${to} of ${length}]: ${slice}\n`;
}

function sliceCodePoints(text: string, from: number, to: number): string {
  let unit = 0;
  let point = 0;
  const advance = (target: number): number => {
    while (point < target && unit < text.length) {
      unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
      point++;
    }
    return unit;
  };
  const start = advance(from);
  return text.slice(start, advance(to));
}
