import * as z from 'zod';
import { issueSchema } from '../../core/diagnosis/issue.ts';
import { migrateSummary } from '../../core/diagnosis/migrate.ts';
import { cutText } from '../../core/diagnosis/quarantine.ts';
import { COVERAGE_STATES, type Diagnosis, OUTCOMES } from '../../core/diagnosis/schema.ts';
import type { DiagnosisSummary } from '../../core/diagnosis/summary.ts';

/** What the items of a diagnosis hold, and which of two is the newer. */

export const summarySchema = z.preprocess(
  migrateSummary,
  z.object({
    sessionId: z.string(),
    version: z.number().int(),
    outcome: z.enum(OUTCOMES),
    agent: z.string().nullable(),
    service: z.string().nullable(),
    release: z.string().nullable().default(null),
    createdAt: z.string(),
    failureCount: z.number(),
    categories: z.array(z.string()),
    criticalSpanId: z.string().nullable(),
    criticalCategory: z.string().nullable(),
    coverage: z.enum(COVERAGE_STATES).nullable().default(null),
    model: z.string().nullable().default(null),
    costUsd: z.number().nullable().default(null),
    endedAt: z.string().nullable().default(null),
    issues: z.array(issueSchema.pick({ issue: true, category: true, place: true, cause: true })).default([]),
  }),
);
export const headSchema = z.object({
  diagnosisId: z.string(),
  contentHash: z.string(),
  summary: summarySchema,
  /** Closing number of the content that was diagnosed. */
  closing: z.number().default(0),
});
export const bodySchema = z.union([
  z.object({ body: z.instanceof(Uint8Array) }),
  z.object({ bodyKey: z.string() }),
]);
export const HEAD = ['diagnosisId', 'contentHash', 'summary', 'closing'];

/** So much that the item of `LATEST`, which every list reads of each session, stays within one read unit of 4 KB. */
const EXPLANATION = 300;
const MOST_CAUSES = 4;

/**
 * What a reader of the table wants without unpacking a body, as attributes of their own (docs/querying.md). Causes are
 * those of the failures, the worst first.
 */
export function readable(
  { criticalStep, rootCauses }: Diagnosis,
  summary: Omit<DiagnosisSummary, 'superseded'>,
): Record<string, unknown> {
  const { outcome, coverage, agent, service, release, createdAt, categories, issues } = summary;
  return {
    outcome,
    coverage,
    agent,
    service,
    release,
    createdAt,
    categories,
    issues: issues.map(({ issue }) => issue),
    criticalStep:
      criticalStep === null
        ? null
        : {
            spanId: criticalStep.spanId,
            position: criticalStep.position,
            agent: criticalStep.agent,
            category: criticalStep.category,
            reason: cutText(criticalStep.reason, EXPLANATION),
          },
    causes: rootCauses.slice(0, MOST_CAUSES).map((cause) => ({
      spanId: cause.failure_span_id,
      location: cause.location,
      explanation: cutText(cause.root_cause_explanation, EXPLANATION),
      fixType: cause.fix_type,
      fix: cutText(cause.fix_recommendation, EXPLANATION),
    })),
  };
}

/**
 * Which of two diagnoses of a session is the newer: that of the later closing, whenever it was written; of one closing,
 * that which was written later. As text of fixed width.
 */
export const versionOrder = (closing: number, version: number): string =>
  [closing, version].map((n) => String(n).padStart(9, '0')).join('#');

export function newestOf<Head extends z.infer<typeof headSchema>>(heads: readonly Head[]): Head | null {
  const order = ({ closing, summary }: Head): string => versionOrder(closing, summary.version);
  return heads.reduce<Head | null>(
    (best, head) => (best === null || order(head) > order(best) ? head : best),
    null,
  );
}
