import type { PromptText } from '../model/port.ts';
import { CHECKLIST } from '../prompting/critical-checklist.ts';
import { RUN_NOTATION } from '../prompting/notation.ts';
import { escapeText } from '../prompting/render-text.ts';
import { breakFences, fenceUntrusted, onOneLine, UNTRUSTED_NOTICE } from '../prompting/untrusted.ts';
import { LANGUAGE_CARD } from './language-card.ts';

/** Raise with every change of the words below, of the language card or of the functions. */
export const CONSTRAINTS_PROMPT_VERSION = 'constraints-3';
export const RUBRICS_PROMPT_VERSION = 'rubrics-2';

const TARGETS = `## What a violation may mean (targets, one to three ids)
${CHECKLIST.map(({ id, name, boundary }) => `- ${id}: ${name}. ${firstSentence(boundary ?? 'Nothing else fits.')}`).join('\n')}`;

/** The boundary of a category begins with what it is in a word; its criteria make sense only together. */
function firstSentence(text: string): string {
  return text.slice(0, text.indexOf('.') + 1);
}

const ALREADY = `## Not needed
Fixed checks already look for: arguments that break a tool's schema, tools that do not exist, errors in results, missing
results, cut output, repeated calls and questions, values nobody gave, wrong counts. Do not write these again.`;

const FIELDS = `## Each check
- name: lower-case words joined by dashes, unique.
- hint: one sentence for the person who reads that it was violated.
- kind: schema, protocol (what must come with what), postcondition (how a result relates to what was asked), provenance
  (where a value must come from), temporal (order), capability (what can be done at all).
- severity: high when a violation by itself ruins the task, else medium or low.
- each, guard, assertion: expressions as above. When only reading can decide, leave assertion empty and give rubric: one
  to three questions that a careful reader of that place answers with yes when all is well. Otherwise rubric is empty.
A program asks the checks on many runs, most of them good. A check that fires on good runs is worse than none: make guards
narrow, and leave out rules with exceptions that you cannot express.`;

const CONSTANT = `You write checks for recorded runs of AI agents.

${UNTRUSTED_NOTICE}

${LANGUAGE_CARD}

${TARGETS}

${ALREADY}

${FIELDS}`;

const GLOBAL_TASK = `## Your task
Write up to 15 checks that every run of this agent must meet, from its instructions and tools alone; the most decisive
rules first. You see no run. Each check stands for one rule that the instructions or a tool's definition states. Give with
each check two tiny runs: one that violates it and one that meets it (its guard true in both). A turn has who (user,
assistant, call, result), name (the tool of a call, else empty) and text (what was said; for a call its arguments as
JSON; for a result what the tool returned).
Answer with one JSON object: {"constraints":[{"name":"…","hint":"…","kind":"…","targets":["…"],"severity":"…","each":"…",
"guard":"…","assertion":"…","rubric":[],"violating":[{"who":"call","name":"…","text":"{}"}],"meeting":[…]}]}`;

const DYNAMIC_TASK = `## Your task
Write up to 10 checks for this one run: what this request, these instructions and the results so far demand of the spans
that follow. Useful are: conditions the user set (amounts, exclusions, order, format), ids and values that must be carried
over from one result to a later call, totals and counts that the answer must agree with, steps that must come before
others. Derive each check from the goal, the instructions or an earlier span, never from the span it is about: a check
that describes what the agent did finds nothing. "spans" names the spans it is asked at; empty means wherever the guard
is true. An empty list is a good answer when the run offers nothing to check.
Answer with one JSON object: {"constraints":[{"name":"…","hint":"…","kind":"…","targets":["…"],"severity":"…","each":"…",
"guard":"…","assertion":"…","rubric":[],"spans":["s12"]}]}`;

/** What is known of the agent apart from any run. */
export interface AgentText {
  readonly policy: string;
  readonly tools: string;
}

function agentPart({ policy, tools }: AgentText): string {
  return [
    fenceUntrusted('INSTRUCTIONS', policy === '' ? '(none recorded)' : escapeText(policy)),
    fenceUntrusted('TOOLS', tools === '' ? '(none recorded)' : escapeText(tools)),
  ].join('\n\n');
}

/** Depends on tools, policy and version only, so the request's hash is the cache key of the agent's constraints. */
export function globalPrompt(agent: AgentText): readonly PromptText[] {
  return [
    { text: `${CONSTANT}\n\n${GLOBAL_TASK}\n\n`, cache: true },
    { text: `${agentPart(agent)}\n\nWrite the checks as JSON.` },
  ];
}

export interface DynamicPromptInput {
  readonly agent: AgentText;
  readonly goal: string;
  /** Name and hint of checks that exist. */
  readonly existing: readonly string[];
  /** The run as far as it is shown, in the parts it grew by from prompt to prompt; the last is asked about. */
  readonly parts: readonly string[];
  /** Same for all windows of a run: closing mark of the run's fence. */
  readonly mark: string;
  /** Which spans are asked about. */
  readonly about: string;
}

/**
 * Constant, agent, the run part by part, question: each prompt of a run begins as the one before it, at the same
 * boundaries. Marked are the constant, the agent and the last two parts: what was new in one prompt is written to
 * the cache there, and read from it in the next. Bedrock takes four marks.
 */
export function dynamicPrompt(input: DynamicPromptInput): readonly PromptText[] {
  const existing = input.existing.length === 0 ? '(none)' : input.existing.map(onOneLine).join('\n');
  const head = [
    agentPart(input.agent),
    fenceUntrusted('GOAL', input.goal === '' ? '(not stated apart from the run)' : escapeText(input.goal)),
    fenceUntrusted('CHECKS THAT EXIST', existing),
    `<<<BEGIN RUN ${input.mark}>>>\n`,
  ].join('\n\n');
  return [
    { text: `${CONSTANT}\n\n${RUN_NOTATION}\n\n${DYNAMIC_TASK}\n\n`, cache: true },
    { text: head, cache: true },
    ...input.parts.map((text, at) => ({ text: breakFences(text), cache: at >= input.parts.length - 2 })),
    { text: `<<<END RUN ${input.mark}>>>\n\n${input.about}\nWrite the checks as JSON.` },
  ];
}

const REPAIR_TASK = `## Your task
You wrote the checks below, and the compiler refused them for the reasons given. Write those that can be mended, under the
same names, and leave out the others. Answer with one JSON object of the form {"constraints":[{"name":"…","hint":"…",
"kind":"…","targets":["…"],"severity":"…","each":"…","guard":"…","assertion":"…","rubric":[],"spans":[]}]}`;

/** Needs no run and no agent: what is wrong is the language. */
export function constraintRepairPrompt(refused: readonly string[]): readonly PromptText[] {
  return [
    { text: `${CONSTANT}\n\n${REPAIR_TASK}\n\n`, cache: true },
    {
      text: `${fenceUntrusted('REFUSED', refused.join('\n'))}\n\nWrite the mended checks as JSON.`,
    },
  ];
}

const RUBRIC_TASK = `You check places in the recorded run of an AI agent against questions.

${UNTRUSTED_NOTICE}

${RUN_NOTATION}
Text left out is marked.

Each item below the run has an id, the span it is about, and numbered questions. A question is answered for that span as
things stood at that moment, from what the run shows.
- CLEAR_PASS: the run shows that the answer is yes.
- CLEAR_FAIL: the run shows that the answer is no, and you can quote the words that show it.
- UNCLEAR: anything else: it does not apply, the text that decides it is left out, or a reading in the agent's favour
  remains. When in doubt it is UNCLEAR; it costs nothing.
Judge each question by itself. Do not let one failure colour the others.
Answer with one JSON object and a row for each question of each item:
{"rows":[{"item":"i1","question":1,"verdict":"CLEAR_PASS|CLEAR_FAIL|UNCLEAR","span":"s12","quote":"…","note":"…"}]}
"span" is where the quoted words stand; "quote" is copied letter for letter, at most 200 characters, and empty unless the
verdict is CLEAR_FAIL; "note" says in one sentence what decides it.`;

export function rubricPrompt(run: string, items: string): readonly PromptText[] {
  return [
    { text: `${RUBRIC_TASK}\n\n`, cache: true },
    {
      text: `${fenceUntrusted('RUN', run)}\n\n${fenceUntrusted('ITEMS', items)}\n\nAnswer every question as JSON.`,
    },
  ];
}
