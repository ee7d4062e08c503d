import type { PromptText } from '../model/port.ts';
import { RUN_NOTATION } from '../prompting/notation.ts';
import { fenceUntrusted, UNTRUSTED_NOTICE } from '../prompting/untrusted.ts';
import type { CategoryDefinition } from '../vocabulary/taxonomy.ts';

/** Raise with every change of the words below: it is part of the cache key and of the provenance. */
export const DETECTION_PROMPT_VERSION = 'detect-2';

const TASK = `You examine the recorded run of an AI agent and list every place where it went wrong.

${UNTRUSTED_NOTICE}

${RUN_NOTATION}
Text that was left out is marked as cut. What you cannot see is unknown: absence from the excerpt is no proof that
something was not said or done. Where @part says that the run goes on after the spans shown, the last of them is not its
end.

## What to report
Report a span when what the agent, a tool, the platform or a user did there is wrong by one of the categories below,
judged by what was known at that moment. Each fault is reported once, at the span where it was committed, under the most
specific category that fits; a later span is reported only for a fault of its own.
- Errors. One that comes from outside (outage, time limit, throttling, lost access) is reported at the span that carries
  it. One that the agent's own call brought about (wrong arguments, unknown tool, code that cannot run) is reported at
  the span that made the call, under the category of that mistake, with the error as its proof. That the agent coped
  with it afterwards changes "recovered", not whether it is reported.
- A refusal by a business rule, or by a state that the agent could not know (taken, closed, over a limit), is an answer
  and no failure. It becomes one where the agent ignores it, or provokes it again with nothing changed.
- A block (content filter, CAPTCHA, log-in wall) and a limit of turns, tokens, cost or time that ends the run are reported
  at the span where they struck.
- Repeats of one fault are one finding: the first of them, with their number in "why".
- Faults without any error: a wrong statement, a skipped instruction, a wrong argument, an unfounded assumption. Compare
  claims with tool results, arguments with what the user said, actions with the agent's instructions, the end with the
  goal.
- A plan or note inside a span counts like any act of it, in the first span too, once others act on it.
- An agent that approves another's wrong result is at fault only where checking it was its task.
- A run that stops without the answer or act it owed is a finding at its last span, unless a limit or an error that you
  report there explains it.
- Clumsy, slow or merely different behaviour is no failure. Nor is a user who changes their mind, a justified refusal, a
  poll that is not yet done, a retry after a passing error, or an error text that a tool was asked to fetch.
- Many runs have no failure: an empty list is then the right answer.

## How to go about it
1. State to yourself the goal, the rules the agent was given and what counts as done. Where @turn lines divide the run,
   each turn has its own goal, and its spans are judged by that.
2. Go through the spans in order and keep account of what is established, by whom. Spans quoted under @earlier belong to
   that account: they say where values come from and what was agreed, and are not to be reported.
3. At each span ask: is there an error; does it fit the rules; does it follow from what is known; does it repeat
   something without reason; does it bring the goal nearer.
4. At the end of the run, or of each turn, ask whether the goal was reached, and whether the agent says so truthfully.
5. Before you write a finding down, look for what would refute it. Keep it only if it stands.

## Recovered
For each finding: "yes" when a later span put it right, or made it irrelevant before it did harm ("recoveredBy" names
that span: the corrected call, the retry that worked, the correction); "no" when nothing up to the end of the run did;
"unknown" when the spans shown do not settle it. Where the run goes on after them, write "no" only if harm was already
done that cannot be undone.

## Confidence
- high: the span itself proves it; a colleague who reads the quote would agree at once.
- medium: it follows from the span together with others that you can name.
- low: it is likely, but a reading in the agent's favour remains.

## Evidence
"quote" is copied letter for letter from the reported span, at most 200 characters, without the id. "why" says in
one sentence what the quote shows, and names other spans it rests on by their ids in square brackets, as in [s12].`;

const ANSWER = `## Answer
Answer with one JSON object and nothing around it:
{"failures":[{"span":"s12","category":"<id from the list>","confidence":"low|medium|high","quote":"…","why":"…",
"recovered":"yes|no|unknown","recoveredBy":"s15"}]}
One entry for each pair of span and category; "recoveredBy" is empty unless recovered is yes. Use category ids exactly as listed. If nothing is wrong: {"failures":[]}`;

/** Which category takes what readers had to guess at; said of categories that the taxonomy has. */
const PLACES: readonly { readonly id: string; readonly takes: string }[] = [
  {
    id: 'execution-error-category-authentication',
    takes: 'a block by a content filter, a CAPTCHA or a log-in wall',
  },
  {
    id: 'execution-error-category-resource-exhaustion',
    takes: 'a limit of turns, tokens or cost that ends the run',
  },
  {
    id: 'execution-error-category-timeout',
    takes: 'a limit of time that ends the run',
  },
  {
    id: 'orchestration-related-errors-category-premature-termination',
    takes: 'a run that stops without the answer or act it owed',
  },
  {
    id: 'coding-use-case-specific-failure-types-category-edge-case-oversights',
    takes: 'generated code that is plainly wrong, where nothing closer fits',
  },
  {
    id: 'hallucination-category-hall-misunderstand',
    takes: 'a wrong fact from memory where the run holds the right one',
  },
  {
    id: 'hallucination-category-hall-history',
    takes: 'a wrong fact from memory that nothing in the run bears out',
  },
];

function placesIn(taxonomy: readonly CategoryDefinition[]): string {
  const known = PLACES.filter(({ id }) => taxonomy.some((category) => category.id === id));
  return known.length === 0
    ? ''
    : `\nWhere it is easily asked which one applies:\n${known.map(({ id, takes }) => `- ${id} takes ${takes}`).join('\n')}`;
}

/** The taxonomy as the prompt lists it: one line a category, under its parent. */
export function taxonomyList(taxonomy: readonly CategoryDefinition[]): string {
  const byParent = new Map<string, string[]>();
  for (const { id, parent, meaning } of taxonomy) {
    const lines = byParent.get(parent) ?? [];
    lines.push(`- ${id}: ${meaning}`);
    byParent.set(parent, lines);
  }
  return [...byParent].map(([parent, lines]) => `${parent}\n${lines.join('\n')}`).join('\n');
}

/**
 * Everything that does not depend on the session: the cacheable prefix.
 *
 * The taxonomy stands in the user message, not in a system text: the Strands Evals authors observed that a model
 * over-applies categories when they stand in the system role.
 */
export function detectionInstructions(
  taxonomy: readonly CategoryDefinition[],
  guidelines: string | undefined,
): string {
  const house =
    guidelines === undefined || guidelines.trim() === ''
      ? []
      : [
          `## Rules of the team that owns this agent\nThey take precedence over the above.\n${guidelines.trim()}`,
        ];
  return [TASK, `## Categories\n${taxonomyList(taxonomy)}${placesIn(taxonomy)}`, ...house, ANSWER].join(
    '\n\n',
  );
}

export function detectionPrompt(instructions: string, trace: string): readonly PromptText[] {
  return [
    { text: `${instructions}\n\n`, cache: true },
    { text: `${fenceUntrusted('RUN', trace)}\n\nList the failures of this run as JSON.` },
  ];
}
