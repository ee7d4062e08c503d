import { checklistText } from '../../prompting/critical-checklist.ts';

/** Raise with every change of the words below. */
export const JUDGE_PROMPT_VERSION = 'judge-2';

/** How to find the critical step; part of the combined prompt at standard depth, and of the judge's own protocols. */
const STEP_PART = `## The critical step
The critical step is the first step, of an agent, a tool, the platform or a user, that was wrong and that nothing later
made good: with everything before it as it was and this one step right, the run would probably have reached its goal.
There is at most one. To find it:
1. Walk forward from the first span to the first step that is wrong.
2. Look ahead from there. If it was corrected, retried with success, or overtaken before it did harm, it was recovered:
   walk on.
3. The first wrong step that nothing later makes good is the critical step. Where two candidates hold, it is the earlier.
What to weigh:
- It is where the run was lost: neither where that came to light, nor the ugliest error. A wrong final answer is seldom
  it; find the reading, plan or order that made the answer wrong. A step that did not cost the goal is not critical, even
  if nobody corrected it.
- Where the agent proposes and waits for consent, the act that follows is the step, not the proposal. Where agents work
  for one another, it is the first decision that others then act on: the order that drops a condition, the note that takes
  a part for the whole, the page left unopened. Of a thought and the order or call that carries it out, take the latter.
- Of repeats of one fault take the first; of several independent losses, the first that alone would have lost the run.
- A block, a filter, a time limit or a limit of turns at the end is critical only if the run was then on its way to the
  goal. If it had gone astray by then (wrong source, incomplete data, fruitless repeats), the step that led it astray is.
- Among several agents take the one that made the fault, not the one that passed it on in good faith, unless checking it
  was that one's task.
- A user is not at fault for wanting something else. But where @goal states what the user was to ask for, and the
  user's own message departs from it so that the goal is lost, that message is the critical step.
- Of an error outside the agent's power ask whether a sensible agent could have got round it. If so and it did not try,
  its reaction may be the critical step; if not, the error is.
- Where @turn lines divide the run, each turn has its own goal: the critical step is that of the first turn whose goal
  was lost.`;

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
export const KNOWN_FAILED = `This run is known to have failed its task. Name the step that decided it, however
small it looks. If nothing that you see is wrong, give the likeliest step with category inconclusive and confidence low, or
an empty list if no step can be named.`;
