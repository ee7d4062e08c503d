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
