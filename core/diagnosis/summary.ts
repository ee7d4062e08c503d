import type { Issue } from './issue.ts';
import type { Diagnosis } from './schema.ts';

/** An issue and what says it in words. */
export type IssueRef = Pick<Issue, 'issue' | 'category' | 'place' | 'cause'>;

/** What lists show of a diagnosis without loading it whole. */
export interface DiagnosisSummary {
  readonly sessionId: string;
  readonly version: number;
  readonly outcome: Diagnosis['outcome'];
  readonly agent: string | null;
  readonly service: string | null;
  /** Version of the agent's code; `null` where its producer names none. */
  readonly release: string | null;
  readonly createdAt: string;
  readonly failureCount: number;
  readonly categories: readonly string[];
  readonly criticalSpanId: string | null;
  readonly criticalCategory: string | null;
  /** `null` where an older version stored it. */
  readonly coverage: Diagnosis['coverage']['state'] | null;
  readonly model: string | null;
  readonly costUsd: number | null;
  /** When the session ended, ISO; `null` when its producer does not say. */
  readonly endedAt: string | null;
  /** The issues it belongs to; given by the store. */
  readonly issues: readonly IssueRef[];
  readonly superseded: boolean;
}

/** What lists show of a diagnosis. `superseded` is only known to who knows the newest version. */
export function summarise(diagnosis: Diagnosis): Omit<DiagnosisSummary, 'superseded'> {
  return {
    sessionId: diagnosis.sessionId,
    version: diagnosis.version,
    outcome: diagnosis.outcome,
    agent: diagnosis.agent,
    service: diagnosis.service,
    release: diagnosis.release,
    createdAt: diagnosis.createdAt,
    failureCount: diagnosis.failures.length,
    categories: [...new Set(diagnosis.failures.flatMap((failure) => failure.category))].sort(),
    criticalSpanId: diagnosis.criticalStep?.spanId ?? null,
    criticalCategory: diagnosis.criticalStep?.category ?? null,
    coverage: diagnosis.coverage.state,
    model: diagnosis.provenance.model,
    costUsd: diagnosis.usage.costUsd,
    endedAt: diagnosis.endedAt,
    issues: [],
  };
}
