import type { Trajectory } from '../../trajectory/trajectory.ts';

/** Ids of the span's ancestors, nearest first. Stops at a missing parent and at a cycle. */
export function ancestorsOf(trajectory: Trajectory, spanId: string): string[] {
  const found: string[] = [];
  const seen = new Set([spanId]);
  let parent = trajectory.stepBySpan.get(spanId)?.span.parentSpanId ?? null;
  while (parent !== null && !seen.has(parent)) {
    const step = trajectory.stepBySpan.get(parent);
    if (step === undefined) break;
    seen.add(parent);
    found.push(parent);
    parent = step.span.parentSpanId;
  }
  return found;
}

/**
 * Whether the cause can have led to the effect: it comes earlier, is the same span, or happened inside it (an agent
 * span stands before its children and fails because of them).
 */
export function canCause(trajectory: Trajectory, cause: string, effect: string): boolean {
  if (cause === effect) return true;
  const from = trajectory.stepBySpan.get(cause);
  const to = trajectory.stepBySpan.get(effect);
  if (from === undefined || to === undefined) return false;
  return from.index < to.index || ancestorsOf(trajectory, cause).includes(effect);
}
