import type { CheckReport } from '../checks/check.ts';
import type { ChunkPlan } from '../chunking/plan.ts';
import type { DiagnosisOptions } from '../diagnosis/options.ts';
import type { Failure, ValidationEntry } from '../diagnosis/schema.ts';
import type { Model } from '../model/port.ts';
import type { Trajectory } from '../session/trajectory.ts';
import type { TokenCounter } from '../tokens/counter.ts';

/** What a judge is given. */
export interface JudgeInput {
  readonly trajectory: Trajectory;
  readonly plan: ChunkPlan;
  readonly failures: readonly Failure[];
  readonly checks: readonly CheckReport[];
  readonly validationLog: readonly ValidationEntry[];
  readonly options: DiagnosisOptions;
  readonly model: Model;
  readonly counter: TokenCounter;
}
