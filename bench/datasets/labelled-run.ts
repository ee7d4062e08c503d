import type { ExpectedAction } from '../../core/diagnosis/expected-action.ts';
import type { Session } from '../../core/session/session.ts';
import type { CriticalCategory } from '../../core/vocabulary/critical-categories.ts';

/** A failure that annotators marked. `position` is 0-based and counts raw messages, as Step.position does. */
export interface GoldFailure {
  readonly position: number;
  /** `null` where the data set labels no categories (Who&When). */
  readonly category: CriticalCategory | null;
  readonly agent: string | null;
}

export interface Gold {
  /** The root failure. */
  readonly critical: GoldFailure;
  /** All marked failures in step order, the root among them. */
  readonly failures: readonly GoldFailure[];
}

/** A visible error of a tool, as a labeller marked it. */
export interface GoldToolError {
  /** Where its result stands: a span id, or `m` and the 0-based index of a message. */
  readonly spanId: string;
  readonly toolCallId: string | null;
  /** A class of core/vocabulary/error-classes.ts, or `empty`. */
  readonly class: string;
}

/** A run with its answer. The answer never goes further than the metrics: predictors get `session` alone. */
export interface LabelledRun {
  readonly id: string;
  readonly group: Group;
  readonly session: Session;
  /** `null`: the run is known to be healthy. */
  readonly gold: Gold | null;
  /** What the run should have done, where the data says; used only in the mode with a reference. */
  readonly expectedActions: readonly ExpectedAction[] | null;
  /** Every visible tool error, and the spans that look like one and are none; absent where nobody labelled them. */
  readonly toolErrors?: readonly GoldToolError[];
  readonly lookalikes?: readonly string[];
  /** Texts of labels and answers, for the leak guard. */
  readonly answers: readonly string[];
}

export const GROUPS = ['tau', 'magentic', 'hand-crafted', 'algorithm-generated', 'labels'] as const;
/** `own`: healthy conversations of ours, of which only alarms are counted. */
export type Group = (typeof GROUPS)[number] | 'own';
