import type { CheckFinding } from '../diagnosis/check-report.ts';
import { failureOf } from '../trajectory/exchanges.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import type { Check } from './check.ts';
import { evidence, quoteAround } from './evidence.ts';

const ID = 'unknown-tool';

/**
 * A call to a tool that the agent was not given. Silent where no tool list is recorded, or where the list is
 * plainly partial: a call outside it that was answered without an error shows that the tool does exist.
 *
 * Healthy runs (36 passed tau runs of bench/dev): blind on all, they list no tools; the rate is unknown.
 */
export const unknownTools: Check = {
  id: ID,
  title: 'A tool was called that does not exist',
  categories: ['hallucination-category-hall-capabilities'],
  reads: 'tool-calls',
  run(trajectory) {
    if (!listsTools(trajectory)) return { blind: 'the session does not record which tools exist' };
    const known = new Set(trajectory.tools.map((tool) => tool.name));
    const findings: CheckFinding[] = [];
    for (const exchange of trajectory.exchanges) {
      if (known.has(exchange.name)) continue;
      if (exchange.result !== null && failureOf(exchange) === null) continue;
      const step = trajectory.steps[exchange.callStep];
      if (step === undefined) continue;
      const answered = exchange.result !== null;
      findings.push({
        checkId: ID,
        spanId: step.spanId,
        category: 'hallucination-category-hall-capabilities',
        confidence: answered ? 0.9 : 0.75,
        summary: `Tool ${exchange.name.slice(0, 80)} is not among the ${known.size} tools of the session`,
        evidence: [evidence(step.spanId, quoteAround(exchange.name), 'name of the called tool')],
        weight: answered ? 'failure' : 'evidence',
        recovered: null,
        criticalCategory: 'invalid-invocation',
      });
    }
    return findings;
  },
};

/** Tool spans describe themselves alone: what they say is no list of all that there are. */
function listsTools(trajectory: Trajectory): boolean {
  return trajectory.steps.some(({ span }) =>
    span.kind === 'inference'
      ? (span.tools ?? []).length > 0
      : span.kind === 'invoke_agent' && span.availableTools.length > 0,
  );
}
