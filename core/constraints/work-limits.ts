/**
 * Units of work (`core/cel/meter.ts`): an item is one guard or assertion at one place; a constraint is all its items in
 * one session; a session is all constraints together (10 million units: about a second at worst).
 */
export const WORK_LIMITS = { item: 200_000, constraint: 2_000_000, session: 10_000_000 } as const;
