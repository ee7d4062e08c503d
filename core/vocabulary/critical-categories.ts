import type { CategoryId } from './taxonomy.ts';

/**
 * The ten categories of a critical step, after the AgentRx paper (arXiv 2602.02475, section on the failure
 * taxonomy). Ids and wording are ours; the conditions are the paper's facts.
 */
export const CRITICAL_CATEGORIES = [
  'plan-adherence',
  'invention',
  'invalid-invocation',
  'misinterpretation',
  'intent-plan-misalignment',
  'underspecified-intent',
  'unsupported-intent',
  'guardrail',
  'system-failure',
  'inconclusive',
] as const;

export type CriticalCategory = (typeof CRITICAL_CATEGORIES)[number];

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
