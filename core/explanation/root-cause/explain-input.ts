import type { CriticalStep } from '../../diagnosis/schema.ts';
import type { JudgeInput } from '../critical-step/judge-input.ts';

export interface ExplainInput extends JudgeInput {
  /** A critical step decided apart from this call (votes, another protocol, a reference); `undefined`: judge here. */
  readonly decided: CriticalStep | null | undefined;
}
