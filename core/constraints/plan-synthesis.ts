import { sha256Hex } from '../base/hash.ts';
import type { PromptText } from '../model/port.ts';
import { condenseRun, shorten } from '../planning/condensed-run.ts';
import type { TokenCounter } from '../planning/tokens/counter.ts';
import { makeStepRenderer } from '../prompting/render-steps.ts';
import type { Step, Trajectory } from '../trajectory/trajectory.ts';
import { agentText } from './agent-text.ts';
import type { CompiledConstraint } from './compile.ts';
import { dynamicPrompt } from './prompt-v2.ts';

export interface DynamicRequest {
  readonly user: readonly PromptText[];
  readonly aliases: ReadonlyMap<string, string>;
}

/** A one-shot prompt shows the run at this share of its tokens at most: the judge will read it in full anyway. */
const ONE_SHOT_SHARE = 0.4;
const ONE_SHOT_FLOOR = 1_500;

/** Windows of a step-by-step synthesis: few enough that sending the run so far each time stays cheap. */
const MAX_WINDOWS = 6;
const MIN_WINDOW_STEPS = 6;
/** A step of the run so far in a step-by-step prompt; longer ones are shortened in their middle, the same way each time. */
const WINDOW_STEP_CHARACTERS = 3_000;

const namesAndHints = (existing: readonly CompiledConstraint[]): readonly string[] =>
  existing.map(({ constraint }) => `${constraint.name}: ${constraint.hint}`);

/** One call for the run. */
export function planOneShot(
  trajectory: Trajectory,
  existing: readonly CompiledConstraint[],
  totalTokens: number,
  counter: TokenCounter,
): DynamicRequest {
  const limit = Math.max(ONE_SHOT_FLOOR, Math.floor(totalTokens * ONE_SHOT_SHARE));
  const shown = condenseRun(trajectory, userSteps(trajectory), limit, counter, true);
  const user = dynamicPrompt({
    agent: agentText(trajectory),
    goal: trajectory.goal ?? '',
    existing: namesAndHints(existing),
    parts: [`${shown.text}\n`],
    mark: markOf(trajectory),
    about: 'You see the whole run, its longer spans shortened.',
  });
  return { user, aliases: shown.aliases };
}

/** What the user asked for is the measure of everything, so it is never shortened. */
function userSteps(trajectory: Trajectory): ReadonlySet<number> {
  return new Set(
    trajectory.steps
      .filter((step) => step.parts.some(({ role }) => role === 'user'))
      .map(({ index }) => index),
  );
}

/**
 * One call a window of steps. Each sees the run up to its own end; the run before it is byte for byte what the
 * windows before it saw, so that a prefix cache pays for it. The windows do not know each other's answers.
 */
export function planWindows(
  trajectory: Trajectory,
  existing: readonly CompiledConstraint[],
): readonly DynamicRequest[] {
  const renderer = makeStepRenderer(trajectory);
  const lines = trajectory.steps.map(({ index }) => shorten(renderer.render(index), WINDOW_STEP_CHARACTERS));
  const aliases = new Map(trajectory.steps.map((step) => [renderer.aliases.of(step.index), step.spanId]));
  const shared = {
    agent: agentText(trajectory),
    goal: trajectory.goal ?? '',
    existing: namesAndHints(existing),
    mark: markOf(trajectory),
  };
  let from = 0;
  const parts: string[] = [];
  return windowsOf(trajectory).map((window) => {
    const last = window.at(-1)?.index ?? 0;
    parts.push(
      lines
        .slice(from, last + 1)
        .map((line) => `${line}\n`)
        .join(''),
    );
    from = last + 1;
    const names = window.map(({ index }) => renderer.aliases.of(index)).join(', ');
    const user = dynamicPrompt({
      ...shared,
      parts: [...parts],
      about: `You see the run so far. Write checks for these spans only: ${names}.`,
    });
    return { user, aliases };
  });
}

/** Steps that can be checked, in runs of equal length. */
export function windowsOf(trajectory: Trajectory): readonly (readonly Step[])[] {
  const steps = trajectory.steps.filter(canYieldChecks);
  const size = Math.max(MIN_WINDOW_STEPS, Math.ceil(steps.length / MAX_WINDOWS));
  return Array.from({ length: Math.ceil(steps.length / size) }, (_, at) =>
    steps.slice(at * size, (at + 1) * size),
  );
}

/** A speaker's note to itself, such as "Manager (thought)": planning and bookkeeping, said to nobody. */
const INNER_VOICE = /\((?:thoughts?|thinking|internal|reasoning|ledger)\b[^)]{0,40}\)/i;

/** False where nothing an agent does can be checked: users, system texts, reasoning, notes to itself. */
export function canYieldChecks(step: Step): boolean {
  return step.parts.some(({ role, speaker, block }) => {
    if (block.type === 'tool_use' || block.type === 'tool_result') return true;
    if (block.type !== 'text' || role === 'system' || block.text.trim() === '') return false;
    if (INNER_VOICE.test((speaker ?? step.agent ?? '').slice(0, 200))) return false;
    return (
      role === 'assistant' || (role === 'user' && speaker !== null && !/^(?:user|human)\b/i.test(speaker))
    );
  });
}

function markOf(trajectory: Trajectory): string {
  const renderer = makeStepRenderer(trajectory);
  return sha256Hex(trajectory.steps.map(({ index }) => renderer.render(index)).join('\n')).slice(0, 16);
}
