import type { CriticalStep, Failure, RootCause } from '../diagnosis/schema.ts';
import { usualFix } from './fixes.ts';

const EXPLICIT = /^execution-error-/u;

/**
 * A root cause by rule, for a failure that no model explained. It claims nothing that was not looked at: the
 * location is the failing span itself, causality and impact are UNCLEAR unless the critical step decides them, and
 * the text says that it was set by rule. The remedy is the usual one for the surest category.
 */
export function rootCauseByRule(failure: Failure, critical: CriticalStep | null, why: string): RootCause {
  const isCritical = critical?.spanId === failure.span_id;
  const category = failure.category[0];
  const fix = usualFix(category);
  const found = failure.evidence.map((text, i) => `${failure.category[i] ?? 'other'}: ${text}`).join('; ');
  return {
    failure_span_id: failure.span_id,
    location: failure.span_id,
    causality: isCritical ? 'PRIMARY_FAILURE' : 'UNCLEAR',
    propagation_impact: ['UNCLEAR'],
    failure_detection_timing: failure.category.some((id) => EXPLICIT.test(id))
      ? 'IMMEDIATELY_AT_OCCURRENCE'
      : 'SILENT_UNDETECTED',
    completion_status: critical === null ? 'PARTIAL_SUCCESS' : 'COMPLETE_FAILURE',
    root_cause_explanation: `${why} What was found: ${found}.${isCritical ? ' It is the critical step of this session.' : ''}`,
    fix_type: fix.fixType,
    fix_recommendation: fix.text,
    source: failure.source.find(({ kind }) => kind !== 'model') ?? { kind: 'check', ref: 'no-root-cause' },
  };
}

export const NO_MODEL_LOOKED = 'No model looked for the cause; it is taken to lie where the failure shows.';
export const MODEL_GAVE_NONE =
  'The model gave no cause for this failure; it is taken to lie where the failure shows.';
