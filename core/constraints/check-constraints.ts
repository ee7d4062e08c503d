import { Meter } from '../cel/meter.ts';
import type { Session } from '../session/session.ts';
import { toTrajectory } from '../trajectory/to-trajectory.ts';
import type { CompiledConstraint } from './compile.ts';
import { exampleTrajectory } from './example-session.ts';
import { type ConstraintSet, readConstraintFile } from './read-constraints.ts';
import { type ConstraintTally, runConstraints } from './run.ts';
import { WORK_LIMITS } from './work-limits.ts';

/** A session to try constraints on, with what is known about how it went. */
export interface TrialSession {
  readonly session: Session;
  readonly outcome: 'healthy' | 'failed' | 'unknown';
}

/** Numbers of sessions, not of places. */
export interface Firing {
  readonly sessions: number;
  readonly applied: number;
  readonly fired: number;
  readonly unclear: number;
}

export interface ConstraintCheck {
  readonly name: string;
  /** `refused`: cannot be asked at all; `doubtful`: see `warnings`; `usable`: nothing against it. */
  readonly state: 'usable' | 'doubtful' | 'refused';
  /** By rubric, whether it fires is for a model to say; here its guard is tried. */
  readonly decidedBy: 'program' | 'model';
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly examples: { readonly total: number; readonly wrong: readonly string[] };
  readonly firing: { readonly [outcome in TrialSession['outcome']]: Firing };
}

/** A constraint firing on more healthy sessions than this is named as an alarm that will not be believed. */
export const ACCEPTABLE_HEALTHY_RATE = 0.1;

/** Reads a constraint file and tries it on its own examples and on sessions. ConfigurationInvalidError if it is no such file. */
export function checkConstraints(
  text: string,
  source: string,
  sessions: readonly TrialSession[],
): readonly ConstraintCheck[] {
  return checkConstraintSet(readConstraintFile(text, source), sessions);
}

export function checkConstraintSet(
  set: ConstraintSet,
  sessions: readonly TrialSession[],
): readonly ConstraintCheck[] {
  const firings = measureFiring(set.accepted, sessions);
  const work = new Meter(WORK_LIMITS.session);
  const checked = set.accepted.map((compiled): ConstraintCheck => {
    const { name } = compiled.constraint;
    const firing = firings.get(name)?.firing ?? noFiring();
    const examples = tryExamples(compiled, work);
    const decidedBy = compiled.assertion === null ? 'model' : 'program';
    const warnings = [
      ...examples.wrong,
      ...(examples.total === 0 && decidedBy === 'program' ? ['it has no examples'] : []),
      ...objections(firing, firings.get(name)?.unclearReason ?? null),
    ];
    return {
      name,
      state: warnings.length === 0 ? 'usable' : 'doubtful',
      decidedBy,
      errors: [],
      warnings,
      examples,
      firing,
    };
  });
  const refused = set.refused.map(
    ({ name, errors }): ConstraintCheck => ({
      name,
      state: 'refused',
      decidedBy: 'program',
      errors,
      warnings: [],
      examples: { total: 0, wrong: [] },
      firing: noFiring(),
    }),
  );
  return [...checked, ...refused];
}

function objections(firing: ConstraintCheck['firing'], unclearReason: string | null): readonly string[] {
  const all = Object.values(firing);
  const total = (of: (firing: Firing) => number): number => all.reduce((sum, firing) => sum + of(firing), 0);
  const sessions = total((firing) => firing.sessions);
  if (sessions === 0) return [];
  const { healthy } = firing;
  const unclear = total((firing) => firing.unclear);
  return [
    ...(total((firing) => firing.applied) === 0
      ? [`its guard was true in none of ${sessions} sessions`]
      : []),
    ...(unclear > 0
      ? [`it could not be decided in ${unclear} of ${sessions} sessions${because(unclearReason)}`]
      : []),
    ...(healthy.fired > healthy.sessions * ACCEPTABLE_HEALTHY_RATE
      ? [`it fires on ${healthy.fired} of ${healthy.sessions} healthy sessions`]
      : []),
  ];
}

const because = (reason: string | null): string => (reason === null ? '' : ` (${reason})`);

export interface MeasuredFiring {
  readonly firing: ConstraintCheck['firing'];
  /** Why it could not be decided, where that happened first. */
  readonly unclearReason: string | null;
}

/** Runs every constraint on every session and counts, by name. */
export function measureFiring(
  constraints: readonly CompiledConstraint[],
  sessions: readonly TrialSession[],
): ReadonlyMap<string, MeasuredFiring> {
  const counts = new Map(
    constraints.map(({ constraint }) => [
      constraint.name,
      { firing: mutableFiring(), unclearReason: null as string | null },
    ]),
  );
  for (const { session, outcome } of sessions) {
    for (const tally of runConstraints(constraints, toTrajectory(session)).tallies) {
      const count = counts.get(tally.name);
      if (count === undefined) continue;
      add(count.firing[outcome], tally);
      count.unclearReason ??= tally.unclearReason;
    }
  }
  return counts;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
const emptyFiring = (): Mutable<Firing> => ({ sessions: 0, applied: 0, fired: 0, unclear: 0 });
const mutableFiring = () => ({ healthy: emptyFiring(), failed: emptyFiring(), unknown: emptyFiring() });
const noFiring = (): ConstraintCheck['firing'] => mutableFiring();

function add(count: Mutable<Firing>, tally: ConstraintTally): void {
  count.sessions += 1;
  if (tally.applied > 0) count.applied += 1;
  if (tally.violated > 0) count.fired += 1;
  if (tally.unclear + tally.skipped > 0) count.unclear += 1;
}

/**
 * A passing example must be reached by the guard and hold; a failing one must be violated (or, by rubric, reached).
 * The examples of all constraints that came together share the work allowed for one session.
 */
export function tryExamples(compiled: CompiledConstraint, work: Meter): ConstraintCheck['examples'] {
  const { pass, fail } = compiled.constraint.examples;
  const byProgram = compiled.assertion !== null;
  const wrong: string[] = [];
  for (const [index, example] of pass.entries()) {
    const found = describe(runOn(compiled, example, work));
    if (found !== (byProgram ? 'satisfied' : 'left to a model'))
      wrong.push(`passing example ${index + 1} is ${found}`);
  }
  for (const [index, example] of fail.entries()) {
    const found = describe(runOn(compiled, example, work));
    if (found !== (byProgram ? 'violated' : 'left to a model'))
      wrong.push(`failing example ${index + 1} is ${found}`);
  }
  return { total: pass.length + fail.length, wrong };
}

function runOn(
  compiled: CompiledConstraint,
  example: Parameters<typeof exampleTrajectory>[0],
  work: Meter,
): ConstraintTally | undefined {
  return runConstraints([compiled], exampleTrajectory(example), work).tallies[0];
}

function describe(tally: ConstraintTally | undefined): string {
  if (tally === undefined) return 'not run';
  if (tally.violated > 0) return 'violated';
  if (tally.unclear > 0) return `unclear${because(tally.unclearReason)}`;
  if (tally.skipped > 0) return 'beyond the work allowed';
  if (tally.satisfied > 0) return 'satisfied';
  return tally.applied > 0 ? 'left to a model' : 'not reached by the guard';
}
