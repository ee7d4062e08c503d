import type { DiagnosisSummary } from '../../core/diagnosis/summary.ts';

/** What the page over many sessions shows, as plain JSON: the diagnoses; it counts them itself, by what the reader chooses. */
export interface FleetView {
  /** ISO time; `null` when nothing bounds it. */
  readonly since: string | null;
  readonly madeAt: string;
  /** Newest first; a session once, by its newest diagnosis. */
  readonly sessions: readonly DiagnosisSummary[];
  /** Whether there were more than the page holds. */
  readonly more: boolean;
}

export function fleetView(
  items: readonly DiagnosisSummary[],
  about: Pick<FleetView, 'since' | 'madeAt' | 'more'>,
): FleetView {
  return { ...about, sessions: items.filter(({ superseded }) => !superseded) };
}
