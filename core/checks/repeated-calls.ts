import type { CheckFinding } from '../diagnosis/check-report.ts';
import { argumentsAsText, callKey } from '../trajectory/exchanges.ts';
import type { ToolExchange } from '../trajectory/trajectory.ts';
import type { Check } from './check.ts';
import { evidence, quoteAround } from './evidence.ts';

const ID = 'repeated-call';
/** Two equal calls in a row may be a re-check; the third learns nothing. */
const LOOP = 3;

/**
 * The same call with the same arguments and the same result again. An unchanged answer means that the repetition
 * brought nothing; polling that at last gets another answer is not reported. Three in a row are a loop; with other
 * calls in between, which may have changed something, it is only evidence.
 *
 * Healthy runs (36 passed tau runs of bench/dev): fires on 1, as a failure on none.
 */
export const repeatedCalls: Check = {
  id: ID,
  title: 'The same call was repeated with the same result',
  categories: ['repetitive-behavior-category-repetition-tool'],
  reads: 'tool-calls',
  run(trajectory) {
    const groups = new Map<string, ToolExchange[]>();
    /** Longest row of the call with no other call in between. */
    const rows = new Map<string, number>();
    let row = 0;
    let previous = '';
    for (const exchange of trajectory.exchanges) {
      const key = callKey(exchange);
      row = key === previous ? row + 1 : 1;
      previous = key;
      if (exchange.result === null) continue;
      rows.set(key, Math.max(rows.get(key) ?? 0, row));
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [exchange]);
      else group.push(exchange);
    }
    const findings: CheckFinding[] = [];
    for (const [key, group] of groups) {
      const first = group[0];
      const again = group[1];
      if (first === undefined || again === undefined) continue;
      if (group.some((exchange) => exchange.result !== first.result)) continue;
      const step = trajectory.steps[again.callStep];
      const firstStep = trajectory.steps[first.callStep];
      if (step === undefined || firstStep === undefined) continue;
      const loop = (rows.get(key) ?? 0) >= LOOP;
      findings.push({
        checkId: ID,
        spanId: step.spanId,
        category: 'repetitive-behavior-category-repetition-tool',
        confidence: loop ? 0.75 : 0.5,
        summary: `${first.name.slice(0, 80)} was called ${group.length} times with equal arguments and equal results`,
        evidence: [
          evidence(firstStep.spanId, quoteAround(argumentsAsText(first)), 'first call'),
          evidence(step.spanId, quoteAround(argumentsAsText(again)), 'the same again'),
        ],
        weight: loop ? 'failure' : 'evidence',
        recovered: null,
        criticalCategory: 'plan-adherence',
      });
    }
    return findings;
  },
};
