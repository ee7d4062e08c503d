import type { CategoryDefinition } from '../detection/taxonomy.ts';
import type { Depth } from './schema.ts';

export const CONFIDENCE = { low: 0.5, medium: 0.75, high: 0.9 } as const;
export type ConfidenceWord = keyof typeof CONFIDENCE;

/** What a user decides about a diagnosis. Everything has a default; nothing here is read from the environment. */
export interface DiagnosisOptions {
  readonly depth: Depth;
  /** Findings below it are dropped, per category. Default `low`. */
  readonly confidence: ConfidenceWord;
  /** Votes of the judge; 1 is a single answer. */
  readonly votes: number;
  /** The session is known to have failed (benchmarks): the judge must name a step. Default false. */
  readonly assumeFailed: boolean;
  /** Replaces the built-in taxonomy. */
  readonly taxonomy?: readonly CategoryDefinition[];
  /** Added to the detection prompt: house rules of the agent's team. */
  readonly guidelines?: string;
}

export const DEFAULT_OPTIONS: DiagnosisOptions = {
  depth: 'standard',
  confidence: 'low',
  votes: 1,
  assumeFailed: false,
};
