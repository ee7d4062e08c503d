import type { CriticalCategory } from '../vocabulary/critical-categories.ts';

export interface CategoryChecklist {
  readonly id: CriticalCategory;
  readonly name: string;
  /** The category applies only when every one of them holds. */
  readonly criteria: readonly string[];
  /** What it is easily taken for, and what tells them apart. */
  readonly boundary: string | null;
}

/** Names and conditions after the AgentRx paper (arXiv 2602.02475, failure taxonomy); the wording is ours. */
export const CHECKLIST: readonly CategoryChecklist[] = [
  {
    id: 'plan-adherence',
    name: 'Instruction/Plan Adherence Failure',
    criteria: [
      'an explicit instruction stood in writing and fitted the goal: a rule of the policy, a step of the plan, an order from another agent',
      'the agent had all it needed to follow it',
      'it did not carry it out, did something else instead, or left out a demanded step (a confirmation, a check, an ordered search)',
    ],
    boundary:
      'A stated rule or order was not followed. If none was broken but the plan does not serve the request, it is intent-plan-misalignment; if a false belief about data led to it, misinterpretation or invention.',
  },
  {
    id: 'invention',
    name: 'Invention of New Information',
    criteria: [
      'one claim or value can be pointed at',
      'nothing before that step supports it: no message, no tool result, no instruction',
      'an action or a conclusion was built on it',
    ],
    boundary:
      'There is no source at all. If a source exists and was read wrongly or only in part, it is misinterpretation.',
  },
  {
    id: 'invalid-invocation',
    name: 'Invalid Invocation',
    criteria: [
      'one concrete call was malformed: unknown tool, wrong, missing or ill-typed arguments, code that cannot run',
      'the runtime answered with a parse, validation or schema error',
      'the cause was neither the infrastructure nor an access block',
    ],
    boundary:
      'The caller produced the error. If the callee was down it is system-failure; if it said no, guardrail.',
  },
  {
    id: 'misinterpretation',
    name: 'Misinterpretation of Tool Output / Handoff',
    criteria: [
      'the relevant tool output, or message of another agent, was there',
      'the agent stated or acted on a reading of it',
      'that reading contradicts it, miscounts it, leaves out what matters, or takes partial or unchecked output for the whole (calls the request satisfied on incomplete data)',
    ],
    boundary: 'A source exists and was misread or trusted too far. Without a source it is invention.',
  },
  {
    id: 'intent-plan-misalignment',
    name: 'Intent–Plan Misalignment',
    criteria: [
      'the request, as it stood in the run, was clear enough',
      'the plan, order or action does not serve it: a condition or part is dropped, another thing is sought, or the order of actions shuts out a later one',
      'neither missing information, nor an error, nor a block explains it',
    ],
    boundary:
      'The plan is wrong although no stated rule was broken. If one was, it is plan-adherence; if the request itself was open or contradictory, underspecified-intent.',
  },
  {
    id: 'underspecified-intent',
    name: 'Underspecified User Intent',
    criteria: [
      'what the user asked or said leaves open, changes or contradicts what the goal needs: a datum is missing, a choice is open, the user decides on a wrong assumption',
      'no tool at hand could have settled it',
      'the run went on without its being settled',
    ],
    boundary:
      "The fault lies in what was asked, also where the user's own message departs from the goal. If the agent put in a value of its own making and acted on it, prefer invention.",
  },
  {
    id: 'unsupported-intent',
    name: 'Intent Not Supported',
    criteria: [
      'what the user or another agent asked for needs a capability or action that none of the tools has, or that the rules exclude altogether',
      'it is not a matter of infrastructure or permission',
    ],
    boundary:
      'It cannot be done there at all, a part given to an agent without the tools for it included. If the tool exists and failed it is system-failure; if it refused, guardrail.',
  },
  {
    id: 'guardrail',
    name: 'Guardrails Triggered',
    criteria: [
      'there was an explicit block: a refusal by policy, CAPTCHA, log-in wall, 403, paywall, robots rule, content filter',
      'the plan would have worked had it not been blocked',
    ],
    boundary:
      'Somebody said no on purpose. A fault of the call is invalid-invocation, an outage system-failure.',
  },
  {
    id: 'system-failure',
    name: 'System Failure',
    criteria: [
      'a tool or service was called, or had to be called, or the run itself broke off',
      'there is an explicit sign of outage, lost connection, time-out, expired session or exhausted capacity, or the run stops without any reason in it',
      'the arguments were not the cause',
    ],
    boundary: 'The callee or platform failed. If the caller sent rubbish it is invalid-invocation.',
  },
  {
    id: 'inconclusive',
    name: 'Inconclusive',
    criteria: ['the run failed at this step, and no other category meets all its criteria'],
    boundary: null,
  },
];

export function checklistText(): string {
  return CHECKLIST.map(({ id, name, criteria, boundary }) => {
    const lines = criteria.map((criterion) => `  - ${criterion}`).join('\n');
    return `${id} (${name}): all of\n${lines}${boundary === null ? '' : `\n  Boundary: ${boundary}`}`;
  }).join('\n');
}
