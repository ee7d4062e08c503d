import type { CallRecord } from '../model/call-record.ts';
import type { Model, ModelLimits } from '../model/port.ts';
import type { ChunkPlan } from '../planning/plan.ts';
import type { TokenCounter } from '../planning/tokens/counter.ts';
import type { Session } from '../session/session.ts';
import type { CheckReport } from './check-report.ts';
import type { DiagnosisOptions } from './options.ts';
import type { Coverage, Diagnosis, Failure, Looked, Quarantined, ValidationEntry } from './schema.ts';

/**
 * The stages of a diagnosis as pure functions over these values. `core/stages/pipeline.ts` composes them in process; the
 * Lambda handlers call the same functions and carry the values through S3, so every one of them is plain JSON.
 */

/** Result of Preflight. */
export interface Prepared {
  readonly session: Session;
  /** SHA-256 hex of the canonical normal form. */
  readonly sessionHash: string;
  readonly options: DiagnosisOptions;
  readonly modelSpec: string;
  readonly checks: readonly CheckReport[];
  readonly plan: ChunkPlan;
  /** Set when no model must be asked at all: no content, no model, depth `checks`, budget. First word machine-readable. */
  readonly notAnalysed: string | null;
}

/** Result of one AnalyzeChunk. Never a silent nothing: `analyzed`, or `not_analyzed` with a reason and the spans concerned. */
export interface ChunkResult {
  readonly index: number;
  readonly state: 'analyzed' | 'not_analyzed';
  readonly reason: string | null;
  readonly failures: readonly Failure[];
  readonly quarantined: readonly Quarantined[];
  /** Spans (whole or last part) this chunk really looked at, after splits. */
  readonly spanIdsSeen: readonly string[];
  readonly gaps: Coverage['gaps'];
  readonly calls: readonly CallRecord[];
}

/** Result of Merge. */
export interface Merged {
  readonly failures: readonly Failure[];
  readonly quarantined: readonly Quarantined[];
  readonly coverage: Looked;
  readonly calls: readonly CallRecord[];
}

/** Result of Constraints. */
export interface Constrained {
  /** In the order of the steps; what was not evaluated stands in it with the reason. */
  readonly validationLog: readonly ValidationEntry[];
  readonly quarantined: readonly Quarantined[];
  readonly gaps: Coverage['gaps'];
  readonly calls: readonly CallRecord[];
}

export interface PreflightDeps {
  readonly counter: TokenCounter;
  readonly limits: ModelLimits;
  readonly modelSpec: string;
}

/** Signatures that `core/stages/pipeline.ts` exports. */
export type Preflight = (session: Session, options: DiagnosisOptions, deps: PreflightDeps) => Prepared;
export type AnalyzeChunk = (
  prepared: Prepared,
  index: number,
  model: Model,
  counter: TokenCounter,
) => Promise<ChunkResult>;
/**
 * `merged` is null when constraints are asked beside detection; then depth by rule cannot look at its failures.
 */
export type EvaluateConstraints = (
  prepared: Prepared,
  merged: Merged | null,
  model: Model,
  deps: ConstraintsDeps,
) => Promise<Constrained>;
export interface ConstraintsDeps {
  readonly counter: TokenCounter;
  /** Sessions known to be good, to weigh constraints by; may be empty. */
  readonly healthy?: readonly { readonly session: Session; readonly outcome: 'healthy' }[];
}
export type MergeChunks = (prepared: Prepared, results: readonly ChunkResult[]) => Merged;
export type FindRootCauses = (
  prepared: Prepared,
  merged: Merged,
  validationLog: readonly ValidationEntry[],
  model: Model,
  deps: { readonly counter: TokenCounter; readonly nowIso: string },
) => Promise<Diagnosis>;
