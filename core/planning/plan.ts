/** A piece of a span: `null` range means the whole span; otherwise a part of its rendered text, by code points. */
export interface ChunkSpan {
  readonly spanId: string;
  /** Index of the step in the trajectory. */
  readonly step: number;
  readonly part: {
    readonly index: number;
    readonly of: number;
    readonly from: number;
    readonly to: number;
  } | null;
  /** True when this span stands here only as overlap from the previous chunk. */
  readonly overlap: boolean;
}

/** A span before a chunk of which the chunk shows an excerpt. */
export interface EarlierSpan {
  /** Index of the step in the trajectory. */
  readonly step: number;
  /** What points there, shown with the text around it; `null` shows the step's beginning. */
  readonly value: string | null;
}

export interface Chunk {
  /** 0-based. */
  readonly index: number;
  readonly spans: readonly ChunkSpan[];
  /** Found once, by the planner: the index of values takes the whole session, and whoever renders needs one chunk. */
  readonly earlier?: readonly EarlierSpan[];
  /** Estimated tokens of the rendered spans and header, without the instructions. */
  readonly tokens: number;
}

export interface ChunkPlan {
  /** `direct`: one chunk with everything. */
  readonly mode: 'direct' | 'chunked';
  readonly chunks: readonly Chunk[];
  /** Estimated tokens of the whole session as rendered. */
  readonly totalTokens: number;
  /** The numbers the plan was made with, for provenance. */
  readonly settings: ChunkSettings;
}

/**
 * The reference's constants (Strands Evals detectors): pre-flight limit 0.65 of the window, chunk budget 0.5 of
 * the window less the prompt's own tokens, overlap 5 spans and at most half of a chunk.
 */
export interface ChunkSettings {
  readonly contextTokens: number;
  readonly preflightShare: number;
  readonly chunkShare: number;
  readonly promptTokens: number;
  readonly overlapSpans: number;
  readonly overlapShare: number;
}
