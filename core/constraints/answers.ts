import * as z from 'zod';
import type { JsonObject } from '../base/json.ts';
import { CONSTRAINT_KINDS, type ExampleTurn } from '../diagnosis/constraint.ts';
import { writeAnswerSchema } from '../model/answer-schema.ts';
import { CRITICAL_CATEGORIES } from '../vocabulary/critical-categories.ts';

/** Shapes a model answers in. Closed, all required, static; items are read one by one, so that one bad item costs itself. */

const common = {
  name: z.string(),
  hint: z.string(),
  kind: z.enum(CONSTRAINT_KINDS),
  targets: z.array(z.enum(CRITICAL_CATEGORIES)),
  severity: z.enum(['low', 'medium', 'high']),
  each: z.enum(['call', 'step', 'session']),
  guard: z.string(),
  assertion: z.string(),
  rubric: z.array(z.string()),
};

const turn = z.object({
  who: z.enum(['user', 'assistant', 'call', 'result']),
  name: z.string(),
  text: z.string(),
});
type Turn = z.infer<typeof turn>;

export const globalItem = z.object({ ...common, violating: z.array(turn), meeting: z.array(turn) });
export const dynamicItem = z.object({ ...common, spans: z.array(z.string()) });
export type GlobalItem = z.infer<typeof globalItem>;
export type DynamicItem = z.infer<typeof dynamicItem>;

export const rubricRow = z.object({
  item: z.string(),
  question: z.number(),
  verdict: z.enum(['CLEAR_PASS', 'CLEAR_FAIL', 'UNCLEAR']),
  span: z.string(),
  quote: z.string(),
  note: z.string(),
});
export type RubricRow = z.infer<typeof rubricRow>;

export const GLOBAL_ANSWER = writeAnswerSchema(
  'agent_constraints',
  'Checks that every run of the agent must meet.',
  z.object({ constraints: z.array(globalItem) }),
);
export const DYNAMIC_ANSWER = writeAnswerSchema(
  'run_constraints',
  'Checks for one run.',
  z.object({ constraints: z.array(dynamicItem) }),
);
export const RUBRIC_ANSWER = writeAnswerSchema(
  'rubric_rows',
  'One row for each question of each item.',
  z.object({ rows: z.array(rubricRow) }),
);

/** What askForJson must find; what stands in the list is looked at item by item. */
export const constraintList = z.object({ constraints: z.array(z.unknown()) });
export const rowList = z.object({ rows: z.array(z.unknown()) });

/** In the form of `constraintSchema`, not yet checked by it. */
export function toRawConstraint(item: DynamicItem | GlobalItem): unknown {
  const { name, hint, kind, targets, severity, each, guard, assertion, rubric } = item;
  const examples =
    'meeting' in item
      ? { pass: toExamples(item.meeting), fail: toExamples(item.violating) }
      : { pass: [], fail: [] };
  return {
    name,
    hint: hint.slice(0, 400),
    kind,
    targets: [...new Set(targets)].slice(0, 3),
    severity,
    each,
    guard: guard.trim() === '' ? 'true' : guard,
    assertion: assertion.trim() === '' ? null : assertion,
    rubric: assertion.trim() === '' ? rubric : [],
    examples,
  };
}

function toExamples(turns: readonly Turn[]): { readonly turns: readonly ExampleTurn[] }[] {
  const made: ExampleTurn[] = [];
  for (const { who, name, text } of turns) {
    const last = made.at(-1);
    if (who === 'user') made.push({ user: text });
    else if (who === 'assistant') made.push({ assistant: text });
    else if (who === 'call') made.push({ call: name, args: readArguments(text) });
    else if (last !== undefined && 'call' in last && last.result === undefined) last.result = text;
  }
  return made.length === 0 ? [] : [{ turns: made }];
}

const argumentsSchema = z.record(z.string(), z.json());

/** No arguments when the text is not a JSON object: the example then goes wrong by itself and says so. */
function readArguments(text: string): JsonObject {
  try {
    const read = argumentsSchema.safeParse(JSON.parse(text));
    return read.success ? read.data : {};
  } catch {
    return {};
  }
}
