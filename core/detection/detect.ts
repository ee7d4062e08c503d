import * as z from 'zod';
import type { JsonValue } from '../base/json.ts';
import { settleAll } from '../base/settle-all.ts';
import type { DiagnosisOptions } from '../diagnosis/options.ts';
import type { ChunkResult } from '../diagnosis/stages.ts';
import { ContextOverflowError, ModelOutputInvalidError } from '../errors/errors.ts';
import { UnusableAnswerError } from '../model/answer-defect.ts';
import { askForJson } from '../model/ask-for-json.ts';
import type { CallRecord } from '../model/call-record.ts';
import type { Model } from '../model/port.ts';
import type { Chunk, ChunkPlan } from '../planning/plan.ts';
import { showChunk } from '../planning/show-chunk.ts';
import { splitChunk } from '../planning/split-chunk.ts';
import type { TokenCounter } from '../planning/tokens/counter.ts';
import { makeQuoteCheck } from '../prompting/quote.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import { TAXONOMY } from '../vocabulary/taxonomy.ts';
import { DETECTION_ANSWER } from './answer.ts';
import { mergeFailures } from './merge.ts';
import { DETECTION_PROMPT_VERSION, detectionInstructions, detectionPrompt } from './prompt-v2.ts';
import { findingsOf, type Salvaged, salvageFindings } from './salvage.ts';

/** Any JSON in which a list of findings can be found; what is in the list is looked at item by item. */
const detectionAnswerSchema: z.ZodType<JsonValue> = z.custom<JsonValue>(
  (value) => findingsOf(value as JsonValue) !== null,
  'expected an object with a list "failures"',
);

interface Looked {
  readonly chunk: Chunk;
  readonly salvaged: Salvaged | null;
  /** Why the chunk could not be looked at; `null` when it was. */
  readonly reason: string | null;
  readonly calls: readonly CallRecord[];
}

/** An answer lists a handful of failures; more spans can hold more. The number is reserved against the quota. */
const answerTokens = (spans: number, most: number): number =>
  Math.min(most, 2000 + Math.min(spans, 150) * 40);

/**
 * Looks at one chunk. A chunk that overflows the window after all is split and looked at in pieces, down to parts
 * of one span; an answer that stays unusable after its repair leaves a gap. Errors that a later try can cure
 * (throttling, outage, access, budget, an open batch request) are thrown for the caller to retry.
 */
export async function detectInChunk(
  trajectory: Trajectory,
  plan: ChunkPlan,
  chunk: Chunk,
  options: DiagnosisOptions,
  model: Model,
  counter: TokenCounter,
): Promise<ChunkResult> {
  const instructions = detectionInstructions(options.taxonomy ?? TAXONOMY, options.guidelines);
  const looked = await look(trajectory, plan, chunk, options, model, counter, instructions);
  const unseen = looked.filter(({ salvaged }) => salvaged === null);
  const seen = looked.filter(({ salvaged }) => salvaged !== null);
  const has = (list: readonly Looked[], spanId: string, fresh: boolean): boolean =>
    list.some(({ chunk: { spans } }) =>
      spans.some((span) => span.spanId === spanId && !(fresh && span.overlap)),
    );
  const reasons = [...new Set(unseen.map(({ reason }) => reason ?? ''))];
  return {
    index: chunk.index,
    state: seen.length > 0 ? 'analyzed' : 'not_analyzed',
    reason: seen.length > 0 ? null : reasons.join('; '),
    failures: mergeFailures(looked.flatMap(({ salvaged }) => salvaged?.failures ?? [])),
    quarantined: looked.flatMap(({ salvaged }) => salvaged?.quarantined ?? []),
    spanIdsSeen: [...new Set(chunk.spans.map(({ spanId }) => spanId))].filter(
      (spanId) => has(seen, spanId, false) && !has(unseen, spanId, true),
    ),
    gaps: [
      ...looked.flatMap(({ salvaged }) => salvaged?.gaps ?? []),
      ...reasons.map((reason) => ({
        what: 'spans not looked at',
        reason,
        spanIds: [
          ...new Set(
            unseen
              .filter((piece) => piece.reason === reason)
              .flatMap((piece) => piece.chunk.spans.map(({ spanId }) => spanId)),
          ),
        ],
      })),
    ],
    calls: looked.flatMap(({ calls }) => calls),
  };
}

async function look(
  trajectory: Trajectory,
  plan: ChunkPlan,
  chunk: Chunk,
  options: DiagnosisOptions,
  model: Model,
  counter: TokenCounter,
  instructions: string,
): Promise<readonly Looked[]> {
  const shown = showChunk(trajectory, plan, chunk);
  try {
    const { value, answers, calls } = await askForJson(
      model,
      {
        purpose: 'analyze-chunks',
        promptVersion: DETECTION_PROMPT_VERSION,
        user: detectionPrompt(instructions, shown.text),
        answer: DETECTION_ANSWER,
        maxOutputTokens: answerTokens(chunk.spans.length, model.limits.maxOutputTokens),
      },
      detectionAnswerSchema,
    );
    const salvaged = salvageFindings(findingsOf(value) ?? [], {
      known: shown,
      names: shown.names,
      taxonomy: options.taxonomy ?? TAXONOMY,
      requestHash: answers.at(-1)?.requestHash ?? '',
      isQuoted: makeQuoteCheck(shown.text),
    });
    return [{ chunk, salvaged, reason: null, calls }];
  } catch (error) {
    if (error instanceof ModelOutputInvalidError) {
      const { message } = error;
      const calls = error instanceof UnusableAnswerError ? error.calls : [];
      return [{ chunk, salvaged: null, reason: `model-output-invalid: ${message}`, calls }];
    }
    if (!(error instanceof ContextOverflowError)) throw error;
    const pieces = splitChunk(trajectory, plan, chunk, counter);
    if (pieces === null) {
      const reason = 'context-overflow: even the smallest part of the span does not fit the model';
      return [{ chunk, salvaged: null, reason, calls: [] }];
    }
    const looked = await settleAll(
      pieces.map((piece) => look(trajectory, plan, piece, options, model, counter, instructions)),
    );
    return looked.flat();
  }
}
