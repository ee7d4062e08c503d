import type { CheckFinding } from '../diagnosis/check-report.ts';
import type { Span } from '../session/session.ts';
import type { ToolExchange, Trajectory } from '../trajectory/trajectory.ts';
import { finishReason } from '../vocabulary/finish-reasons.ts';
import type { Check } from './check.ts';
import { evidence, quoteAround } from './evidence.ts';

const CUT_ID = 'output-cut';

/**
 * A model answer that ended because the token limit was reached: what follows it is missing.
 *
 * Healthy runs (36 passed tau runs of bench/dev): blind on all, they record no stop reasons; the rate is unknown.
 */
export const outputCut: Check = {
  id: CUT_ID,
  title: 'A model answer was cut at the token limit',
  categories: ['execution-error-category-resource-exhaustion'],
  run(trajectory) {
    let stated = false;
    const findings: CheckFinding[] = [];
    for (const step of trajectory.steps) {
      const span = step.span;
      if (span.kind !== 'inference' || span.finishReasons === undefined) continue;
      stated = true;
      const reason = cutReason(span);
      if (reason === undefined) continue;
      const answer = span.output.flatMap((message) => message.content);
      const last = answer.findLast((block) => block.type === 'text');
      const text = last?.type === 'text' ? last.text : '';
      // A cut answer with a call in it leaves the call's arguments unfinished.
      const cutCall = answer.some((block) => block.type === 'tool_use');
      const atEnd = trajectory.steps.slice(step.index + 1).every((later) => later.kind !== 'inference');
      findings.push({
        checkId: CUT_ID,
        spanId: step.spanId,
        category: 'execution-error-category-resource-exhaustion',
        confidence: cutCall || atEnd ? 0.9 : 0.75,
        summary: cutCall
          ? 'The answer was cut at the token limit inside a tool call'
          : 'The answer was cut at the token limit',
        evidence: [
          evidence(
            step.spanId,
            text === '' ? reason : quoteAround(text, text.length),
            `finish reason ${reason}`,
          ),
        ],
        weight: 'failure',
        recovered: atEnd ? false : null,
        criticalCategory: 'system-failure',
      });
    }
    return stated ? findings : { blind: 'no model call records why it stopped' };
  },
};

function cutReason(span: Span): string | undefined {
  return span.kind === 'inference'
    ? span.finishReasons?.find((word) => finishReason(word) === 'length')
    : undefined;
}

/**
 * Whether the token limit cut the answer inside this call: then its arguments are not what the model meant to send,
 * and nobody ran it. Only the last call of an answer can be cut.
 */
export function isCutCall(trajectory: Trajectory, exchange: ToolExchange): boolean {
  const span = trajectory.steps[exchange.callStep]?.span;
  if (span?.kind !== 'inference' || cutReason(span) === undefined || exchange.result !== null) return false;
  const last = span.output.flatMap((message) => message.content).at(-1);
  return (
    last?.type === 'tool_use' &&
    exchange === trajectory.exchanges.findLast((other) => other.callStep === exchange.callStep)
  );
}
