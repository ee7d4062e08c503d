import type { DiagnosisSummary } from '../contracts/ports.ts';
import type { Diagnosis } from './schema.ts';

/** What lists show of a diagnosis. `superseded` is only known to who knows the newest version. */
export function summarise(diagnosis: Diagnosis): Omit<DiagnosisSummary, 'superseded'> {
  return {
    sessionId: diagnosis.sessionId,
    version: diagnosis.version,
    outcome: diagnosis.outcome,
    agent: diagnosis.agent,
    service: diagnosis.service,
    createdAt: diagnosis.createdAt,
    failureCount: diagnosis.failures.length,
    categories: [...new Set(diagnosis.failures.flatMap((failure) => failure.category))].sort(),
    criticalSpanId: diagnosis.criticalStep?.spanId ?? null,
    criticalCategory: diagnosis.criticalStep?.category ?? null,
  };
}
