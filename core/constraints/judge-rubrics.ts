import { settleAll } from '../base/settle-all.ts';
import { quarantine } from '../diagnosis/quarantine.ts';
import type { Coverage, Quarantined, ValidationEntry } from '../diagnosis/schema.ts';
import { askForJson } from '../model/ask-for-json.ts';
import type { CallRecord } from '../model/call-record.ts';
import type { Model } from '../model/port.ts';
import { sortItems } from '../model/read-answer.ts';
import { condenseRun, type ShownRun } from '../planning/condensed-run.ts';
import type { TokenCounter } from '../planning/tokens/counter.ts';
import { makeQuoteCheck } from '../prompting/quote.ts';
import { resolveSpan } from '../prompting/resolve-span.ts';
import { onOneLine } from '../prompting/untrusted.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import { RUBRIC_ANSWER, type RubricRow, rowList, rubricRow } from './answers.ts';
import { RUBRICS_PROMPT_VERSION, rubricPrompt } from './prompt-v2.ts';
import { leaveOpen, makeEntry, type OpenPlace } from './run.ts';
import { modelFault } from './synthesise.ts';

export interface RubricResult {
  readonly entries: readonly ValidationEntry[];
  readonly quarantined: readonly Quarantined[];
  readonly gaps: Coverage['gaps'];
  readonly calls: readonly CallRecord[];
}

export interface RubricLimits {
  /** Tokens of one prompt's run at most. */
  readonly hard: number;
  /** What the run may take if near steps allow it: rubrics need the places, not all of the session. */
  readonly wanted: number;
}

/** A rubric that asks everywhere is asked at its first places; the rest is named. */
const PLACES_PER_CONSTRAINT = 6;
const PLACES_IN_ALL = 40;
/** Steps before a place that are shown in full with it. */
const STEPS_BEFORE = 1;

/**
 * Rubrics of all constraints and places in one call a window. A verdict is made here from the rows: any clear fail
 * whose quote stands in the run violates; unclear rows are discarded; a place with no clear row is unclear.
 */
export async function judgeRubrics(
  trajectory: Trajectory,
  open: readonly OpenPlace[],
  model: Model,
  counter: TokenCounter,
  limits: RubricLimits,
): Promise<RubricResult> {
  const asked: OpenPlace[] = [];
  const left: OpenPlace[] = [];
  const counts = new Map<string, number>();
  for (const place of open) {
    const { name } = place.compiled.constraint;
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    (count < PLACES_PER_CONSTRAINT && asked.length < PLACES_IN_ALL ? asked : left).push(place);
  }
  const inOrder = asked.toSorted((a, b) => a.place.step.index - b.place.step.index);
  const results = inOrder.length === 0 ? [] : await askWindow(trajectory, inOrder, model, counter, limits);
  return {
    entries: [
      ...results.flatMap((result) => result.entries),
      ...leaveOpen(left, `limit: a rubric is asked at ${PLACES_PER_CONSTRAINT} places of a session at most`),
    ],
    quarantined: results.flatMap((result) => result.quarantined),
    gaps: results.flatMap((result) => result.gaps),
    calls: results.flatMap((result) => result.calls),
  };
}

async function askWindow(
  trajectory: Trajectory,
  places: readonly OpenPlace[],
  model: Model,
  counter: TokenCounter,
  limits: RubricLimits,
): Promise<readonly RubricResult[]> {
  const shown = condenseRun(trajectory, nearTo(places), limits.wanted, counter, false);
  if (shown.tokens > limits.hard && places.length > 1) {
    const half = Math.ceil(places.length / 2);
    const halves = [places.slice(0, half), places.slice(half)];
    const asked = halves.map((part) => askWindow(trajectory, part, model, counter, limits));
    return (await settleAll(asked)).flat();
  }
  if (shown.tokens > limits.hard) {
    return [failed(places, 'context-overflow: even the shortened run does not fit the model', [])];
  }
  try {
    const { value, calls } = await askForJson(
      model,
      {
        purpose: 'constraints-rubrics',
        promptVersion: RUBRICS_PROMPT_VERSION,
        user: rubricPrompt(shown.text, writeItems(places, shown)),
        answer: RUBRIC_ANSWER,
        maxOutputTokens: Math.min(1_000 + places.length * 400, model.limits.maxOutputTokens),
      },
      rowList,
    );
    return [{ ...readRows(value.rows, places, shown), gaps: [], calls }];
  } catch (error) {
    const fault = modelFault(error);
    return [failed(places, fault.reason, fault.calls)];
  }
}

function failed(places: readonly OpenPlace[], reason: string, calls: readonly CallRecord[]): RubricResult {
  const spanIds = [...new Set(places.map(({ place }) => place.step.spanId))];
  return {
    entries: leaveOpen(places, reason),
    quarantined: [],
    gaps: [{ what: 'constraints that a model decides', reason, spanIds }],
    calls,
  };
}

function nearTo(places: readonly OpenPlace[]): ReadonlySet<number> {
  const near = places.flatMap(({ place }) =>
    Array.from({ length: STEPS_BEFORE + 1 }, (_, back) => place.step.index - back),
  );
  const results = places.flatMap(({ place }) => place.exchange?.resultStep ?? []);
  return new Set([...near, ...results]);
}

function writeItems(places: readonly OpenPlace[], shown: ShownRun): string {
  const aliasOf = new Map([...shown.aliases].map(([alias, spanId]) => [spanId, alias]));
  return places
    .map(({ compiled: { constraint }, place }, index) => {
      const about = place.exchange === null ? '' : `, call ${JSON.stringify(place.exchange.name)}`;
      const head = `i${index + 1} about [${aliasOf.get(place.step.spanId)}]${about}: ${constraint.hint}`;
      return [head, ...constraint.rubric.map((question, at) => `  ${at + 1}. ${question}`)]
        .map(onOneLine)
        .join('\n');
    })
    .join('\n');
}

function readRows(
  rows: readonly unknown[],
  places: readonly OpenPlace[],
  shown: ShownRun,
): Pick<RubricResult, 'entries' | 'quarantined'> {
  const { valid, invalid } = sortItems<RubricRow>(rows, rubricRow);
  const isQuoted = makeQuoteCheck(shown.text);
  const quarantined = invalid.map(({ reason, item }) =>
    quarantine('constraints', `rubric row: ${reason}`, JSON.stringify(item) ?? ''),
  );
  const byItem = new Map<number, RubricRow[]>();
  for (const row of valid) {
    const index = Number(/^i?(\d{1,4})$/.exec(row.item.trim())?.[1] ?? Number.NaN) - 1;
    const questions = places[index]?.compiled.constraint.rubric.length ?? 0;
    if (row.question >= 1 && row.question <= questions)
      byItem.set(index, [...(byItem.get(index) ?? []), row]);
    else
      quarantined.push(
        quarantine('constraints', 'rubric row about an item or question that was not asked', asText(row)),
      );
  }
  const entries = places.map((place, index) => verdictOf(place, byItem.get(index) ?? [], shown, isQuoted));
  return { entries: entries.filter((entry) => entry !== null), quarantined };
}

const asText = (row: RubricRow): string => JSON.stringify(row);

function verdictOf(
  { compiled, place }: OpenPlace,
  rows: readonly RubricRow[],
  shown: ShownRun,
  isQuoted: (quote: string) => boolean,
): ValidationEntry | null {
  const { hint, rubric } = compiled.constraint;
  if (rows.length === 0) {
    return makeEntry(
      compiled,
      place.step,
      'not-evaluated',
      'model-output-incomplete: the model gave no row for it',
    );
  }
  const fails = rows.filter((row) => row.verdict === 'CLEAR_FAIL');
  const proven = fails.filter((row) => isQuoted(row.quote));
  if (proven.length > 0) {
    const evidence = proven.map((row) => ({
      spanId: resolveSpan(row.span, { aliases: shown.aliases }).spanId ?? place.step.spanId,
      quote: row.quote.slice(0, 300),
      note: `${rubric[row.question - 1] ?? ''} No: ${row.note}`.slice(0, 600),
    }));
    return makeEntry(compiled, place.step, 'violated', hint, evidence);
  }
  if (fails.length > 0) {
    return makeEntry(
      compiled,
      place.step,
      'unclear',
      'a failure was claimed, and its quote does not stand in the run',
    );
  }
  const answered = new Set(rows.filter((row) => row.verdict === 'CLEAR_PASS').map((row) => row.question));
  if (answered.size === 0) {
    const why = rows[0]?.note.slice(0, 200) ?? '';
    return makeEntry(compiled, place.step, 'unclear', `the model could not tell: ${why}`);
  }
  return makeEntry(
    compiled,
    place.step,
    'satisfied',
    `${answered.size} of ${rubric.length} questions clearly answered yes`,
  );
}
