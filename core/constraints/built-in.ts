import type { CheckFinding, CheckReport } from '../diagnosis/check-report.ts';
import type { ValidationEntry } from '../diagnosis/schema.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';

/**
 * The built-in constraints are the checks of `core/checks`: what must hold for any agent (arguments fit the
 * schema, the tool exists, no result is made up, …) is defined there once, and this gives it the form of the
 * validation log. A check that could not look is `not-evaluated`, one that found nothing is `satisfied`.
 */
export function logChecks(
  reports: readonly CheckReport[],
  trajectory: Trajectory,
): readonly ValidationEntry[] {
  const [first] = trajectory.steps;
  if (first === undefined) return [];
  return reports.flatMap((report): readonly ValidationEntry[] => {
    const whole = {
      constraint: report.checkId,
      origin: 'built-in' as const,
      spanId: first.spanId,
      position: first.position,
      severity: 'low' as const,
      evidence: [],
      healthyFiringRate: null,
    };
    if (report.state === 'blind') {
      return [{ ...whole, verdict: 'not-evaluated', reason: report.reason ?? 'it could not look' }];
    }
    if (report.findings.length === 0) {
      return [{ ...whole, verdict: 'satisfied', reason: 'nothing found in this session' }];
    }
    return report.findings.map((finding) => ({
      ...whole,
      spanId: finding.spanId,
      position: trajectory.stepBySpan.get(finding.spanId)?.position ?? first.position,
      verdict: 'violated' as const,
      reason: finding.summary,
      severity: severityOf(finding),
      evidence: [...finding.evidence],
    }));
  });
}

/** A check that stands by itself is worth more than one that only informs; so is a sure one. */
function severityOf(finding: CheckFinding): ValidationEntry['severity'] {
  if (finding.weight === 'evidence') return 'low';
  return finding.confidence >= 0.9 && finding.recovered !== true ? 'high' : 'medium';
}
