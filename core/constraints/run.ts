import { evaluate, type Outcome, type Scene } from '../cel/evaluate.ts';
import { EvaluationFault, Meter } from '../cel/meter.ts';
import type { ValidationEntry } from '../diagnosis/schema.ts';
import type { Step, Trajectory } from '../trajectory/trajectory.ts';
import type { CompiledConstraint } from './compile.ts';
import { makeView, type Place, stepText, type View } from './view.ts';
import { WORK_LIMITS } from './work-limits.ts';

/** How one constraint went over one session. Counts are of places: calls, steps or the session. */
export interface ConstraintTally {
  readonly name: string;
  /** Places where the guard was true. */
  readonly applied: number;
  readonly satisfied: number;
  readonly violated: number;
  readonly unclear: number;
  /** Why the first place that is unclear or was skipped could not be decided; `null` when there is none. */
  readonly unclearReason: string | null;
  /** Places that were not looked at because the work allowed was used up. */
  readonly skipped: number;
}

export interface ConstraintRun {
  /** At least one entry for each constraint, in the order of the steps; those left to a model stand in `open`. */
  readonly entries: readonly ValidationEntry[];
  readonly tallies: readonly ConstraintTally[];
  /** Places where a guard is true and only a rubric can decide. */
  readonly open: readonly OpenPlace[];
}

export interface OpenPlace {
  readonly compiled: CompiledConstraint;
  readonly place: Place;
}

/** A constraint that fires everywhere says it once loudly: more entries of one constraint are counted, not listed. */
const MAX_VIOLATIONS = 20;
const MAX_QUOTE = 300;

/**
 * Asks every constraint at every place. Never throws on account of a constraint: a fault is `unclear` with its
 * reason, and work beyond the limits is `not-evaluated`. Runs that belong together may share the work allowed.
 */
export function runConstraints(
  constraints: readonly CompiledConstraint[],
  trajectory: Trajectory,
  work = new Meter(WORK_LIMITS.session),
): ConstraintRun {
  const view = makeView(trajectory);
  const runs = constraints.map((constraint) => runOne(constraint, view, work));
  return {
    entries: inStepOrder(
      runs.flatMap((run) => run.entries),
      trajectory,
    ),
    tallies: runs.map((run) => run.tally),
    open: runs.flatMap((run) => run.open),
  };
}

export function inStepOrder(
  entries: readonly ValidationEntry[],
  trajectory: Trajectory,
): readonly ValidationEntry[] {
  const at = (entry: ValidationEntry): number => trajectory.stepBySpan.get(entry.spanId)?.index ?? 0;
  return entries.toSorted((a, b) => at(a) - at(b));
}

/** Entries for places that no model was asked about, one a constraint. */
export function leaveOpen(open: readonly OpenPlace[], reason: string): readonly ValidationEntry[] {
  return [...Map.groupBy(open, (constraint) => constraint.compiled)]
    .map(([compiled, places]) =>
      makeEntry(
        compiled,
        places[0]?.place.step,
        'not-evaluated',
        places.length > 1 ? `${reason} (${places.length} places, the first is shown)` : reason,
      ),
    )
    .filter((entry) => entry !== null);
}

interface Verdict {
  readonly place: Place;
  readonly verdict: 'satisfied' | 'violated' | 'unclear' | 'skipped' | 'open';
  /** The guard was true. */
  readonly applied: boolean;
  readonly reason: string;
  readonly outcome: Outcome | null;
}

function runOne(compiled: CompiledConstraint, view: View, session: Meter) {
  const { constraint } = compiled;
  const meter = new Meter(WORK_LIMITS.constraint, session);
  const { only } = compiled;
  const places = view.places(constraint.each).filter(({ step }) => only === null || only.has(step.spanId));
  const verdicts: Verdict[] = [];
  for (const place of places) {
    const verdict = ask(compiled, view, place, meter);
    if (verdict !== null) verdicts.push(verdict);
  }
  const of = (wanted: Verdict['verdict']): Verdict[] =>
    verdicts.filter((verdict) => verdict.verdict === wanted);
  const tally: ConstraintTally = {
    name: constraint.name,
    applied: verdicts.filter((verdict) => verdict.applied).length,
    satisfied: of('satisfied').length,
    violated: of('violated').length,
    unclear: of('unclear').length,
    unclearReason: [...of('unclear'), ...of('skipped')][0]?.reason ?? null,
    skipped: of('skipped').length,
  };
  const open = of('open').map(({ place }): OpenPlace => ({ compiled, place }));
  return { tally, entries: entriesOf(compiled, view, tally, of), open };
}

/** `null` when the guard is false: the constraint has nothing to say here. */
function ask(compiled: CompiledConstraint, view: View, place: Place, constraintMeter: Meter): Verdict | null {
  const none = { place, outcome: null };
  if (constraintMeter.exhausted) {
    return { ...none, applied: false, verdict: 'skipped', reason: 'budget: the work allowed is used up' };
  }
  const scene = (): Scene => view.scene(place, new Meter(WORK_LIMITS.item, constraintMeter));
  let applied = false;
  try {
    if (!evaluate(compiled.guard, scene()).value) return null;
    applied = true;
    if (compiled.assertion === null) return { ...none, applied, verdict: 'open', reason: 'left to a model' };
    const outcome = evaluate(compiled.assertion, scene());
    const verdict = outcome.value ? 'satisfied' : 'violated';
    return { place, verdict, applied, reason: compiled.constraint.hint, outcome };
  } catch (error) {
    if (!(error instanceof EvaluationFault)) throw error;
    const where = applied ? 'assertion' : 'guard';
    const reason = `${error.because}: ${where} at this place: ${error.message}`;
    return { ...none, applied, verdict: error.because === 'budget' ? 'skipped' : 'unclear', reason };
  }
}

function entriesOf(
  compiled: CompiledConstraint,
  view: View,
  tally: ConstraintTally,
  of: (wanted: Verdict['verdict']) => readonly Verdict[],
): readonly ValidationEntry[] {
  const { constraint, origin, healthyFiringRate } = compiled;
  const entry = (
    place: Place | undefined,
    verdict: ValidationEntry['verdict'],
    reason: string,
    evidence: ValidationEntry['evidence'] = [],
  ): readonly ValidationEntry[] => {
    const step = place?.step ?? view.trajectory.steps[0];
    if (step === undefined) return [];
    const { spanId, position } = step;
    const { name, severity } = constraint;
    return [
      { constraint: name, origin, spanId, position, verdict, reason, severity, evidence, healthyFiringRate },
    ];
  };
  const first = (wanted: Verdict['verdict']): Verdict | undefined => of(wanted)[0];
  const times = (count: number, text: string): string =>
    count > 1 ? `${text} (${count} places, the first is shown)` : text;

  const violated = of('violated');
  const listed = violated.slice(0, MAX_VIOLATIONS).flatMap((verdict, at) => {
    const rest = violated.length - MAX_VIOLATIONS;
    const more = at === MAX_VIOLATIONS - 1 && rest > 0 ? ` (${rest} more places are not listed)` : '';
    return entry(verdict.place, 'violated', constraint.hint + more, evidenceOf(verdict));
  });
  const [satisfied, unclear, skipped] = [first('satisfied'), first('unclear'), first('skipped')];
  const rest = [
    ...(unclear ? entry(unclear.place, 'unclear', times(tally.unclear, unclear.reason)) : []),
    ...(skipped ? entry(skipped.place, 'not-evaluated', times(tally.skipped, skipped.reason)) : []),
    ...(satisfied && violated.length === 0
      ? entry(satisfied.place, 'satisfied', times(tally.satisfied, 'holds'))
      : []),
  ];
  if (listed.length + rest.length > 0 || of('open').length > 0) return [...listed, ...rest];
  return entry(undefined, 'not-applicable', 'its guard was true nowhere in this session');
}

/** `null` only when the session has no step to hang it on. */
export function makeEntry(
  compiled: CompiledConstraint,
  step: Step | undefined,
  verdict: ValidationEntry['verdict'],
  reason: string,
  evidence: ValidationEntry['evidence'] = [],
): ValidationEntry | null {
  if (step === undefined) return null;
  const { constraint, origin, healthyFiringRate } = compiled;
  return {
    constraint: constraint.name,
    origin: compiled.assertion === null ? 'semantic' : origin,
    spanId: step.spanId,
    position: step.position,
    verdict,
    reason,
    severity: constraint.severity,
    evidence,
    healthyFiringRate,
  };
}

/** The call or step itself, then each value that the assertion looked up. */
function evidenceOf({ place, outcome }: Verdict): ValidationEntry['evidence'] {
  const { spanId } = place.step;
  const { exchange } = place;
  const values = [...(outcome?.seen ?? [])].map(([source, shown]) => `${source} = ${shown}`).join('; ');
  const note = values === '' ? 'where it was asked' : `looked up: ${values}`;
  const quote =
    exchange === null
      ? stepText(place.step)
      : `${exchange.name}(${exchange.argumentsRaw ?? JSON.stringify(exchange.arguments)})`;
  return [{ spanId, quote: quote.slice(0, MAX_QUOTE), note: note.slice(0, 600) }];
}
