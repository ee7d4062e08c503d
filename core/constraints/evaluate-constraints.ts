import { settleBoth, settleInTurn } from '../base/settle-all.ts';
import { quarantine } from '../diagnosis/quarantine.ts';
import type { Quarantined, ValidationEntry } from '../diagnosis/schema.ts';
import type {
  Constrained,
  ConstraintsDeps,
  EvaluateConstraints,
  Merged,
  Prepared,
} from '../diagnosis/stages.ts';
import type { Model } from '../model/port.ts';
import { toTrajectory } from '../trajectory/to-trajectory.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import { agentText } from './agent-text.ts';
import { logChecks } from './built-in.ts';
import type { CompiledConstraint } from './compile.ts';
import { judgeRubrics, type RubricLimits } from './judge-rubrics.ts';
import { planOneShot, planWindows } from './plan-synthesis.ts';
import { asLow, pruneByFiring, tooStrict, withoutDuplicates } from './prune.ts';
import { admitConstraints } from './read-constraints.ts';
import { type ConstraintRun, inStepOrder, leaveOpen, runConstraints } from './run.ts';
import {
  type Draft,
  draftDynamic,
  draftGlobal,
  NO_SYNTHESIS,
  repairDraft,
  type Synthesis,
} from './synthesise.ts';

/** Half of the window for one prompt, as for chunks; the other half is instructions, answer and estimate error. */
const WINDOW_SHARE = 0.5;
/** Rubrics look at places: the run around them is shown at this share of its tokens, if near steps allow it. */
const RUBRIC_SHARE = 0.4;

/**
 * The Constraints stage: built-in and user constraints at every depth, those a model writes and rubrics at depth
 * `deep`. Calls go out in three rounds, each at once: constraints of the agent; constraints of the run, beside the repair
 * of the agent's; rubrics, beside the repair of the run's. Errors that a later try cures are thrown;
 * everything else that could not be done is a gap or an entry with its reason.
 */
export const evaluateConstraints: EvaluateConstraints = async (prepared, merged, model, deps) => {
  const trajectory = toTrajectory(prepared.session);
  const builtIn = logChecks(prepared.checks, trajectory);
  const user = admitConstraints(prepared.options.constraints ?? [], 'user');
  const deep = isWorthConstraining(
    prepared,
    merged?.failures.filter(({ recovered }) => recovered !== 'yes').length ?? 0,
  );
  const synthesis = deep ? await synthesise(prepared, trajectory, user.accepted, model, deps) : NO_DRAFTS;

  const evaluate = (written: readonly CompiledConstraint[]) => {
    const { kept, dropped } = pruneByFiring(
      withoutDuplicates([...user.accepted, ...written]),
      deps.healthy ?? [],
    );
    return { dropped, ...runAndReflect(kept, trajectory) };
  };
  const drafted = evaluate(synthesis.written.constraints);
  const [repaired, rubrics] = await settleBoth(
    settleInTurn(synthesis.unrepaired.map((draft) => () => repairDraft(draft))).then(joinSyntheses),
    deep
      ? judgeRubrics(trajectory, drafted.run.open, model, deps.counter, rubricLimits(prepared))
      : Promise.resolve({ entries: leaveOpen(drafted.run.open, NOT_DEEP), ...NOTHING }),
  );
  const written = joinSyntheses([synthesis.written, repaired]);
  const { run, notes, dropped } = repaired.constraints.length === 0 ? drafted : evaluate(written.constraints);
  const late = new Set(repaired.constraints.map(({ constraint }) => constraint.name));
  const entries = [
    ...builtIn,
    ...run.entries.map((entry) => withNote(entry, notes.get(entry.constraint))),
    ...rubrics.entries,
    ...leaveOpen(
      run.open.filter(({ compiled }) => late.has(compiled.constraint.name)),
      'repaired: its question compiled only after the rubrics had been asked',
    ),
    ...user.refused.flatMap(({ name, errors }) =>
      noteEntry(name, 'user', 'error', `refused: ${errors.join('; ')}`, trajectory),
    ),
    ...(prepared.options.depth === 'deep' && !deep && prepared.notAnalysed === null
      ? noteEntry('written-constraints', 'dynamic', 'not-evaluated', RULE_NOTE, trajectory)
      : []),
    ...(deep && agentIsUnknown(trajectory)
      ? noteEntry('agent-constraints', 'global', 'not-evaluated', AGENT_NOTE, trajectory)
      : []),
  ];
  return {
    validationLog: inStepOrder(entries, trajectory),
    quarantined: [
      ...written.quarantined,
      ...dropped.map(
        ({ compiled, reason }): Quarantined =>
          quarantine('constraints', `pruned: ${reason}`, JSON.stringify(compiled.constraint)),
      ),
      ...rubrics.quarantined,
    ],
    gaps: [...written.gaps, ...rubrics.gaps],
    calls: [...written.calls, ...rubrics.calls],
  };
};

/** The stage when the model could not be asked (throttled to the end, budget): what needs none, and the gap. */
export async function constraintsWithoutModel(
  prepared: Prepared,
  merged: Merged | null,
  reason: string,
  model: Model,
  deps: ConstraintsDeps,
): Promise<Constrained> {
  const plain = { ...prepared, options: { ...prepared.options, depth: 'standard' as const } };
  const done = await evaluateConstraints(plain, merged, model, deps);
  return { ...done, gaps: [...done.gaps, { what: 'constraints that a model writes', reason, spanIds: [] }] };
}

const NOT_DEEP = 'depth: a rubric needs a model and depth deep';
const NOTHING = { quarantined: [], gaps: [], calls: [] };

interface Drafts {
  readonly written: Synthesis;
  /** Drafts of this run with constraints that do not compile; their repair goes out with the rubrics. */
  readonly unrepaired: readonly Draft[];
}

const NO_DRAFTS: Drafts = { written: NO_SYNTHESIS, unrepaired: [] };

async function synthesise(
  prepared: Prepared,
  trajectory: Trajectory,
  user: readonly CompiledConstraint[],
  model: Model,
  { counter }: ConstraintsDeps,
): Promise<Drafts> {
  const global = agentIsUnknown(trajectory) ? null : await draftGlobal(agentText(trajectory), model);
  const existing = [...user, ...(global?.constraints ?? [])];
  const requests =
    prepared.options.synthesis === 'step-by-step'
      ? planWindows(trajectory, existing)
      : [planOneShot(trajectory, existing, prepared.plan.totalTokens, counter)];
  const [repaired, dynamic] = await settleBoth(
    global === null ? Promise.resolve(NO_SYNTHESIS) : repairDraft(global),
    // One after the other, so that each finds the prefix of the one before in the cache; a batch model still gets all.
    settleInTurn(
      requests.map(
        ({ user: prompt, aliases }) =>
          () =>
            draftDynamic(prompt, aliases, model),
      ),
    ),
  );
  return {
    written: joinSyntheses([...(global === null ? [] : [global]), repaired, ...dynamic]),
    unrepaired: dynamic,
  };
}

function joinSyntheses(parts: readonly Synthesis[]): Synthesis {
  return {
    constraints: parts.flatMap((part) => part.constraints),
    quarantined: parts.flatMap((part) => part.quarantined),
    gaps: parts.flatMap((part) => part.gaps),
    calls: parts.flatMap((part) => part.calls),
  };
}

/** Runs them; a written constraint that this run breaks nearly everywhere counts as low, and says so. */
function runAndReflect(
  constraints: readonly CompiledConstraint[],
  trajectory: Trajectory,
): { readonly run: ConstraintRun; readonly notes: ReadonlyMap<string, string> } {
  const run = runConstraints(constraints, trajectory);
  const written = new Set(
    constraints.filter(({ origin }) => origin !== 'user').map((evaluated) => evaluated.constraint.name),
  );
  const notes = new Map<string, string>();
  for (const tally of run.tallies) {
    const note = written.has(tally.name) ? tooStrict(tally) : null;
    if (note !== null) notes.set(tally.name, note);
  }
  if (notes.size === 0) return { run, notes };
  const lowered = constraints.map((evaluated) =>
    notes.has(evaluated.constraint.name) ? asLow(evaluated) : evaluated,
  );
  return { run: runConstraints(lowered, trajectory), notes };
}

function withNote(entry: ValidationEntry, note: string | undefined): ValidationEntry {
  return note === undefined || entry.verdict !== 'violated'
    ? entry
    : { ...entry, reason: `${entry.reason} (${note})` };
}

const RULE_NOTE =
  'depth-rule: neither detection nor a check found anything, so no model was asked for constraints';
const AGENT_NOTE = 'no-instructions: neither instructions nor tools of the agent are recorded';

const agentIsUnknown = (trajectory: Trajectory): boolean => {
  const { policy, tools } = agentText(trajectory);
  return policy === '' && tools === '';
};

/** What could not be asked stands in the log: it must not look as if it held. */
function noteEntry(
  constraint: string,
  origin: ValidationEntry['origin'],
  verdict: ValidationEntry['verdict'],
  reason: string,
  { steps: [first] }: Trajectory,
): readonly ValidationEntry[] {
  if (first === undefined) return [];
  const { spanId, position } = first;
  return [
    {
      constraint,
      origin,
      spanId,
      position,
      verdict,
      reason,
      severity: 'low',
      evidence: [],
      healthyFiringRate: null,
    },
  ];
}

function rubricLimits({ plan }: Prepared): RubricLimits {
  const hard = Math.floor(plan.settings.contextTokens * WINDOW_SHARE);
  return { hard, wanted: Math.min(hard, Math.max(2_000, Math.floor(plan.totalTokens * RUBRIC_SHARE))) };
}

/**
 * Depth by rule: whether the model's part of the stage is worth its price. `on-findings` asks what is known without
 * it: failures of detection and check findings that nothing put right.
 */
function isWorthConstraining({ options, notAnalysed, checks }: Prepared, standing: number): boolean {
  if (options.depth !== 'deep' || notAnalysed !== null) return false;
  if (options.deepRule !== 'on-findings' || options.assumeFailed || standing > 0) return true;
  return checks.some(({ findings }) => findings.some(({ recovered }) => recovered !== true));
}
