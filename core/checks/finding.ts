import type { CheckFinding, Evidence } from '../diagnosis/check-report.ts';
import type { CategoryId } from '../vocabulary/taxonomy.ts';

interface Told {
  readonly checkId: string;
  readonly spanId: string;
  readonly category: CategoryId;
  readonly summary: string;
  readonly evidence: readonly Evidence[];
}

/** A finding: evidence of low confidence and unknown recovery, but for what is said otherwise. */
export function finding(told: Told, rest: Partial<Omit<CheckFinding, keyof Told>> = {}): CheckFinding {
  return { confidence: 0.5, weight: 'evidence', recovered: null, criticalCategory: null, ...told, ...rest };
}
