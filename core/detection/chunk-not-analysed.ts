import type { ChunkResult, Prepared } from '../diagnosis/stages.ts';
import { ErrorName } from '../errors/error-names.ts';
import { SessionInvalidError } from '../errors/errors.ts';

const listed: ReadonlySet<string> = new Set(Object.values(ErrorName));

/**
 * The reason of a gap from the error that made it: `model-throttled: …` from a ModelThrottledError. In process the
 * name comes from the error, in the state machine from the `Catch`; both must read the same.
 */
export function reasonForFault(errorName: string, message: string): string {
  const code = listed.has(errorName)
    ? errorName
        .replace(/Error$/, '')
        .replace(/(?<=[a-z])(?=[A-Z])/g, '-')
        .toLowerCase()
    : `fault: ${errorName}`;
  return message === '' ? code : `${code}: ${message}`;
}

/** The result of a chunk that could not be looked at: all its spans are a gap, none of them reads as healthy. */
export function chunkNotAnalysed(prepared: Prepared, index: number, reason: string): ChunkResult {
  const chunk = prepared.plan.chunks.find((candidate) => candidate.index === index);
  if (chunk === undefined)
    throw new SessionInvalidError(
      `chunk ${index} is not in the plan: expected one of ${prepared.plan.chunks.length}`,
    );
  const spanIds = [...new Set(chunk.spans.map(({ spanId }) => spanId))];
  return {
    index,
    state: 'not_analyzed',
    reason,
    failures: [],
    quarantined: [],
    spanIdsSeen: [],
    gaps: [{ what: 'spans not looked at', reason, spanIds }],
    calls: [],
  };
}
