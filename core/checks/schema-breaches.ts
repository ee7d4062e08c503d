import type { CheckFinding } from '../diagnosis/check-report.ts';
import { argumentsAsText, failureOf, recoveryOf } from '../trajectory/exchanges.ts';
import type { Check } from './check.ts';
import { evidence, quoteAround } from './evidence.ts';
import { validatorOf } from './json-schema.ts';
import { isCutCall } from './output-cut.ts';

const ID = 'arguments-break-schema';

/**
 * Arguments that do not fit the JSON Schema the tool declares. A call that the tool answered all the same, or that
 * was repaired later, is only evidence: the declared schema may be stricter than the tool.
 *
 * Healthy runs (36 passed tau runs of bench/dev): blind on all, they list no tools; the rate is unknown.
 */
export const schemaBreaches: Check = {
  id: ID,
  title: "Arguments do not fit the tool's schema",
  categories: ['execution-error-category-tool-schema'],
  reads: 'tool-calls',
  run(trajectory) {
    const schemas = new Map(trajectory.tools.map((tool) => [tool.name, tool.parameters]));
    const recoveryFor = recoveryOf(trajectory);
    let looked = 0;
    const unusable = new Map<string, string>();
    const findings: CheckFinding[] = [];
    for (const exchange of trajectory.exchanges) {
      const schema = schemas.get(exchange.name);
      if (schema === undefined) continue;
      const validate = validatorOf(schema);
      if ('unusable' in validate) {
        unusable.set(exchange.name, validate.unusable);
        continue;
      }
      looked += 1;
      // Said by the check for cut answers.
      if (isCutCall(trajectory, exchange)) continue;
      const problems = validate(exchange.arguments);
      const step = trajectory.steps[exchange.callStep];
      if (problems.length === 0 || step === undefined) continue;
      const refused = failureOf(exchange) !== null;
      const unanswered = exchange.result === null;
      const recovered = refused || unanswered ? recoveryFor(exchange).recovered : true;
      const told = problems
        .map((breach) => `${breach.path === '' ? 'arguments' : breach.path} ${breach.message}`)
        .join('; ');
      findings.push({
        checkId: ID,
        spanId: step.spanId,
        category: 'execution-error-category-tool-schema',
        confidence: refused ? 0.9 : unanswered ? 0.75 : 0.5,
        summary: `Arguments of ${exchange.name.slice(0, 80)} break its schema: ${told.slice(0, 400)}`,
        evidence: [evidence(step.spanId, quoteAround(argumentsAsText(exchange)), 'arguments as called')],
        weight: recovered === true ? 'evidence' : 'failure',
        recovered,
        criticalCategory: 'invalid-invocation',
      });
    }
    if (looked > 0 || findings.length > 0) return findings;
    const [reason] = unusable.values();
    return { blind: reason ?? 'the session records no argument schemas of the tools that were called' };
  },
};
