import type { CheckReport } from '../checks/check.ts';
import type { ChunkPlan } from '../chunking/plan.ts';
import type { DiagnosisOptions } from '../diagnosis/options.ts';
import type { Coverage, Diagnosis, Failure, Quarantined, ValidationEntry } from '../diagnosis/schema.ts';
import type { Model, ModelLimits, Usage } from '../model/port.ts';
import type { Session } from '../session/model.ts';
import type { TokenCounter } from '../tokens/counter.ts';

/**
 * The stages of a diagnosis as pure functions over these values. `core/pipeline.ts` composes them in process; the
 * Lambda handlers call the same functions and carry the values through S3, so every one of them is plain JSON.
 */

/** One model call, for provenance and the bill. */
export interface CallRecord {
  readonly purpose: string;
  readonly promptVersion: string;
  readonly requestHash: string;
  readonly model: string;
  readonly rung: string;
  readonly cached: boolean;
  readonly durationMs: number;
  readonly usage: Usage;
}

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
  readonly coverage: Coverage;
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

export interface PrepareDeps {
  readonly counter: TokenCounter;
  readonly limits: ModelLimits;
  readonly modelSpec: string;
}

/** Signatures that `core/pipeline.ts` exports. */
export type Prepare = (session: Session, options: DiagnosisOptions, deps: PrepareDeps) => Prepared;
export type AnalyzeChunk = (
  prepared: Prepared,
  index: number,
  model: Model,
  counter: TokenCounter,
) => Promise<ChunkResult>;
/**
 * `merged` is null when constraints are asked beside detection; then depth by rule cannot look at its failures.
 */
export type Constrain = (
  prepared: Prepared,
  merged: Merged | null,
  model: Model,
  deps: ConstrainDeps,
) => Promise<Constrained>;
export interface ConstrainDeps {
  readonly counter: TokenCounter;
  /** Sessions known to be good, to weigh constraints by; may be empty. */
  readonly healthy?: readonly { readonly session: Session; readonly outcome: 'healthy' }[];
}
export type MergeChunks = (prepared: Prepared, results: readonly ChunkResult[]) => Merged;
export type Explain = (
  prepared: Prepared,
  merged: Merged,
  validationLog: readonly ValidationEntry[],
  model: Model,
  deps: { readonly counter: TokenCounter; readonly nowIso: string },
) => Promise<Diagnosis>;
