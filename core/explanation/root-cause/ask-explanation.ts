import * as z from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Failure } from '../../diagnosis/schema.ts';
import { ContextOverflowError, ModelOutputInvalidError } from '../../errors/errors.ts';
import { UnusableAnswerError } from '../../model/answer-defect.ts';
import { askForJson } from '../../model/ask-for-json.ts';
import type { CallRecord } from '../../model/call-record.ts';
import type { PromptText } from '../../model/port.ts';
import type { Chunk } from '../../planning/plan.ts';
import { type Shown, showChunk } from '../../planning/show-chunk.ts';
import { writeDecided, writeEvidence, writeFailures } from '../critical-step/handed-evidence.ts';
import { JUDGE_PROMPT_VERSION } from '../critical-step/prompt-v2.ts';
import { EXPLAIN_ANSWER } from './answer.ts';
import type { ExplainInput } from './explain-input.ts';
import { explainPrompt, ROOT_CAUSE_PROMPT_VERSION } from './prompt-v2.ts';

export type Asked =
  | {
      readonly ok: true;
      readonly value: JsonObject;
      readonly requestHash: string;
      readonly shown: Shown;
      readonly calls: readonly CallRecord[];
    }
  /** The window overflows: another tier may do better. */
  | { readonly ok: false; readonly overflow: true; readonly reason: string; readonly calls: [] }
  /** The answer stayed unusable after its repair. */
  | {
      readonly ok: false;
      readonly overflow: false;
      readonly reason: string;
      readonly calls: readonly CallRecord[];
    };

const hasList = (value: unknown, name: string): boolean =>
  isJsonObject(value) && Object.hasOwn(value, name) && Array.isArray(value[name]);

/** Both lists must be there; what stands in them is read item by item. */
const answerSchema: z.ZodType<JsonObject> = z.custom<JsonObject>(
  (value) => hasList(value, 'criticalSteps') && hasList(value, 'rootCauses'),
  'expected an object with the lists "criticalSteps" and "rootCauses"',
);

const salvage = (json: JsonValue): JsonObject | null =>
  isJsonObject(json) && (hasList(json, 'criticalSteps') || hasList(json, 'rootCauses')) ? json : null;

/** Reserved against the quota: the walk and the judge, then some 250 tokens a root cause. */
export function answerTokens(failures: number, most: number): number {
  return Math.min(most, 3000 + Math.min(failures, 40) * 300);
}

export async function askExplanation(
  input: ExplainInput,
  user: readonly PromptText[],
  shown: Shown,
  failures: number,
  purpose: 'root-cause' | 'root-cause-merge',
): Promise<Asked> {
  try {
    const { value, answers, calls } = await askForJson(
      input.model,
      {
        purpose,
        promptVersion: `${ROOT_CAUSE_PROMPT_VERSION}+${JUDGE_PROMPT_VERSION}`,
        user,
        answer: EXPLAIN_ANSWER,
        maxOutputTokens: answerTokens(failures, input.model.limits.maxOutputTokens),
      },
      answerSchema,
      { salvage },
    );
    return { ok: true, value, requestHash: answers.at(-1)?.requestHash ?? '', shown, calls };
  } catch (error) {
    if (error instanceof ContextOverflowError) {
      return { ok: false, overflow: true, reason: `context-overflow: ${error.message}`, calls: [] };
    }
    if (!(error instanceof ModelOutputInvalidError)) throw error;
    const calls = error instanceof UnusableAnswerError ? error.calls : [];
    return { ok: false, overflow: false, reason: `model-output-invalid: ${error.message}`, calls };
  }
}

/** The prompt over some spans of the session, with the failures that lie in them. */
export function promptOver(
  input: ExplainInput,
  chunk: Chunk,
  failures: readonly Failure[],
  excerptNote: string | null,
): { readonly user: readonly PromptText[]; readonly shown: Shown } {
  const shown = showChunk(input.trajectory, input.plan, chunk);
  const aliasOf = new Map([...shown.names].map(([alias, id]) => [id, alias]));
  return {
    shown,
    user: explainPrompt({
      trace: shown.text,
      excerptNote,
      failures: writeFailures(failures, aliasOf),
      evidence: writeEvidence(input.failures, input.checks, input.validationLog, aliasOf),
      decided: writeDecided(input.decided, aliasOf),
      assumeFailed: input.options.assumeFailed,
    }),
  };
}
