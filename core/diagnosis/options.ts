import type { CategoryDefinition } from '../vocabulary/taxonomy.ts';
import type { Constraint } from './constraint.ts';
import type { ExpectedAction } from './expected-action.ts';
import type { Protocol } from './protocols.ts';
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
  /** How the judge goes about it. Default all-at-once; others, and more than one vote, are calls of their own. */
  readonly protocol?: Protocol;
  /** What the run should have done, where a user knows: the critical step is then the first write not among them. */
  readonly expectedActions?: readonly ExpectedAction[];
  /** The session is known to have failed (benchmarks): the judge must name a step. Default false. */
  readonly assumeFailed: boolean;
  /** Constraints of the agent's team (`core/constraints`), as read from their file; asked at every depth. */
  readonly constraints?: readonly Constraint[];
  /**
   * When depth `deep` asks a model for constraints: for each session, or (where sessions come by the thousand) only
   * when detection or a check found something. Default always.
   */
  readonly deepRule?: 'always' | 'on-findings';
  /** How constraints for this run are written at depth `deep`: one call, or one a window of steps. Default one-shot. */
  readonly synthesis?: 'one-shot' | 'step-by-step';
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
