import { condenseRun } from '../../planning/condensed-run.ts';
import { makeChunkRenderer } from '../../planning/render-chunk.ts';
import type { Shown } from '../../planning/show-chunk.ts';
import type { JudgeInput } from './judge-input.ts';

/** What a judge is shown, and a word on it when parts were shortened. */
export interface ShownRun extends Shown {
  readonly note: string | null;
}

const SHORTENED = `The run is long. Spans near a finding, its beginning and its end stand in full; others are shortened in their middle,
and the number of characters left out is given.`;
/** Steps on each side of a finding that are shown in full, tried from most to least. */
const NEAR = [2, 1, 0] as const;
const OPENING_STEPS = 3;
const CLOSING_STEPS = 5;

/**
 * The whole run with instructions, tools and goal if it fits; else near parts in full and far parts shortened, with
 * marks. `null` when not even that fits: the caller must not judge what it cannot see.
 */
export function showRun(input: JudgeInput, limitTokens: number): ShownRun | null {
  const { trajectory, plan, counter } = input;
  const spans = trajectory.steps.map((step) => ({
    spanId: step.spanId,
    step: step.index,
    part: null,
    overlap: false,
  }));
  const aliasesOf = (of: (step: number) => string): ReadonlyMap<string, string> =>
    new Map(trajectory.steps.map((step) => [of(step.index), step.spanId]));
  if (plan.totalTokens <= limitTokens) {
    const { text, aliases } = makeChunkRenderer(trajectory, plan.settings, true).render(spans);
    if (counter.count(text) <= limitTokens) {
      const names = aliasesOf(aliases.of);
      return { text, note: null, aliases: names, names };
    }
  }
  const header = makeChunkRenderer(trajectory, plan.settings, false).header(spans).join('');
  const room = limitTokens - counter.count(header);
  for (const reach of [...NEAR, null]) {
    const near = reach === null ? new Set<number>() : nearSteps(input, reach);
    const condensed = condenseRun(trajectory, near, room, counter, true);
    if (condensed.tokens <= room) {
      const { aliases } = condensed;
      return { text: header + condensed.text, note: SHORTENED, aliases, names: aliases };
    }
  }
  return null;
}

/** Steps around failures, findings and violations, and the two ends of the run. */
function nearSteps(
  { trajectory, failures, checks, validationLog }: JudgeInput,
  reach: number,
): ReadonlySet<number> {
  const named = [
    ...failures.map(({ span_id }) => span_id),
    ...checks.flatMap(({ findings }) => findings.map(({ spanId }) => spanId)),
    ...validationLog.filter(({ verdict }) => verdict === 'violated').map(({ spanId }) => spanId),
  ];
  const near = new Set<number>();
  for (const spanId of named) {
    const index = trajectory.stepBySpan.get(spanId)?.index;
    if (index === undefined) continue;
    for (let step = index - reach; step <= index + reach; step += 1) near.add(step);
  }
  const last = trajectory.steps.length - 1;
  for (let step = 0; step < OPENING_STEPS; step += 1) near.add(step);
  for (let step = 0; step < CLOSING_STEPS; step += 1) near.add(last - step);
  return near;
}
