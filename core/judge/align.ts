import type { CategoryDefinition, CategoryId } from '../detection/taxonomy.ts';
import { quarantine } from '../diagnosis/quarantine.ts';
import type { CriticalStep, Failure, Quarantined, RootCause } from '../diagnosis/schema.ts';
import type { CriticalCategory } from './categories.ts';

/** The failure category that says about the same as a critical category, for a step that detection had not listed. */
const AS_FAILURE: Readonly<Record<CriticalCategory, CategoryId>> = {
  'plan-adherence': 'task-instruction-category-non-compliance',
  invention: 'hallucination-category-hall-params',
  'invalid-invocation': 'execution-error-category-tool-schema',
  misinterpretation: 'hallucination-category-hall-misunderstand',
  'intent-plan-misalignment': 'orchestration-related-errors-category-goal-deviation',
  'underspecified-intent': 'incorrect-actions-category-clarification',
  'unsupported-intent': 'hallucination-category-hall-capabilities',
  guardrail: 'execution-error-category-authentication',
  'system-failure': 'execution-error-category-service-errors',
  inconclusive: 'other',
};

export const failureCategoryOf = (category: CriticalCategory): CategoryId => AS_FAILURE[category];

/**
 * The critical step is a failure by definition. When detection had not listed it, it is added, so that the
 * diagnosis never says "no failure" and names a critical step in one breath. `null` when it is there already.
 */
export function failureOfCriticalStep(
  critical: CriticalStep,
  failures: readonly Failure[],
  taxonomy: readonly CategoryDefinition[],
  source: Failure['source'][number],
): Failure | null {
  if (failures.some(({ span_id }) => span_id === critical.spanId)) return null;
  const meant = AS_FAILURE[critical.category];
  return {
    span_id: critical.spanId,
    category: [taxonomy.some(({ id }) => id === meant) ? meant : 'other'],
    confidence: [critical.confidence],
    evidence: [critical.reason],
    source: [source],
  };
}

/** The failure at the critical step set things going: its root cause is PRIMARY, whatever was said. */
export function makePrimary(
  rootCauses: readonly RootCause[],
  critical: CriticalStep | null,
): { readonly rootCauses: readonly RootCause[]; readonly quarantined: readonly Quarantined[] } {
  const quarantined: Quarantined[] = [];
  const aligned = rootCauses.map((cause) => {
    if (cause.failure_span_id !== critical?.spanId || cause.causality === 'PRIMARY_FAILURE') return cause;
    quarantined.push(
      quarantine(
        'root-cause',
        `causality ${cause.causality} of the critical step read as PRIMARY_FAILURE`,
        cause.root_cause_explanation,
      ),
    );
    return { ...cause, causality: 'PRIMARY_FAILURE' as const };
  });
  return { rootCauses: aligned, quarantined };
}
