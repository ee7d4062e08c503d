import * as z from 'zod';
import { PROTOCOLS } from '../diagnosis/protocols.ts';
import { COVERAGE_STATES, DEPTHS, OUTCOMES } from '../diagnosis/schema.ts';

/**
 * What moves between the states: names, keys, numbers. Values go through the object store
 * (core/ports/object-keys.ts), so that the state stays small whatever the session's size.
 */

/**
 * Chunks of one execution, which may have 25,000 history events and at their end is cut off without its failure
 * path. An item of an inline Map makes 7 events when all goes well and 3 more a retry; every kind of error has
 * retries of its own, 21 in all, and when they are used up 8 more may go into writing that down: 99 events.
 * 240 × 99 = 23,760, and the other states make 301 (held by a test over the synthesised definition).
 */
export const MAX_CHUNKS = 240;

/** A session's own settings; what is absent is the stack's or the code's default. */
export const workflowOptionsSchema = z.strictObject({
  depth: z.enum(DEPTHS).optional(),
  confidence: z.enum(['low', 'medium', 'high']).optional(),
  votes: z.number().int().min(1).max(9).optional(),
  assumeFailed: z.boolean().optional(),
  deepRule: z.enum(['always', 'on-findings']).optional(),
  synthesis: z.enum(['one-shot', 'step-by-step']).optional(),
  protocol: z.enum(PROTOCOLS).optional(),
  guidelines: z.string().max(20_000).optional(),
});
export type WorkflowOptions = z.infer<typeof workflowOptionsSchema>;

/** Input of an execution. Its name derives from session id and content hash (close-session). */
export const workflowInputSchema = z.object({
  sessionId: z.string().min(1),
  /** Key of the frozen session in the object store. */
  sessionKey: z.string().min(1),
  /** Model spec; the stack's default when absent. */
  model: z.string().min(1).optional(),
  options: workflowOptionsSchema.optional(),
  /** Closing number of the session (core/ports/ingest-ports.ts): orders its diagnoses. Absent when started by hand. */
  closing: z.number().int().positive().optional(),
});
export type WorkflowInput = z.infer<typeof workflowInputSchema>;

const executionName = z.string().min(1).max(80);

export const preflightEventSchema = z.object({ executionName, input: workflowInputSchema });

export interface PreflightResult {
  readonly sessionId: string;
  /** Indexes of the chunks to analyse; empty when no model is to be asked. */
  readonly chunks: readonly number[];
}

export const analyzeChunkEventSchema = z.object({
  executionName,
  index: z.number().int().nonnegative(),
});

export interface AnalyzeChunkResult {
  readonly index: number;
  readonly state: 'analyzed' | 'not_analyzed';
}

export const mergeEventSchema = z.object({ executionName });

export interface MergeResult {
  readonly failures: number;
}

export interface ConstraintsResult {
  readonly violated: number;
}

/** Output of a successful execution. */
export const workflowResultSchema = z.object({
  sessionId: z.string(),
  version: z.number().int(),
  diagnosisId: z.string(),
  outcome: z.enum(OUTCOMES),
  coverage: z.enum(COVERAGE_STATES),
  created: z.boolean(),
});
export type WorkflowResult = z.infer<typeof workflowResultSchema>;

/** What a `Catch` hands on: `Cause` is JSON text for a Lambda's error, plain text for Step Functions' own. */
export const caughtSchema = z.object({ Error: z.string(), Cause: z.string().optional() });

/** Constraints and RootCause. With `error`: the model could not be asked, so the step does without it and says why. */
export const modelStepEventSchema = z.object({
  executionName,
  /** For RootCause, which stores the diagnosis in the order of closings. */
  input: workflowInputSchema.optional(),
  error: caughtSchema.optional(),
});

const lambdaCauseSchema = z.object({ errorMessage: z.string() });

/** The message of a caught error, whoever threw it. */
export function messageOfCaught(caught: z.infer<typeof caughtSchema>): string {
  const cause = caught.Cause ?? '';
  try {
    const parsed = lambdaCauseSchema.safeParse(JSON.parse(cause));
    return parsed.success ? parsed.data.errorMessage : cause;
  } catch {
    return cause;
  }
}

export const recordFailureEventSchema = z.discriminatedUnion('what', [
  z.object({
    what: z.literal('chunk'),
    executionName,
    index: z.number().int().nonnegative(),
    error: caughtSchema,
  }),
  /** `input` is taken as it is: a malformed one may be the very fault. */
  z.object({ what: z.literal('execution'), executionName, input: z.unknown(), error: caughtSchema }),
]);
