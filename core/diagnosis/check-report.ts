import type { CriticalCategory } from '../vocabulary/critical-categories.ts';
import type { CategoryId } from '../vocabulary/taxonomy.ts';

export interface Evidence {
  readonly spanId: string;
  /** Verbatim text of the session, at most 300 characters. */
  readonly quote: string;
  /** What the quote shows, in our words. */
  readonly note: string;
}

export interface CheckFinding {
  readonly checkId: string;
  readonly spanId: string;
  readonly category: CategoryId;
  /** 0.5 low, 0.75 medium, 0.9 high. */
  readonly confidence: number;
  readonly summary: string;
  readonly evidence: readonly Evidence[];
  /**
   * `failure`: precise enough to stand in the diagnosis by itself. `evidence`: fires on healthy runs too often
   * for that, so it only informs the judge.
   */
  readonly weight: 'failure' | 'evidence';
  /** Whether the session got past it; `null` when that cannot be told. */
  readonly recovered: boolean | null;
  /** The span that put it right, where the check knows it. */
  readonly recoveredBy?: string;
  /** What the finding means for the critical-step judge, where that is decided by the kind of fault. */
  readonly criticalCategory: CriticalCategory | null;
}

export interface CheckReport {
  readonly checkId: string;
  readonly state: 'ran' | 'blind';
  readonly reason: string | null;
  readonly findings: readonly CheckFinding[];
}
