import type { ToolExchange } from '../session/trajectory.ts';
import type { Check, CheckFinding } from './check.ts';
import { evidence, quoteAround } from './evidence.ts';
import { argumentsAsText, callKey } from './exchanges.ts';

const ID = 'repeated-call';
/** Two equal calls may be a re-check; the third learns nothing. */
const LOOP = 3;

/**
 * The same call with the same arguments and the same result again. An unchanged answer means that the repetition
 * brought nothing; polling that at last gets another answer is not reported.
 */
export const repeatedCalls: Check = {
  id: ID,
  title: 'The same call was repeated with the same result',
  categories: ['repetitive-behavior-category-repetition-tool'],
  run(trajectory) {
    const groups = new Map<string, ToolExchange[]>();
    for (const exchange of trajectory.exchanges) {
      if (exchange.result === null) continue;
      const key = callKey(exchange);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [exchange]);
      else group.push(exchange);
    }
    const findings: CheckFinding[] = [];
    for (const group of groups.values()) {
      const first = group[0];
      const again = group[1];
      if (first === undefined || again === undefined) continue;
      if (group.some((exchange) => exchange.result !== first.result)) continue;
      const step = trajectory.steps[again.callStep];
      const firstStep = trajectory.steps[first.callStep];
      if (step === undefined || firstStep === undefined) continue;
      // A failing tool that is tried again is a retry; the error itself is reported elsewhere.
      const loop = group.length >= LOOP;
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
