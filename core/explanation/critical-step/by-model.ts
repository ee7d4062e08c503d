import * as z from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { settleAll } from '../../base/settle-all.ts';
import type { Protocol } from '../../diagnosis/protocols.ts';
import type { Coverage, CriticalStep, Quarantined } from '../../diagnosis/schema.ts';
import { ContextOverflowError, ModelOutputInvalidError } from '../../errors/errors.ts';
import { UnusableAnswerError } from '../../model/answer-defect.ts';
import { askForJson } from '../../model/ask-for-json.ts';
import type { CallRecord } from '../../model/call-record.ts';
import { makeQuoteCheck } from '../../prompting/quote.ts';
import { countVotes, type Vote } from './count-votes.ts';
import { writeEvidence, writeFailures } from './handed-evidence.ts';
import type { JudgeInput } from './judge-input.ts';
import { JUDGE_ANSWERS, judgePrompt, PROTOCOL_PROMPT_VERSION, type Question } from './protocol-prompts-v2.ts';
import { readCriticalSteps } from './read-critical-steps.ts';
import { type ShownRun, showRun } from './show-run.ts';

export interface Decided {
  /** `undefined`: no vote could be used, and nothing was decided. `null`: decided that there is no critical step. */
  readonly critical: CriticalStep | null | undefined;
  readonly quarantined: readonly Quarantined[];
  readonly gaps: Coverage['gaps'];
  readonly calls: readonly CallRecord[];
}

/** Analysis, four candidates with evidence; thinking models need as much again. */
const MAX_ANSWER_TOKENS = 4_000;
/** Room for instructions, evidence and decided parts beside the run. */
const PROMPT_TOKENS = 6_000;

/**
 * The judge apart from root causes: n votes by one protocol, all asked at once; the stages of one vote follow each
 * other. A vote whose answer stays unusable is a gap and does not count; errors a later try cures are thrown.
 */
export async function decideCriticalStep(input: JudgeInput): Promise<Decided> {
  const { plan, options } = input;
  const limit = plan.settings.contextTokens * plan.settings.preflightShare - PROMPT_TOKENS;
  const shown = showRun(input, limit);
  if (shown === null) {
    const reason = 'context-overflow: not even the shortened run fits the model';
    return { critical: undefined, quarantined: [], gaps: [gap(reason)], calls: [] };
  }
  const protocol = options.protocol ?? 'all-at-once';
  const cast = await settleAll(
    Array.from({ length: options.votes }, (_, sample) => castVote(input, shown, protocol, sample)),
  );
  const usable = cast.filter((ballot) => ballot.vote !== undefined);
  const votes = usable.map((ballot) => ballot.vote ?? null);
  const critical = votes.length === 0 ? undefined : countVotes(votes, options.assumeFailed);
  return {
    critical,
    quarantined: cast.flatMap((ballot) => ballot.quarantined),
    gaps: cast.flatMap((ballot) => ballot.gaps),
    calls: cast.flatMap((ballot) => ballot.calls),
  };
}

const gap = (reason: string): Coverage['gaps'][number] => ({
  what: 'a vote of the judge',
  reason,
  spanIds: [],
});

interface Cast {
  readonly vote: Vote | undefined;
  readonly quarantined: readonly Quarantined[];
  readonly gaps: Coverage['gaps'];
  readonly calls: readonly CallRecord[];
}

async function castVote(
  input: JudgeInput,
  shown: ShownRun,
  protocol: Protocol,
  sample: number,
): Promise<Cast> {
  switch (protocol) {
    case 'all-at-once': {
      const asked = await ask(input, shown, 'step-and-category', null, sample);
      return readVote(input, shown, asked.list, [asked]);
    }
    case 'step-then-category': {
      const first = await ask(input, shown, 'step', null, sample);
      if (first.list === null || first.list.length === 0) return readVote(input, shown, first.list, [first]);
      const second = await ask(input, shown, 'category-of-step', lines(first.list), sample);
      return readVote(input, shown, second.list === null ? null : join(first.list, second.list), [
        first,
        second,
      ]);
    }
    case 'category-then-step': {
      const first = await ask(input, shown, 'category', null, sample);
      if (first.list === null || first.list.length === 0) return readVote(input, shown, first.list, [first]);
      const second = await ask(input, shown, 'step-of-category', lines(first.list), sample);
      return readVote(input, shown, second.list, [first, second]);
    }
  }
}

const lines = (items: readonly JsonValue[]): string => items.map((item) => JSON.stringify(item)).join('\n');

/** Candidates with the category that the second stage gave their span; `inconclusive` where it gave none. */
function join(steps: readonly JsonValue[], categories: readonly JsonValue[]): readonly JsonValue[] {
  const spanOf = (item: JsonValue): string =>
    isJsonObject(item) && typeof item.span === 'string' ? item.span : '';
  return steps.map((step) => {
    const found = categories.find((item) => spanOf(item) === spanOf(step) && spanOf(step) !== '');
    if (!isJsonObject(step)) return step;
    const category = isJsonObject(found) ? (found.category ?? 'inconclusive') : 'inconclusive';
    const why = isJsonObject(found) && typeof found.reason === 'string' ? ` ${found.reason}` : '';
    return { ...step, category, reason: `${typeof step.reason === 'string' ? step.reason : ''}${why}` };
  });
}

interface AskedStage {
  /** `null`: the answer stayed unusable. */
  readonly list: readonly JsonValue[] | null;
  readonly gaps: Coverage['gaps'];
  readonly calls: readonly CallRecord[];
}

const LISTS: Readonly<Record<Question, string>> = {
  'step-and-category': 'criticalSteps',
  step: 'steps',
  'category-of-step': 'categories',
  category: 'kinds',
  'step-of-category': 'criticalSteps',
};
const PURPOSES: Readonly<Record<Question, string>> = {
  'step-and-category': 'judge',
  step: 'judge-step',
  'category-of-step': 'judge-category',
  category: 'judge-category',
  'step-of-category': 'judge-step',
};

async function ask(
  input: JudgeInput,
  shown: ShownRun,
  question: Question,
  decided: string | null,
  sample: number,
): Promise<AskedStage> {
  const aliasOf = new Map([...shown.aliases].map(([alias, spanId]) => [spanId, alias]));
  const name = LISTS[question];
  const answer: z.ZodType<JsonObject> = z.custom<JsonObject>(
    (value) => isJsonObject(value) && Object.hasOwn(value, name) && Array.isArray(value[name]),
    `expected an object with the list "${name}"`,
  );
  try {
    const { value, calls } = await askForJson(
      input.model,
      {
        purpose: PURPOSES[question],
        promptVersion: PROTOCOL_PROMPT_VERSION,
        user: judgePrompt(question, {
          run: shown.text,
          note: shown.note,
          failures: writeFailures(input.failures, aliasOf),
          evidence: writeEvidence(input.failures, input.checks, input.validationLog, aliasOf),
          decided,
          assumeFailed: input.options.assumeFailed,
        }),
        answer: JUDGE_ANSWERS[question],
        maxOutputTokens: Math.min(MAX_ANSWER_TOKENS, input.model.limits.maxOutputTokens),
        ...(input.options.votes > 1 ? { sample } : {}),
      },
      answer,
    );
    const list = value[name];
    return { list: Array.isArray(list) ? list : null, gaps: [], calls };
  } catch (error) {
    if (!(error instanceof ModelOutputInvalidError || error instanceof ContextOverflowError)) throw error;
    const word = error instanceof ContextOverflowError ? 'context-overflow' : 'model-output-invalid';
    const calls = error instanceof UnusableAnswerError ? error.calls : [];
    return { list: null, gaps: [gap(`${word}: ${error.message}`)], calls };
  }
}

function readVote(
  input: JudgeInput,
  shown: ShownRun,
  list: readonly JsonValue[] | null,
  stages: readonly AskedStage[],
): Cast {
  const calls = stages.flatMap((stage) => stage.calls);
  const gaps = stages.flatMap((stage) => stage.gaps);
  if (list === null) return { vote: undefined, quarantined: [], gaps, calls };
  const read = readCriticalSteps([...list], {
    trajectory: input.trajectory,
    aliases: shown.aliases,
    names: shown.names,
    isQuoted: makeQuoteCheck(shown.text),
  });
  // A vote that named only unknown spans did not say "there is none".
  const lost = read.critical === null && read.lost.length > 0;
  return {
    vote: lost ? undefined : read.critical,
    quarantined: read.quarantined,
    gaps: lost ? [...gaps, gap(`model-output-invalid: ${read.lost.join('; ')}`)] : gaps,
    calls,
  };
}
