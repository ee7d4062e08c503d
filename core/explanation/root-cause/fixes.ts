import type { Failure, RootCause } from '../../diagnosis/schema.ts';
import type { CategoryId } from '../../vocabulary/taxonomy.ts';

export interface Fix {
  readonly fixType: RootCause['fix_type'];
  readonly text: string;
}

const prompt = (text: string): Fix => ({ fixType: 'SYSTEM_PROMPT_FIX', text });
const tool = (text: string): Fix => ({ fixType: 'TOOL_DESCRIPTION_FIX', text });
const other = (text: string): Fix => ({ fixType: 'OTHERS', text });

/** What usually helps against a kind of fault: the recommendation when no model wrote one for the case at hand. */
const FIXES: Readonly<Record<CategoryId, Fix>> = {
  'execution-error-category-authentication': other(
    'Give the tool a valid credential with the permissions it needs, renew it before it expires, and let the tool say which permission was missing.',
  ),
  'execution-error-category-resource-not-found': tool(
    'Describe in the tool where valid ids come from and which call lists them, and let the error name the nearest existing ones.',
  ),
  'execution-error-category-service-errors': other(
    'Retry the call with a growing pause, and tell the agent what to do, and what to say to the user, when the service stays down.',
  ),
  'execution-error-category-rate-limiting': other(
    'Slow down and retry with jitter as the answer asks, raise the quota, or share results between calls.',
  ),
  'execution-error-category-formatting': other(
    'Produce the output through a schema or a serialiser and parse it before it is used; raise the output limit when it was cut.',
  ),
  'execution-error-category-timeout': other(
    'Make the unit of work smaller or the limit longer, and return partial results instead of none.',
  ),
  'execution-error-category-resource-exhaustion': other(
    'Bound what one call may load or produce, and give the task the memory, disk or time that it was short of.',
  ),
  'execution-error-category-environment': other(
    'Check variables, configuration, files and permissions at start-up, and refuse to start with a message that names what is missing.',
  ),
  'execution-error-category-tool-schema': tool(
    "State each parameter's type, unit, format and allowed values in the tool's schema, add an example call, and validate before the call is made.",
  ),
  'task-instruction-category-non-compliance': prompt(
    'Move the rule that was broken into the instructions as a numbered step with its condition, and make the tool refuse the action while the condition is not met.',
  ),
  'task-instruction-category-problem-id': prompt(
    'Describe in the instructions how tasks of this kind are solved, with one worked example.',
  ),
  'incorrect-actions-category-tool-selection': tool(
    'Say in the descriptions of both tools when each is to be used and when the other one is.',
  ),
  'incorrect-actions-category-poor-information-retrieval': tool(
    'Describe which queries the tool answers well, with examples, and let it say when a query was too wide or matched nothing.',
  ),
  'incorrect-actions-category-clarification': prompt(
    'List the facts that must be known before each consequential action, and have the agent ask for the missing ones first.',
  ),
  'incorrect-actions-category-inappropriate-info-request': prompt(
    'Have the agent look up what its tools can supply before it asks the user, and name those tools.',
  ),
  'context-handling-error-category-context-handling-failures': other(
    'Keep the goal, the confirmed facts and the state of the task in a summary that survives when older turns are dropped.',
  ),
  'hallucination-category-hall-capabilities': prompt(
    'Tell the agent that only the listed tools exist, and what to say when a request needs another one.',
  ),
  'hallucination-category-hall-misunderstand': tool(
    'Return results with named fields and units, and mark empty, partial or ambiguous results as such.',
  ),
  'hallucination-category-hall-usage': prompt(
    'Have the agent claim an action only when a tool result in the conversation shows it.',
  ),
  'hallucination-category-hall-history': prompt(
    'Have the agent rely on statements that stand in the conversation, and quote them when it acts on them.',
  ),
  'hallucination-category-hall-params': prompt(
    'Have the agent take argument values from messages and tool results only, and ask or look up when one is missing.',
  ),
  'hallucination-category-fabricate-tool-outputs': prompt(
    'Forbid the agent to write tool results itself, and drop such text before it enters the conversation.',
  ),
  'repetitive-behavior-category-repetition-tool': other(
    'Return an explicit hint when the same call comes again, and stop the loop after a small number of equal calls.',
  ),
  'repetitive-behavior-category-repetition-info': prompt(
    'Have the agent look through the conversation for an answer already given before it asks the user.',
  ),
  'repetitive-behavior-category-step-repetition': other(
    'Track progress outside the model, and change the plan or hand over to a person when a round brings nothing new.',
  ),
  'orchestration-related-errors-category-reasoning-mismatch': prompt(
    'Have the agent name the next action and its arguments right before it acts, and check that the call matches.',
  ),
  'orchestration-related-errors-category-goal-deviation': prompt(
    "Repeat the user's goal and its conditions before each consequential step, and have the agent check the step against them.",
  ),
  'orchestration-related-errors-category-premature-termination': prompt(
    'Give the agent a list of what must be done before it may end, and have it go through the list first.',
  ),
  'orchestration-related-errors-category-unaware-termination': prompt(
    'State when the task is done and what to do then, and stop the loop when that state is reached.',
  ),
  'llm-output-category-nonsensical': other(
    'Check outputs for placeholders, special tokens and endless repetition before they are used, and ask again when found.',
  ),
  'configuration-mismatch-category-tool-definition': tool(
    "Bring the tool's description and its behaviour into agreement, and test the one against the other.",
  ),
  'coding-use-case-specific-failure-types-category-edge-case-oversights': prompt(
    'Have the agent list boundary and unusual inputs first, and run the code on them before it reports success.',
  ),
  'coding-use-case-specific-failure-types-category-dependency-issues': other(
    'Tell the agent which packages and versions are installed, and run the code in that environment before it is accepted.',
  ),
  other: other('Look at the evidence; no general remedy is known for this kind of fault.'),
};

/** A check knows more than its category says: which of several kinds of fault in it this was. */
const FIXES_OF_CHECKS: Readonly<Record<string, Fix>> = {
  blocked: other(
    'Find what refused the run (a content filter, a robot test, a login) and give the agent a way that is admitted: a service with an interface, a permission, a milder prompt. Have it change its way after the first refusal.',
  ),
  'output-cut': other(
    'Raise the output limit of this call or ask for the answer in parts, and treat an answer that stopped at the limit as an error, not as a result.',
  ),
  'failing-code': other(
    'Return the error to the author of the code and let nobody build on it before it has run without one; say which files, packages and functions exist where it runs.',
  ),
  'goal-lost-at-start': other(
    "Hand the user's goal over word for word, beside whatever instructions are added to it.",
  ),
};

/** Checks that have a remedy of their own. */
export const CHECKS_WITH_FIX: readonly string[] = Object.keys(FIXES_OF_CHECKS);

/**
 * The usual remedy for what the surest finding of a failure found: that of the check, else that of the category;
 * categories of a custom taxonomy get the general one.
 */
export function usualFix({ category, source }: Failure): Fix {
  const [id] = category;
  const ref = source[0]?.kind === 'check' ? source[0].ref : '';
  if (Object.hasOwn(FIXES_OF_CHECKS, ref)) return FIXES_OF_CHECKS[ref] ?? FIXES.other;
  return id !== undefined && Object.hasOwn(FIXES, id) ? FIXES[id as CategoryId] : FIXES.other;
}
