import type { JsonObject } from '../../base/json.ts';
import type { AnswerSchema, PromptText } from '../../model/port.ts';
import { RUN_NOTATION } from '../../prompting/notation.ts';
import { fenceUntrusted, UNTRUSTED_NOTICE } from '../../prompting/untrusted.ts';
import { CRITICAL_CATEGORIES } from '../../vocabulary/critical-categories.ts';
import { CRITICAL_STEPS_SCHEMA } from './answer.ts';
import {
  CATEGORY_INSTRUCTIONS,
  HEALTHY_POSSIBLE,
  JUDGE_INSTRUCTIONS,
  JUDGE_PROMPT_VERSION,
  KNOWN_FAILED,
  STEP_INSTRUCTIONS,
} from './prompt-v2.ts';

/** Raise with every change of the words below; those shared with the combined prompt have their own version. */
export const PROTOCOL_PROMPT_VERSION = `protocol-2+${JUDGE_PROMPT_VERSION}`;

/** What is asked in one call of the judge. */
export type Question = 'step-and-category' | 'step' | 'category-of-step' | 'category' | 'step-of-category';

const OPENING = `You decide which step of the recorded run of an AI agent lost it.

${UNTRUSTED_NOTICE}

${RUN_NOTATION}
Text that was left out is marked; what you cannot see is unknown, not absent. Below the run stand failures that were found
in it, and other evidence.`;

const ENTRY = `{"span":"s12","category":"…","confidence":"low|medium|high","reason":"…","evidence":[{"span":"s9","quote":"…","note":"…"}]}`;
const ANALYSIS = `"analysis":"your walk through the run: each failure and whether it was recovered, at most 150 words"`;

const ASKED: Readonly<Record<Question, string>> = {
  'step-and-category': `${JUDGE_INSTRUCTIONS}

## Answer
Answer with one JSON object: {${ANALYSIS},"criticalSteps":[${ENTRY}]}
"criticalSteps" holds the critical step first and then up to three other candidates, likeliest first.`,
  step: `${STEP_INSTRUCTIONS}

## Answer
Find the step only; its category is decided afterwards. Answer with one JSON object:
{${ANALYSIS},"steps":[{"span":"s12","confidence":"low|medium|high","reason":"…","evidence":[{"span":"s9","quote":"…","note":"…"}]}]}
"steps" holds the critical step first and then up to three other candidates, likeliest first.`,
  'category-of-step': `## The critical step
It is the first wrong step that nothing later made good. Candidates for it have been found, likeliest first; they stand
below the run.

${CATEGORY_INSTRUCTIONS}

## Answer
Give each candidate its category. Answer with one JSON object:
{"categories":[{"span":"s12","category":"…","reason":"which criteria hold, and why no neighbouring category does"}]}`,
  category: `${JUDGE_INSTRUCTIONS}

## Answer
Say first what kind of failure lost the run; the step is named afterwards. Answer with one JSON object:
{${ANALYSIS},"kinds":[{"category":"…","confidence":"low|medium|high","reason":"…"}]}
"kinds" holds the category of the critical step first and then up to three others, likeliest first.`,
  'step-of-category': `${STEP_INSTRUCTIONS}

## Answer
The kind of failure that lost the run has been decided; it stands below the run, the likeliest first. Find the step for it:
the first of that kind that nothing later made good. Use another of the kinds given only where the run shows
no step for the first. Answer with one JSON object: {"criticalSteps":[${ENTRY}]}
"criticalSteps" holds the critical step first and then up to three other candidates, likeliest first.`,
};

export interface JudgePromptInput {
  readonly run: string;
  /** What part of the run is shown; `null` for all of it. */
  readonly note: string | null;
  readonly failures: string;
  readonly evidence: string;
  /** What the stage before decided; `null` in a first stage. */
  readonly decided: string | null;
  readonly assumeFailed: boolean;
}

/** The run stands before the evidence and what was decided before, so that the votes on a question share a prefix. */
export function judgePrompt(question: Question, input: JudgePromptInput): readonly PromptText[] {
  const { run, note, failures, evidence, decided, assumeFailed } = input;
  const shown = [...(note === null ? [] : [note]), fenceUntrusted('RUN', run)].join('\n\n');
  const rest = [
    fenceUntrusted('FAILURES', failures),
    ...(evidence === '' ? [] : [fenceUntrusted('EVIDENCE', evidence)]),
    ...(decided === null ? [] : [fenceUntrusted('DECIDED', decided)]),
    `${assumeFailed ? KNOWN_FAILED : HEALTHY_POSSIBLE}\nAnswer with the JSON object.`,
  ].join('\n\n');
  return [
    { text: `${OPENING}\n\n${ASKED[question]}\n\n`, cache: true },
    { text: `${shown}\n\n`, cache: true },
    { text: rest },
  ];
}

const object = (properties: JsonObject): JsonObject => ({
  type: 'object',
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
});
const list = (items: JsonObject): JsonObject => ({ type: 'array', items });
const text: JsonObject = { type: 'string' };
const confidence: JsonObject = { type: 'string', enum: ['low', 'medium', 'high'] };
const category: JsonObject = { type: 'string', enum: [...CRITICAL_CATEGORIES] };
const evidence = list(object({ span: text, quote: text, note: text }));

const schema = (name: string, description: string, properties: JsonObject): AnswerSchema => ({
  name,
  description,
  schema: object(properties),
});

export const JUDGE_ANSWERS: Readonly<Record<Question, AnswerSchema>> = {
  'step-and-category': schema('critical_steps', 'The critical step of the run.', {
    analysis: text,
    criticalSteps: CRITICAL_STEPS_SCHEMA,
  }),
  step: schema('steps', 'Candidates for the critical step.', {
    analysis: text,
    steps: list(object({ span: text, confidence, reason: text, evidence })),
  }),
  'category-of-step': schema('categories', 'The category of each candidate.', {
    categories: list(object({ span: text, category, reason: text })),
  }),
  category: schema('kinds', 'The kind of failure that lost the run.', {
    analysis: text,
    kinds: list(object({ category, confidence, reason: text })),
  }),
  'step-of-category': schema('critical_steps_of_kind', 'The critical step of the decided kind.', {
    criticalSteps: CRITICAL_STEPS_SCHEMA,
  }),
};
