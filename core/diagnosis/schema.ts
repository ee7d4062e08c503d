import * as z from 'zod';
import { CRITICAL_CATEGORIES } from '../vocabulary/critical-categories.ts';

/** Raise when a stored diagnosis of the old shape can no longer be read as the new one. */
export const DIAGNOSIS_SCHEMA_VERSION = 1;

export const OUTCOMES = ['FAILURES_FOUND', 'NO_FAILURE_FOUND', 'PARTIAL', 'NOT_ANALYSED'] as const;
export const DEPTHS = ['checks', 'standard', 'deep'] as const;
export type Depth = (typeof DEPTHS)[number];

const evidenceSchema = z.object({ spanId: z.string(), quote: z.string(), note: z.string() });

/** Who found it. A model's provenance stands in `provenance.calls` under the request hash. */
const sourceSchema = z.object({
  kind: z.enum(['model', 'check', 'constraint', 'user']),
  /** Check or constraint id; for a model the request hash. */
  ref: z.string(),
});

/** Strands' `FailureItem`: three lists aligned by index; `source` is our addition, aligned too. */
export const failureSchema = z.object({
  span_id: z.string(),
  category: z.array(z.string()).min(1),
  confidence: z.array(z.number()).min(1),
  evidence: z.array(z.string()).min(1),
  source: z.array(sourceSchema).min(1),
});
export type Failure = z.infer<typeof failureSchema>;

/** Strands' root-cause item; exactly one for each failure, in the same order. */
export const rootCauseSchema = z.object({
  failure_span_id: z.string(),
  location: z.string(),
  causality: z.enum(['PRIMARY_FAILURE', 'SECONDARY_FAILURE', 'TERTIARY_FAILURE', 'UNCLEAR']),
  propagation_impact: z.array(
    z.enum([
      'TASK_TERMINATION',
      'QUALITY_DEGRADATION',
      'INCORRECT_PATH',
      'STATE_CORRUPTION',
      'NO_PROPAGATION',
      'UNCLEAR',
    ]),
  ),
  failure_detection_timing: z.enum([
    'IMMEDIATELY_AT_OCCURRENCE',
    'SEVERAL_STEPS_LATER',
    'ONLY_AT_TASK_END',
    'SILENT_UNDETECTED',
  ]),
  completion_status: z.enum(['COMPLETE_SUCCESS', 'PARTIAL_SUCCESS', 'COMPLETE_FAILURE']),
  root_cause_explanation: z.string(),
  fix_type: z.enum(['SYSTEM_PROMPT_FIX', 'TOOL_DESCRIPTION_FIX', 'OTHERS']),
  fix_recommendation: z.string(),
  source: sourceSchema,
});
export type RootCause = z.infer<typeof rootCauseSchema>;

const stepRefSchema = z.object({
  spanId: z.string(),
  /** Step.position: raw message position where the format has one, else step index; 0-based. */
  position: z.number().int().nonnegative(),
  agent: z.string().nullable(),
  category: z.enum(CRITICAL_CATEGORIES),
  confidence: z.number().min(0).max(1),
});

export const criticalStepSchema = stepRefSchema.extend({
  reason: z.string(),
  evidence: z.array(evidenceSchema),
  alternatives: z.array(stepRefSchema).max(3),
  /** Share of votes that named this step, 0–1; `null` for a single vote. */
  agreement: z.number().min(0).max(1).nullable(),
  /** `model` judged it, or the model-free priority over checks did. */
  judgedBy: z.enum(['model', 'checks', 'reference']),
});
export type CriticalStep = z.infer<typeof criticalStepSchema>;

export const validationEntrySchema = z.object({
  /** Constraint name. */
  constraint: z.string(),
  origin: z.enum(['built-in', 'user', 'global', 'dynamic', 'semantic']),
  spanId: z.string(),
  position: z.number().int().nonnegative(),
  verdict: z.enum(['violated', 'satisfied', 'unclear', 'not-evaluated', 'not-applicable', 'error']),
  reason: z.string(),
  severity: z.enum(['low', 'medium', 'high']),
  evidence: z.array(evidenceSchema),
  /** Share of healthy sessions on which the constraint fires, where known. */
  healthyFiringRate: z.number().min(0).max(1).nullable(),
});
export type ValidationEntry = z.infer<typeof validationEntrySchema>;

export const checkFindingSchema = z.object({
  checkId: z.string(),
  spanId: z.string(),
  category: z.string(),
  confidence: z.number(),
  summary: z.string(),
  evidence: z.array(evidenceSchema),
  weight: z.enum(['failure', 'evidence']),
  recovered: z.boolean().nullable(),
  criticalCategory: z.enum(CRITICAL_CATEGORIES).nullable(),
});

export const checkReportSchema = z.object({
  checkId: z.string(),
  state: z.enum(['ran', 'blind']),
  reason: z.string().nullable(),
  findings: z.array(checkFindingSchema),
});

export const quarantinedSchema = z.object({
  stage: z.enum(['read', 'analyze-chunks', 'root-cause', 'judge', 'constraints']),
  reason: z.string(),
  /** What was said, cut to 2,000 characters with a mark. */
  content: z.string(),
});
export type Quarantined = z.infer<typeof quarantinedSchema>;

export const coverageSchema = z.object({
  spansTotal: z.number().int().nonnegative(),
  /** Spans that a model saw whole or in all parts. */
  spansAnalysed: z.number().int().nonnegative(),
  tokensTotal: z.number().int().nonnegative(),
  tokensAnalysed: z.number().int().nonnegative(),
  /** Each part left out, and each kind of thing not looked for. Empty means everything was looked at. */
  gaps: z.array(
    z.object({
      what: z.string(),
      reason: z.string(),
      spanIds: z.array(z.string()),
    }),
  ),
});
export type Coverage = z.infer<typeof coverageSchema>;

export const usageSchema = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
  costUsd: z.number().nullable(),
  calls: z.number(),
});

export const provenanceSchema = z.object({
  rootspanVersion: z.string(),
  model: z.string(),
  depth: z.enum(DEPTHS),
  confidenceThreshold: z.number(),
  taxonomyVersion: z.string(),
  /** SHA-256 of the normal-form session. */
  sessionHash: z.string(),
  chunkPlan: z.object({
    mode: z.enum(['direct', 'chunked']),
    chunks: z.number().int(),
    settings: z.record(z.string(), z.number()),
  }),
  /** One line a model call. */
  calls: z.array(
    z.object({
      purpose: z.string(),
      promptVersion: z.string(),
      requestHash: z.string(),
      model: z.string(),
      outputMode: z.string(),
      cached: z.boolean(),
      durationMs: z.number(),
      usage: usageSchema,
    }),
  ),
});

export const diagnosisSchema = z.object({
  schemaVersion: z.literal(DIAGNOSIS_SCHEMA_VERSION),
  sessionId: z.string().min(1),
  /** 1-based; given by the store. 0 before it is stored. */
  version: z.number().int().nonnegative(),
  /** Hash of session content and of everything that decides the result; equal inputs have equal ids. */
  diagnosisId: z.string(),
  createdAt: z.string(),
  format: z.string(),
  goal: z.string().nullable(),
  agent: z.string().nullable(),
  service: z.string().nullable(),
  startedAt: z.string().nullable(),
  endedAt: z.string().nullable(),
  outcome: z.enum(OUTCOMES),
  /** Why it is PARTIAL or NOT_ANALYSED, machine-readable word first (`budget`, `no-model`, `no-content`, …); `null` otherwise. */
  outcomeReason: z.string().nullable(),
  coverage: coverageSchema,
  failures: z.array(failureSchema),
  rootCauses: z.array(rootCauseSchema),
  criticalStep: criticalStepSchema.nullable(),
  validationLog: z.array(validationEntrySchema),
  checks: z.array(checkReportSchema),
  quarantined: z.array(quarantinedSchema),
  completionStatus: z.enum(['COMPLETE_SUCCESS', 'PARTIAL_SUCCESS', 'COMPLETE_FAILURE', 'UNKNOWN']),
  /** Each recommendation once, with the failures it answers. */
  recommendations: z.array(
    z.object({ fixType: z.string(), text: z.string(), failureSpanIds: z.array(z.string()) }),
  ),
  provenance: provenanceSchema,
  usage: usageSchema.extend({
    durationMs: z.number(),
    byStage: z.record(z.string(), usageSchema),
  }),
  /** Stable across sessions for the same fault (agent, category, tool, error shape), for issues over time. */
  fingerprints: z.array(z.string()),
  /** What a reader needs of the spans named in this diagnosis, in step order, so that reports need no session. */
  spans: z.array(
    z.object({
      spanId: z.string(),
      position: z.number().int(),
      kind: z.string(),
      name: z.string(),
      agent: z.string().nullable(),
      excerpt: z.string(),
    }),
  ),
});
export type Diagnosis = z.infer<typeof diagnosisSchema>;
export type Outcome = Diagnosis['outcome'];
