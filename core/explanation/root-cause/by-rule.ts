import type { CriticalStep, Failure, RootCause } from '../../diagnosis/schema.ts';
import { blamesCallerByCategory } from '../../trajectory/classify-error.ts';
import type { Trajectory } from '../../trajectory/trajectory.ts';
import { fixFor } from './fix-for.ts';
import { canCause } from './span-order.ts';

const EXPLICIT = /^execution-error-/u;

/** What the record itself proves to stand behind a failure. */
export interface Link {
  /** The failure that led to this one. */
  readonly cause: Failure;
  readonly text: string;
}

/**
 * Failures that an earlier one explains without any judgement: the refusal of a call that was wrong as it was made,
 * and the same fault met again. Of a chain only the first link is named, so that a cause is never itself an effect.
 */
export function linkFailures(
  failures: readonly Failure[],
  trajectory: Trajectory,
): ReadonlyMap<string, Link> {
  const links = new Map<string, Link>();
  const bySpan = new Map(failures.map((failure) => [failure.span_id, failure]));
  const firstOfKind = new Map<string, Failure>();
  const callOf = new Map(
    trajectory.exchanges.flatMap(({ callStep, resultStep }) =>
      resultStep === null || resultStep === callStep ? [] : [[resultStep, callStep] as const],
    ),
  );
  const position = (spanId: string): string => `step ${trajectory.stepBySpan.get(spanId)?.position ?? '?'}`;
  for (const failure of failures) {
    const step = trajectory.stepBySpan.get(failure.span_id);
    const call = step === undefined ? undefined : trajectory.steps[callOf.get(step.index) ?? -1];
    const caller = call === undefined ? undefined : bySpan.get(call.spanId);
    // A check's words carry what it quotes; a model may say the same of different things.
    const kind =
      failure.source[0]?.kind === 'check'
        ? JSON.stringify([failure.category[0], failure.evidence[0]])
        : failure.span_id;
    const first = firstOfKind.get(kind);
    if (first !== undefined && canCause(trajectory, first.span_id, failure.span_id)) {
      const root = links.get(first.span_id)?.cause ?? first;
      links.set(failure.span_id, {
        cause: root,
        text: `The same fault as at ${position(first.span_id)}, met again.`,
      });
      continue;
    }
    firstOfKind.set(kind, failure);
    if (
      caller !== undefined &&
      !links.has(caller.span_id) &&
      failure.category.some(blamesCallerByCategory) &&
      canCause(trajectory, caller.span_id, failure.span_id)
    ) {
      links.set(failure.span_id, {
        cause: caller,
        text: `The answer to the call at ${position(caller.span_id)}, which was wrong as it was made.`,
      });
    }
  }
  return links;
}

/**
 * A root cause by rule, for a failure that no model explained. It claims nothing that was not looked at: the
 * location is the failing span itself, or the failure that `link` proves to stand behind it; causality and impact
 * are UNCLEAR unless that or the critical step decides them; and the text says that no model looked. The remedy is
 * the usual one for what the surest finding found, with what it is to change.
 */
export function rootCauseByRule(
  failure: Failure,
  critical: CriticalStep | null,
  why: string,
  trajectory: Trajectory,
  link?: Link,
): RootCause {
  const isCritical = critical?.spanId === failure.span_id;
  const linked = isCritical ? undefined : link;
  const fix = fixFor(linked?.cause ?? failure, trajectory);
  return {
    failure_span_id: failure.span_id,
    location: linked?.cause.span_id ?? failure.span_id,
    causality: isCritical ? 'PRIMARY_FAILURE' : linked === undefined ? 'UNCLEAR' : 'SECONDARY_FAILURE',
    propagation_impact: ['UNCLEAR'],
    failure_detection_timing: failure.category.some((id) => EXPLICIT.test(id))
      ? 'IMMEDIATELY_AT_OCCURRENCE'
      : 'SILENT_UNDETECTED',
    completion_status: critical === null ? 'PARTIAL_SUCCESS' : 'COMPLETE_FAILURE',
    root_cause_explanation: isCritical ? `${critical.reason} ${why}` : (linked?.text ?? why),
    fix_type: fix.fixType,
    fix_recommendation: fix.text,
    source: failure.source.find(({ kind }) => kind !== 'model') ?? { kind: 'check', ref: 'no-root-cause' },
  };
}

export const NO_MODEL_LOOKED = 'No model looked for the cause; it is taken to lie where the failure shows.';
export const MODEL_GAVE_NONE =
  'The model gave no cause for this failure; it is taken to lie where the failure shows.';
