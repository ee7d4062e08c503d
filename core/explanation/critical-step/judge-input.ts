import type { CheckReport } from '../../diagnosis/check-report.ts';
import type { DiagnosisOptions } from '../../diagnosis/options.ts';
import type { Failure, ValidationEntry } from '../../diagnosis/schema.ts';
import type { Model } from '../../model/port.ts';
import type { ChunkPlan } from '../../planning/plan.ts';
import type { TokenCounter } from '../../planning/tokens/counter.ts';
import type { Trajectory } from '../../trajectory/trajectory.ts';

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
