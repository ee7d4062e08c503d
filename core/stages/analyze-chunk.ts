import { chunkNotAnalysed } from '../detection/chunk-not-analysed.ts';
import { detectInChunk } from '../detection/detect.ts';
import type { AnalyzeChunk } from '../diagnosis/stages.ts';
import { trajectoryOf } from '../trajectory/trajectory-of.ts';

/**
 * Looks at one chunk of the plan. Throws ModelThrottledError, ModelUnavailableError, ModelAccessError,
 * BudgetExhaustedError and ModelPendingError for the caller to deal with; every other trouble is in the result.
 */
export const analyzeChunk: AnalyzeChunk = async (prepared, index, model, counter) => {
  const chunk = prepared.plan.chunks.find((candidate) => candidate.index === index);
  if (chunk === undefined) return chunkNotAnalysed(prepared, index, 'never reached');
  return detectInChunk(
    trajectoryOf(prepared.session),
    prepared.plan,
    chunk,
    prepared.options,
    model,
    counter,
  );
};
