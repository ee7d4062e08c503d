import type { CheckReport } from '../diagnosis/check-report.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import { abruptEnd } from './abrupt-end.ts';
import { blocked } from './blocked.ts';
import type { Check } from './check.ts';
import { explicitErrors } from './explicit-errors.ts';
import { failingCode } from './failing-code.ts';
import { goalLost } from './goal-lost.ts';
import { leakedMarkup } from './leaked-markup.ts';
import { missingResults } from './missing-results.ts';
import { outputCut } from './output-cut.ts';
import { repeatedCalls } from './repeated-calls.ts';
import { schemaBreaches } from './schema-breaches.ts';
import { unknownTools } from './unknown-tools.ts';
import { unsupportedValues } from './unsupported-values.ts';

/** Every check that needs no model. A new one is one file and one line here. */
export const CHECKS: readonly Check[] = [
  explicitErrors,
  blocked,
  outputCut,
  unknownTools,
  schemaBreaches,
  missingResults,
  abruptEnd,
  goalLost,
  failingCode,
  unsupportedValues,
  repeatedCalls,
  leakedMarkup,
];

/**
 * Runs the checks on a session, in their fixed order. A check that fails by a defect of its own is reported as
 * blind with the reason: the others still count, and it never reads as "nothing found".
 */
export function runChecks(trajectory: Trajectory, checks: readonly Check[] = CHECKS): CheckReport[] {
  return checks.map((check) => {
    try {
      const isBlind = check.reads === 'tool-calls' && trajectory.exchanges.length === 0;
      const outcome = isBlind ? { blind: 'no tool call is recorded' } : check.run(trajectory);
      return 'blind' in outcome
        ? { checkId: check.id, state: 'blind', reason: outcome.blind, findings: [] }
        : { checkId: check.id, state: 'ran', reason: null, findings: outcome };
    } catch (error) {
      const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      return {
        checkId: check.id,
        state: 'blind',
        reason: `the check itself failed (${reason.slice(0, 300)})`,
        findings: [],
      };
    }
  });
}
