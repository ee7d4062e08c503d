import type { Chunk, ChunkSpan } from '../chunking/plan.ts';
import type { Trajectory } from '../session/trajectory.ts';

/** What a prompt shows of a session, and the names it uses. */
export interface Shown {
  readonly text: string;
  /** Alias as rendered → span id, of the spans shown. */
  readonly aliases: ReadonlyMap<string, string>;
}

// STAND-IN until the rendering lands.
const stepText = (trajectory: Trajectory, index: number): string => {
  const step = trajectory.steps[index];
  if (step === undefined) return '';
  const parts = step.parts.map((part) =>
    'text' in part.block ? part.block.text : JSON.stringify(part.block),
  );
  return `[s${index}] ${step.kind} ${step.span.name}\n${parts.join('\n')}\n${step.span.errors.map((e) => e.message).join('\n')}`;
};

export function showChunk(trajectory: Trajectory, chunk: Chunk): Shown {
  const aliases = new Map<string, string>();
  const texts = chunk.spans.map((span) => {
    aliases.set(`s${span.step}`, span.spanId);
    const text = stepText(trajectory, span.step);
    return span.part === null ? text : Array.from(text).slice(span.part.from, span.part.to).join('');
  });
  return { text: texts.join('\n'), aliases };
}

export function splitInTwo(trajectory: Trajectory, chunk: Chunk): readonly Chunk[] | null {
  const { spans } = chunk;
  const tokens = Math.ceil(chunk.tokens / 2);
  if (spans.length > 1) {
    const half = Math.ceil(spans.length / 2);
    return [spans.slice(0, half), spans.slice(half)].map((part) => ({
      index: chunk.index,
      spans: part,
      tokens,
    }));
  }
  const [only] = spans;
  if (only === undefined) return null;
  const length = Array.from(stepText(trajectory, only.step)).length;
  const { from, to } = only.part ?? { from: 0, to: length };
  if (to - from < 400) return null;
  const middle = Math.floor((from + to) / 2);
  return [
    [from, middle],
    [middle, to],
  ].map(([a = 0, b = 0], i) => ({
    index: chunk.index,
    spans: [{ ...only, part: { index: i, of: 2, from: a, to: b } }],
    tokens,
  }));
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
  return new Map(trajectory.steps.map((step) => [step.spanId, `s${step.index}`]));
}

/** One line a span, with the first characters of what is new in it. */
export function outline(trajectory: Trajectory, characters: number): string {
  return trajectory.steps
    .map((step) =>
      stepText(trajectory, step.index)
        .replace(/\s+/gu, ' ')
        .slice(0, characters + 60),
    )
    .join('\n');
}
