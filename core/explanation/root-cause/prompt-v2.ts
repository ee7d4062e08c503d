import type { PromptText } from '../../model/port.ts';
import { RUN_NOTATION } from '../../prompting/notation.ts';
import { fenceUntrusted, UNTRUSTED_NOTICE } from '../../prompting/untrusted.ts';
import { HEALTHY_POSSIBLE, JUDGE_INSTRUCTIONS, KNOWN_FAILED } from '../critical-step/prompt-v2.ts';

/** Raise with every change of the words below (those of the judge have their own version). */
export const ROOT_CAUSE_PROMPT_VERSION = 'explain-2';

const TASK = `You examine the recorded run of an AI agent, together with failures that were found in it. You decide which step
lost the run, and explain why each failure happened and what would prevent it.

${UNTRUSTED_NOTICE}

${RUN_NOTATION}
Text that was left out is marked as cut; what you cannot see is unknown, not absent.

${JUDGE_INSTRUCTIONS}

## Root causes
Give one entry for each line of the list of failures, in its order, and one more for the critical step if it is not in
the list. A span may have several failures: each has its own entry, told apart by "category".
- "failure": the id of the failing span; "category": the category id of that line, for the critical step its own.
- "location": the span where the cause lies. A cause comes before its effect, or is the failing span itself. Follow
  the chain back to the first span where something other than the earlier events must have been done differently,
  and stop there.
- "causality": PRIMARY_FAILURE when this failure set things going, or would have happened without the others;
  SECONDARY_FAILURE when it follows from a primary one; TERTIARY_FAILURE when it follows from a secondary one;
  UNCLEAR when the run does not show it. The failure at the critical step is a PRIMARY_FAILURE.
- "impact": what came of it, one or more of TASK_TERMINATION (the run ended there), QUALITY_DEGRADATION (a worse
  result), INCORRECT_PATH (later steps went the wrong way), STATE_CORRUPTION (wrong data was written somewhere),
  NO_PROPAGATION (nothing came of it), UNCLEAR.
- "timing": when the run itself took notice. IMMEDIATELY_AT_OCCURRENCE, SEVERAL_STEPS_LATER, ONLY_AT_TASK_END, or
  SILENT_UNDETECTED when it never did.
- "explanation": what happened, why, and with what effect, in two to four sentences that name spans by their ids
  in square brackets. Say what is shown and what you infer.
- "fixType": SYSTEM_PROMPT_FIX when a change of the agent's instructions prevents it, TOOL_DESCRIPTION_FIX when a
  change of a tool's name, description or parameters does, OTHERS for code, infrastructure, data or anything else.
- "fix": the change itself, concrete enough to be made today: the sentence to add to the instructions, the parameter
  to describe and how, the check or retry to build. It must help with other sessions too, not only this one. Failures
  with the same cure share the same words.

## Completion
"completion": COMPLETE_SUCCESS when the goal was fully reached, PARTIAL_SUCCESS when part of it was, COMPLETE_FAILURE
when the main result is missing or wrong, whatever else came out right, UNKNOWN when the run does not show it.

## Answer
Answer with one JSON object and nothing around it, its keys in this order:
{"analysis":"your walk through the run: each failure and whether it was recovered, at most 200 words",
"criticalSteps":[{"span":"s12","category":"…","confidence":"low|medium|high","reason":"…","evidence":[{"span":"s9","quote":"…","note":"…"}]}],
"rootCauses":[{"failure":"s12","category":"…","location":"s9","causality":"…","impact":["…"],"timing":"…","explanation":"…","fixType":"…","fix":"…"}],
"completion":"…"}
"criticalSteps" holds the critical step first and then up to three other candidates, likeliest first.`;

export interface ExplainPromptInput {
  /** The rendered run, or a part of it. */
  readonly trace: string;
  /** What part of the run `trace` is; `null` for all of it. */
  readonly excerptNote: string | null;
  readonly failures: string;
  /** Findings of checks and constraint violations; empty when there are none. */
  readonly evidence: string;
  /** The critical step, where it was judged apart; empty when it is to be judged here. */
  readonly decided: string;
  readonly assumeFailed: boolean;
}

/** A decided step is taken over: the root causes are to fit it, not to judge it again. */
function closing({ decided, assumeFailed }: { decided: string; assumeFailed: boolean }): readonly string[] {
  if (decided !== '') {
    return [
      fenceUntrusted('DECIDED CRITICAL STEP', decided),
      'The critical step has been judged apart and stands above: take it over as it is.\nAnswer with the JSON object.',
    ];
  }
  return [`${assumeFailed ? KNOWN_FAILED : HEALTHY_POSSIBLE}\nAnswer with the JSON object.`];
}

export function explainPrompt(input: ExplainPromptInput): readonly PromptText[] {
  return [
    { text: `${TASK}\n\n`, cache: true },
    {
      text: [
        ...(input.excerptNote === null ? [] : [input.excerptNote]),
        fenceUntrusted('RUN', input.trace),
        fenceUntrusted('FAILURES', input.failures),
        ...(input.evidence === '' ? [] : [fenceUntrusted('EVIDENCE', input.evidence)]),
        ...closing(input),
      ].join('\n\n'),
    },
  ];
}

export interface CombinePromptInput {
  /** One line a span of the whole run. */
  readonly outline: string;
  /** The answers for each window, as JSON text. */
  readonly windows: readonly string[];
  readonly failures: string;
  readonly evidence: string;
  /** The critical step, where it was judged apart; empty when it is to be judged here. */
  readonly decided: string;
  readonly assumeFailed: boolean;
}

/** The further call that makes one answer of those given for windows of a run too long for one call. */
export function combinePrompt(input: CombinePromptInput): readonly PromptText[] {
  return [
    { text: `${TASK}\n\n`, cache: true },
    {
      text: [
        `This run was too long to be read at once. It was read in windows, and each window's reader answered for its part
without knowing the others. You see an outline of the whole run with one line a span, and those answers. Make one
answer of them for the whole run: of several critical steps keep the first that nothing later puts right; where a
failure has several causes given, keep the one that the outline and the other answers support best; correct what a
reader could not know.`,
        fenceUntrusted('OUTLINE', input.outline),
        ...input.windows.map((text, i) => fenceUntrusted(`ANSWER-${i + 1}`, text)),
        fenceUntrusted('FAILURES', input.failures),
        ...(input.evidence === '' ? [] : [fenceUntrusted('EVIDENCE', input.evidence)]),
        ...closing(input),
      ].join('\n\n'),
    },
  ];
}
