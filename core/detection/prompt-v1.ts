import type { PromptText } from '../model/port.ts';
import { RUN_NOTATION } from '../prompting/notation.ts';
import { fenceUntrusted, UNTRUSTED_NOTICE } from '../prompting/untrusted.ts';
import type { CategoryDefinition } from '../vocabulary/taxonomy.ts';

/** Raise with every change of the words below: it is part of the cache key and of the provenance. */
export const DETECTION_PROMPT_VERSION = 'detect-1';

const TASK = `You examine the recorded run of an AI agent and list every place where it went wrong.

${UNTRUSTED_NOTICE}

${RUN_NOTATION}
Text that was left out is marked as cut. What you cannot see is unknown: absence from the excerpt is no proof that
something was not said or done.

## What to report
Report a span when what the agent, a tool or the platform did there is wrong by one of the categories below, judged
by what was known at that moment.
- Report the span where the fault happened, not the later ones where it merely shows. If a later span commits a
  fault of its own, report that one too.
- A tool error is a failure of the span that carries the error, also when the agent coped with it afterwards. If the
  agent's own arguments caused the error, the category says so.
- A wrong statement, a skipped instruction or a wrong argument is a failure without any error message. Compare
  claims with the tool results, arguments with what the user said, actions with the agent's instructions, and the
  end of the run with the goal.
- One span may have several categories when they are separate faults. Do not give the same fault two names: take the
  most specific one that fits.
- Behaviour that is merely clumsy, slow or not how you would have done it is not a failure. Nor is a user who changes
  their mind, a justified refusal, or a retry after a passing error.
- Many runs have no failure. An empty list is a good answer when nothing is wrong.

## How to go about it
1. State to yourself the goal, the rules the agent was given and what counts as done.
2. Go through the spans in order and keep account of what is established, by whom.
3. At each span ask: is there an error; does it fit the rules; does it follow from what is known; does it repeat
   something without reason; does it bring the goal nearer.
4. At the last span ask whether the goal was reached, and whether the run says so truthfully.
5. Before you write a finding down, look for what would refute it. Keep it only if it stands.

## Confidence
- high: the span itself proves it; a colleague who reads the quote would agree at once.
- medium: it follows from the span together with others that you can name.
- low: it is likely, but a reading in the agent's favour remains.

## Evidence
"quote" is copied letter for letter from the reported span, at most 200 characters, without the id. "why" says in
one sentence what the quote shows, and names the other spans it rests on by their ids in square brackets.`;

const ANSWER = `## Answer
Answer with one JSON object and nothing around it:
{"failures":[{"span":"s12","category":"<id from the list>","confidence":"low|medium|high","quote":"…","why":"…"}]}
One entry for each pair of span and category. Use category ids exactly as listed. If nothing is wrong: {"failures":[]}`;

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
  return [TASK, `## Categories\n${taxonomyList(taxonomy)}`, ...house, ANSWER].join('\n\n');
}

export function detectionPrompt(instructions: string, trace: string): readonly PromptText[] {
  return [
    { text: `${instructions}\n\n`, cache: true },
    { text: `${fenceUntrusted('RUN', trace)}\n\nList the failures of this run as JSON.` },
  ];
}
