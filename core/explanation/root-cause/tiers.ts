import type { Trajectory } from '../../trajectory/trajectory.ts';
import { ancestorsOf } from './span-order.ts';

/** Descendants kept of each failing span (Strands Evals root-cause analyser: 10). */
const MOST_DESCENDANTS = 10;
/**
 * Steps kept before each failing span. Ours: message-list formats have no tree, so that ancestors and descendants
 * alone would leave nothing but the failing messages.
 */
const STEPS_BEFORE = 8;
/** Least spans of a window; otherwise a third of the session (Strands Evals: max(5, n/3)). */
const LEAST_WINDOW = 5;

/**
 * Step indices for the second tier: the spans named, their ancestors, up to ten descendants of each, and what came
 * right before. `null` when none of the ids is a span of the session: there is nothing to prune to.
 */
export function pruneTo(trajectory: Trajectory, spanIds: readonly string[]): readonly number[] | null {
  const children = new Map<string, number[]>();
  for (const step of trajectory.steps) {
    const parent = step.span.parentSpanId;
    if (parent === null) continue;
    const list = children.get(parent) ?? [];
    list.push(step.index);
    children.set(parent, list);
  }
  const keep = new Set<number>();
  for (const spanId of spanIds) {
    const step = trajectory.stepBySpan.get(spanId);
    if (step === undefined) continue;
    for (let i = Math.max(0, step.index - STEPS_BEFORE); i <= step.index; i++) keep.add(i);
    for (const ancestor of ancestorsOf(trajectory, spanId)) {
      const index = trajectory.stepBySpan.get(ancestor)?.index;
      if (index !== undefined) keep.add(index);
    }
    for (const index of descendants(trajectory, spanId, children)) keep.add(index);
  }
  return keep.size === 0 ? null : [...keep].sort((a, b) => a - b);
}

/** Breadth first, so that the nearest ones are kept. */
function descendants(
  trajectory: Trajectory,
  spanId: string,
  children: ReadonlyMap<string, readonly number[]>,
): readonly number[] {
  const found: number[] = [];
  const seen = new Set([spanId]);
  let level = [spanId];
  while (level.length > 0 && found.length < MOST_DESCENDANTS) {
    const next: string[] = [];
    for (const index of level.flatMap((id) => children.get(id) ?? [])) {
      const id = trajectory.steps[index]?.spanId;
      if (id === undefined || seen.has(id) || found.length >= MOST_DESCENDANTS) continue;
      seen.add(id);
      found.push(index);
      next.push(id);
    }
    level = next;
  }
  return found;
}

/** Step indices of the third tier's windows: consecutive, together all steps, each of max(5, n/3). */
export function windowsOf(trajectory: Trajectory): readonly (readonly number[])[] {
  const size = Math.max(LEAST_WINDOW, Math.ceil(trajectory.steps.length / 3));
  const windows: number[][] = [];
  for (let from = 0; from < trajectory.steps.length; from += size) {
    windows.push(trajectory.steps.slice(from, from + size).map(({ index }) => index));
  }
  return windows;
}
