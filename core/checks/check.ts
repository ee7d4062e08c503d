import type { CheckFinding } from '../diagnosis/check-report.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import type { CategoryId } from '../vocabulary/taxonomy.ts';

/** What a check says when it could not look: never an empty list that reads as "nothing is wrong". */
export interface CheckBlind {
  readonly blind: string;
}

/**
 * One check. Pure and deterministic. `run` returns findings, or says why it cannot know (no tool schemas, content
 * absent). A check never throws on odd data.
 */
export interface Check {
  readonly id: string;
  readonly title: string;
  readonly categories: readonly CategoryId[];
  /** What it looks at. Where a session has none of it, the check is blind: it cannot say that all is well. */
  readonly reads?: 'tool-calls';
  run(trajectory: Trajectory): readonly CheckFinding[] | CheckBlind;
}
