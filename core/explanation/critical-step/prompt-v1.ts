import { checklistText } from '../../prompting/critical-checklist.ts';

/** Raise with every change of the words below. */
export const JUDGE_PROMPT_VERSION = 'judge-1';

/** How to find the critical step; part of the combined prompt at standard depth, and of the judge's own protocols. */
const STEP_PART = `## The critical step
The critical step is the first failure, by any agent, tool or platform, from which the run never recovers. There is
at most one. Find it so:
1. Go forward from the first span. Stop at the first one that is wrong.
2. Look ahead: was it put right, retried with success, or made irrelevant before it did harm? Then it was recovered;
   go on forward from there.
3. The first failure that nothing later puts right is the critical step.
Notes on this rule:
- It is where the run was lost, not where the loss became visible, and not the worst-looking error.
- A wrong remark that could still be taken back is not yet critical. The action or final answer that makes it
  irrevocable is.
- A mistaken thought and the act that carries it out in the next span are one fault: name the span of the act, unless
  the thought alone already closed every other way.
- In a run with several agents, take the one whose own output is wrong, not the one that passed it on in good faith.
- A user is not at fault for wanting something else. But where @goal states what the user was to ask for, and the
  user's own message departs from it so that the goal is lost, that message is the critical step.
- When the run just stops (blocked, filtered, cut off, out of turns), the critical step is where it stopped, unless
  an earlier unrecovered failure had already decided it.
- When an error is outside the agent's power, ask whether a sensible agent could have got round it. If so and it did
  not try, its reaction may be the critical step; if not, the error is.`;

const CATEGORY_PART = `### Its category
Exactly one. Check the criteria one by one and choose the category whose criteria all hold. If several do, take the
one that explains why this step, and not another, decided the run.
${checklistText()}`;

const EVIDENCE_PART = `### Evidence handed to you
You may be given findings of automatic checks and violations of constraints. They are pointers, not verdicts: some
are false alarms, and the critical step is often one that none of them names. Overrule them whenever the run says
otherwise.`;

/** The whole, for judging in one answer; the parts, for the protocols that take two. */
export const JUDGE_INSTRUCTIONS = [STEP_PART, CATEGORY_PART, EVIDENCE_PART].join('\n\n');
export const STEP_INSTRUCTIONS = [STEP_PART, EVIDENCE_PART].join('\n\n');
export const CATEGORY_INSTRUCTIONS = [CATEGORY_PART, EVIDENCE_PART].join('\n\n');

/** Said when production sessions are judged: most are healthy. */
export const HEALTHY_POSSIBLE = `If every failure was recovered, or the run is healthy, there is no critical step: give an empty list.`;
/** Said when the session is known to have failed (benchmarks). */
export const KNOWN_FAILED = `This run is known to have failed its task. Name the step that decided it, however small it looks.`;
