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
      'the agent had understood the goal',
      'the information, tools and permissions for the right action were at hand',
      'a required action was left out or done in the wrong order, or an action was added that nobody asked for',
    ],
    boundary:
      'Right goal, wrong execution. If the goal itself was wrong, it is intent-plan-misalignment; if a false belief about data led to it, misinterpretation or invention.',
  },
  {
    id: 'invention',
    name: 'Invention of New Information',
    criteria: [
      'one claim or value can be pointed at',
      'nothing before that step supports it: no message, no tool result, no instruction',
      'an action or a conclusion was built on it',
    ],
    boundary: 'There is no source at all. If a source exists and was read wrongly, it is misinterpretation.',
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
      'that reading contradicts it, leaves out what matters, or miscounts it',
    ],
    boundary: 'A source exists and was misread. Without a source it is invention.',
  },
  {
    id: 'intent-plan-misalignment',
    name: 'Intent–Plan Misalignment',
    criteria: [
      'the agent pursued another goal than the user asked for, or broke a key condition of the request',
      'this came from misunderstanding the request',
      'neither missing information, nor an error, nor a block explains it',
    ],
    boundary:
      'The information was there and was misunderstood. If it was missing everywhere, it is underspecified-intent.',
  },
  {
    id: 'underspecified-intent',
    name: 'Underspecified User Intent',
    criteria: [
      'a datum that the action needs occurs nowhere before that step',
      'no tool at hand could have supplied it',
      'the agent went ahead without it, or did not ask for it',
    ],
    boundary:
      'Missing, not misread. If the agent put in a value of its own making and acted on it, prefer invention.',
  },
  {
    id: 'unsupported-intent',
    name: 'Intent Not Supported',
    criteria: [
      'the request needs a capability that none of the available tools has',
      'it is not a matter of infrastructure or permission',
    ],
    boundary:
      'The tool does not exist. If it exists and failed it is system-failure; if it refused, guardrail.',
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
      'a tool or service was called, or had to be called',
      'there is an explicit sign of outage, lost connection, time-out, or exhausted capacity',
      'the arguments were not the cause',
    ],
    boundary: 'The callee failed. If the caller sent rubbish it is invalid-invocation.',
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
