import type { CheckFinding } from '../diagnosis/check-report.ts';
import { argumentsAsText } from '../trajectory/exchanges.ts';
import type { Check } from './check.ts';
import { evidence, quoteAround } from './evidence.ts';
import { isCutCall } from './output-cut.ts';

const ID = 'missing-result';

/**
 * A tool was called and no result is recorded. Telemetry that keeps no results at all cannot show this, so the
 * check is blind there; a span that is still in progress or whose content did not arrive is no proof either.
 *
 * Healthy runs (36 passed tau runs of bench/dev): fires on none.
 */
export const missingResults: Check = {
  id: ID,
  title: 'A tool call never got a result',
  categories: ['execution-error-category-service-errors'],
  reads: 'tool-calls',
  run(trajectory) {
    const { exchanges, steps } = trajectory;
    if (exchanges.every((exchange) => exchange.result === null)) {
      return { blind: 'no tool result is recorded in the whole session' };
    }
    const findings: CheckFinding[] = [];
    for (const exchange of exchanges) {
      if (exchange.result !== null || isCutCall(trajectory, exchange)) continue;
      const step = steps[exchange.callStep];
      if (step === undefined) continue;
      const resultSpan = exchange.resultStep === null ? null : steps[exchange.resultStep]?.span;
      const flags = [...step.span.flags, ...(resultSpan?.flags ?? [])];
      if (flags.some((flag) => UNSEEN.has(flag))) continue;
      const last = exchange.callStep >= steps.length - 2;
      if (last && ENDS.test(exchange.name)) continue;
      findings.push({
        checkId: ID,
        spanId: step.spanId,
        category: 'execution-error-category-service-errors',
        confidence: last ? 0.75 : 0.5,
        summary: `No result of ${exchange.name.slice(0, 80)} was ever recorded`,
        evidence: [
          evidence(step.spanId, quoteAround(argumentsAsText(exchange)), 'the call without an answer'),
        ],
        weight: last ? 'failure' : 'evidence',
        recovered: last ? false : null,
        criticalCategory: 'system-failure',
      });
    }
    return findings;
  },
};

/** Calls that end or hand on a session by design: frameworks record no result of them. */
const ENDS =
  /final|finish|submit|complete|respond|answer|done|exit|terminate|transfer|hand_?off|ask_?(?:user|human)|output/i;

const UNSEEN = new Set([
  'in-progress',
  'content-absent',
  'content-redacted',
  'content-truncated',
  'content-not-arrived',
  'content-lost',
]);
