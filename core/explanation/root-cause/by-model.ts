import { settleAll } from '../../base/settle-all.ts';
import type {
  Coverage,
  CriticalStep,
  Diagnosis,
  Failure,
  Quarantined,
  RootCause,
} from '../../diagnosis/schema.ts';
import type { CallRecord } from '../../model/call-record.ts';
import type { PromptText } from '../../model/port.ts';
import type { Chunk } from '../../planning/plan.ts';
import { chunkOf } from '../../planning/show-chunk.ts';
import { splitChunk } from '../../planning/split-chunk.ts';
import { makeQuoteCheck } from '../../prompting/quote.ts';
import { makePrimary, sourceOf, withCriticalStep } from '../critical-step/align.ts';
import { readCriticalSteps } from '../critical-step/read-critical-steps.ts';
import { type Asked, askExplanation, promptOver } from './ask-explanation.ts';
import { combineWindows } from './combine-windows.ts';
import type { ExplainInput } from './explain-input.ts';
import { readCompletion, readRootCauses } from './read-root-causes.ts';
import { pruneTo, windowsOf } from './tiers.ts';

export interface Explanation {
  /** Those given, and the critical step if it was not among them. */
  readonly failures: readonly Failure[];
  /** One for each failure, in their order. */
  readonly rootCauses: readonly RootCause[];
  readonly critical: CriticalStep | null;
  /** Whether it was decided, by a model or a reference, which step was critical, if any. */
  readonly judged: boolean;
  readonly completion: Diagnosis['completionStatus'];
  readonly quarantined: readonly Quarantined[];
  readonly gaps: Coverage['gaps'];
  readonly calls: readonly CallRecord[];
}

/** Nothing usable came back: the caller explains by rule and says why. */
export interface Unexplained {
  readonly reason: string;
  readonly calls: readonly CallRecord[];
}

const PRUNED_NOTE = `You see an excerpt of the run: the failing spans, their ancestors, up to ten descendants of each, and the spans right
before them. Other spans were left out for length.`;

/**
 * Judges and explains in one call. Three tiers: the whole session; if that is too long, the session pruned to what
 * surrounds the failing spans; if that is too long, windows asked apart and made one by a further call.
 */
export async function explainFailures(input: ExplainInput): Promise<Explanation | Unexplained> {
  const calls: CallRecord[] = [];
  const all = chunkOf(
    input.trajectory,
    input.trajectory.steps.map(({ index }) => index),
  );
  const whole = await tryTier(input, all, null, input.plan.totalTokens);
  calls.push(...(whole?.calls ?? []));
  if (whole !== null && !(whole.ok === false && whole.overflow)) return conclude(input, whole, calls, []);

  const pruned = pruneTo(
    input.trajectory,
    input.failures.map(({ span_id }) => span_id),
  );
  if (pruned !== null && pruned.length < input.trajectory.steps.length) {
    const excerpt = await tryTier(input, chunkOf(input.trajectory, pruned), PRUNED_NOTE, null);
    calls.push(...(excerpt?.calls ?? []));
    if (excerpt !== null && !(excerpt.ok === false && excerpt.overflow)) {
      return conclude(input, excerpt, calls, []);
    }
  }
  return explainInWindows(input, calls);
}

/** Asks when the estimate fits; `null` when it does not. */
async function tryTier(
  input: ExplainInput,
  chunk: Chunk,
  note: string | null,
  tokens: number | null,
): Promise<Asked | null> {
  const limit = limitOf(input);
  if (tokens !== null && tokens > limit) return null;
  const { user, shown } = promptOver(input, chunk, input.failures, note);
  if (promptTokens(input, user) > limit) return null;
  return askExplanation(input, user, shown, input.failures.length, 'root-cause');
}

/** The pre-flight limit, in our tokens: the plan's settings allow for the model's own tokenizer. */
const limitOf = ({ plan }: ExplainInput): number =>
  plan.settings.contextTokens * plan.settings.preflightShare;

const promptTokens = ({ counter }: ExplainInput, user: readonly PromptText[]): number =>
  user.reduce((sum, { text }) => sum + counter.count(text), 0);

async function explainInWindows(
  input: ExplainInput,
  before: readonly CallRecord[],
): Promise<Explanation | Unexplained> {
  const failing = new Set(input.failures.map(({ span_id }) => span_id));
  const wanted = windowsOf(input.trajectory)
    .map((steps) => chunkOf(input.trajectory, steps))
    .filter(({ spans }) => failing.size === 0 || spans.some(({ spanId }) => failing.has(spanId)));
  const asked = (await settleAll(wanted.map((chunk) => askWindow(input, chunk)))).flat();
  const calls = [...before, ...asked.flatMap((answer) => answer.calls)];
  const answered = asked.flatMap((answer) => (answer.ok ? [answer] : []));
  const gaps = [...new Set(asked.flatMap((answer) => (answer.ok ? [] : [answer.reason])))].map((reason) => ({
    what: 'the cause of failures in a window of the session',
    reason,
    spanIds: [],
  }));
  const [first, second] = answered;
  if (first === undefined) {
    return { reason: gaps.map(({ reason }) => reason).join('; ') || 'no window could be read', calls };
  }
  if (second === undefined) return conclude(input, first, calls, gaps);
  const combined = await combineWindows(input, answered, limitOf(input));
  return conclude(input, combined.answer, [...calls, ...combined.calls], [...gaps, ...combined.gaps]);
}

/** A window that is too long is halved, down to parts of one span; the failures in it go with their half. */
async function askWindow(input: ExplainInput, chunk: Chunk): Promise<readonly Asked[]> {
  const ids = new Set(chunk.spans.map(({ spanId }) => spanId));
  const failures = input.failures.filter(({ span_id }) => ids.has(span_id));
  if (input.failures.length > 0 && failures.length === 0) return [];
  const first = (chunk.spans[0]?.step ?? 0) + 1;
  const last = (chunk.spans.at(-1)?.step ?? 0) + 1;
  const note = `You see a window of the run: spans ${first} to ${last} of ${input.trajectory.steps.length}. Others read the rest; answer for what you see.`;
  const { user, shown } = promptOver(input, chunk, failures, note);
  const answer: Asked =
    promptTokens(input, user) > limitOf(input)
      ? { ok: false, overflow: true, reason: 'context-overflow: the window is over the limit', calls: [] }
      : await askExplanation(input, user, shown, failures.length, 'root-cause');
  if (answer.ok || !answer.overflow) return [answer];
  const halves = splitChunk(input.trajectory, input.plan, chunk, input.counter);
  if (halves === null) return [answer];
  return (await settleAll(halves.map((half) => askWindow(input, half)))).flat();
}

/** A decided step stands. What a reference cannot say, its category, is taken from whoever explains the same step. */
function takeOver(decided: CriticalStep | null, read: CriticalStep | null) {
  const named = decided?.judgedBy === 'reference' && read?.spanId === decided.spanId ? read : null;
  const critical = decided === null || named === null ? decided : { ...decided, category: named.category };
  return { critical, quarantined: [], lost: [] };
}

/** From a raw answer to a consistent result: spans checked, one cause a failure, the critical step a failure too. */
function conclude(
  input: ExplainInput,
  answer: Asked,
  calls: readonly CallRecord[],
  gaps: Coverage['gaps'],
): Explanation | Unexplained {
  if (!answer.ok) return { reason: answer.reason, calls };
  const { value, requestHash, shown } = answer;
  const context = {
    trajectory: input.trajectory,
    aliases: shown.aliases,
    names: shown.names,
    isQuoted: makeQuoteCheck(shown.text),
  };
  const read = readCriticalSteps(value.criticalSteps, context);
  const judged = input.decided === undefined ? read : takeOver(input.decided, read.critical);
  const { critical } = judged;
  const source = sourceOf(critical, requestHash);
  const failures = withCriticalStep(
    input.trajectory,
    input.failures,
    critical,
    input.options.taxonomy,
    source,
  );
  const completion = readCompletion(value.completion, critical);
  const causes = readRootCauses(value.rootCauses, failures, {
    ...context,
    requestHash,
    completion,
    critical,
  });
  const aligned = makePrimary(causes.rootCauses, critical);
  return {
    failures,
    rootCauses: aligned.rootCauses,
    critical,
    judged: true,
    completion,
    quarantined: [...judged.quarantined, ...causes.quarantined, ...aligned.quarantined],
    gaps: [
      ...gaps,
      ...judged.lost.map((reason) => ({ what: 'a step that the judge named', reason, spanIds: [] })),
      ...(causes.unexplained.length === 0
        ? []
        : [
            {
              what: 'root causes',
              reason: 'the model gave no usable cause for these failures; they are set by rule',
              spanIds: [...causes.unexplained],
            },
          ]),
    ],
    calls,
  };
}
