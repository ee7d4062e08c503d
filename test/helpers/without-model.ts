import { noneModel } from '../../adapters/models/none.ts';
import { DEFAULT_OPTIONS } from '../../core/diagnosis/options.ts';
import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import type { Session } from '../../core/session/session.ts';
import { diagnose } from '../../core/stages/pipeline.ts';

const counter = makeTokenCounter();

export function diagnoseWithoutModel(session: Session): Promise<Diagnosis> {
  return diagnose(session, DEFAULT_OPTIONS, { model: noneModel, counter, clock: { now: () => 0 } });
}

export function reportOf(diagnosis: Diagnosis, checkId: string): Diagnosis['checks'][number] | undefined {
  return diagnosis.checks.find((report) => report.checkId === checkId);
}
