import * as z from 'zod';
import { CRITICAL_CATEGORIES } from '../vocabulary/critical-categories.ts';
import { feedbackSchema, suppressedSchema } from './feedback.ts';

/** Raised when a stored diagnosis of the old shape can no longer be read as the new one; `migrate.ts` reads older ones. */
export const DIAGNOSIS_SCHEMA_VERSION = 2;

/**
 * How the session went, best known worst first. FAILED: a failure that nothing put right cost the goal, in whole or
 * part. UNKNOWN: no such failure is known, and not everything was looked at. FLAWED: failures, all put right or
 * harmless. CLEAN: no failure. FLAWED and CLEAN need complete coverage.
 */
export const OUTCOMES = ['FAILED', 'UNKNOWN', 'FLAWED', 'CLEAN'] as const;
/** COMPLETE: a model saw every span and nothing was left out. NONE: nothing of what was asked for could be looked at. */
export const COVERAGE_STATES = ['COMPLETE', 'PARTIAL', 'NONE'] as const;
export const DEPTHS = ['checks', 'standard', 'deep'] as const;
export type Depth = (typeof DEPTHS)[number];

const evidenceSchema = z.object({ spanId: z.string(), quote: z.string(), note: z.string() });

/** Who found it. A model's provenance stands in `provenance.calls` under the request hash. */
const sourceSchema = z.object({
  kind: z.enum(['model', 'check', 'constraint', 'user']),
  /** Check or constraint id; for a model the request hash. */
  ref: z.string(),
});

export const RECOVERED = ['yes', 'no', 'unknown'] as const;
/** What a failure did to the goal, worst first. */
export const EFFECTS = ['goal-lost', 'degraded', 'unknown', 'none'] as const;

/** Strands' `FailureItem`: three lists aligned by index; `source` is our addition, aligned too. */
export const failureSchema = z.object({
  span_id: z.string(),
  category: z.array(z.string()).min(1),
  confidence: z.array(z.number()).min(1),
  evidence: z.array(z.string()).min(1),
  source: z.array(sourceSchema).min(1),
  /** Whether a later step put it right. */
  recovered: z.enum(RECOVERED),
  /** The span that did, where it is known. */
  recoveredBy: z.string().nullable(),
  effect: z.enum(EFFECTS),
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

/** One request of the user and what was done for it (core/trajectory/turns.ts says where one begins). */
export const turnSchema = z.object({
  /** 0-based. */
  index: z.number().int().nonnegative(),
  firstSpanId: z.string(),
  lastSpanId: z.string(),
  spanIds: z.array(z.string()).min(1),
  /** The user's request; `null` where none is recorded. */
  goal: z.string().nullable(),
  outcome: z.enum(OUTCOMES),
  criticalStep: criticalStepSchema.nullable(),
});
export type TurnDiagnosis = z.infer<typeof turnSchema>;

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
  recoveredBy: z.string().optional(),
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
  state: z.enum(COVERAGE_STATES),
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
/** Coverage before its state is decided, which the whole of it does (core/report-build/outcome.ts). */
export type Looked = Omit<Coverage, 'state'>;

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

/** One category of one failure with its identity across sessions (core/report-build/fingerprint.ts). */
export const faultSchema = z.object({
  spanId: z.string(),
  category: z.string(),
  agent: z.string().nullable(),
  /** `tool <name>`, `prompt: <first line of the section>` or `constraint <name>`; `null` where nothing of it is known. */
  place: z.string().nullable(),
  /** The stated error without ids, numbers and values; empty where none is stated. */
  cause: z.string(),
  /** Stems of the words in `cause` that tell it from others, sorted. */
  words: z.array(z.string()),
  /** Hash of agent, category and place. */
  site: z.string(),
  /** Hash of site and words. */
  fingerprint: z.string(),
});
export type Fault = z.infer<typeof faultSchema>;

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
  /** Version of the agent's code, where its producer names it. */
  release: z.string().nullable().default(null),
  startedAt: z.string().nullable(),
  endedAt: z.string().nullable(),
  outcome: z.enum(OUTCOMES),
  /**
   * Why the outcome is UNKNOWN, or what is missing of the coverage, machine-readable word first (`budget`, `no-model`,
   * `no-content`, …); `null` when nothing is missing.
   */
  outcomeReason: z.string().nullable(),
  coverage: coverageSchema,
  /** By effect, the worst first; then in the order of the session. */
  failures: z.array(failureSchema),
  rootCauses: z.array(rootCauseSchema),
  /** That of the first turn that failed. */
  criticalStep: criticalStepSchema.nullable(),
  /** The requests of the session in order; empty only for a diagnosis that was stored before turns were told apart. */
  turns: z.array(turnSchema),
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
  /** What was found, as it is counted across sessions; empty for a diagnosis stored before issues were kept. */
  faults: z.array(faultSchema).default([]),
  /** Those of the faults, each once. */
  fingerprints: z.array(z.string()),
  /** Findings that were left out because people rejected them before. */
  suppressed: z.array(suppressedSchema).default([]),
  /** What people said of the failures of this session; put in by the store when it is read. */
  feedback: z.array(feedbackSchema).default([]),
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
export type CoverageState = Coverage['state'];
