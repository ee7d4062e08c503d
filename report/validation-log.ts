import type { Diagnosis, ValidationEntry } from '../core/diagnosis/schema.ts';
import { safeLine, safeText } from './escape.ts';
import type { TerminalView } from './terminal.ts';

/** The validation log on its own: by step, violations first, then what could not be evaluated and why. */
export function renderValidationLog(diagnosis: Diagnosis, { palette }: TerminalView): string {
  const log = diagnosis.validationLog;
  if (log.length === 0) {
    return `No constraint was evaluated for ${safeLine(diagnosis.sessionId, 100)} (depth ${diagnosis.provenance.depth}).\n`;
  }
  const steps = Map.groupBy(log, (entry) => entry.position);
  const lines = [palette.bold(`Validation log of ${safeLine(diagnosis.sessionId, 100)}: ${summary(log)}`)];
  for (const position of [...steps.keys()].sort((a, b) => a - b)) {
    const entries = steps.get(position) ?? [];
    lines.push('', palette.bold(`step ${position} · span ${safeLine(entries[0]?.spanId ?? '', 60)}`));
    for (const entry of entries) {
      const paint =
        entry.verdict === 'violated'
          ? palette.red
          : entry.verdict === 'satisfied'
            ? palette.green
            : palette.yellow;
      const rate =
        entry.healthyFiringRate === null
          ? ''
          : palette.dim(` (fires on ${(entry.healthyFiringRate * 100).toFixed(0)} % of healthy runs)`);
      lines.push(
        `  ${paint(entry.verdict.padEnd(13))} ${safeLine(entry.constraint, 80)} [${entry.origin}, ${entry.severity}]${rate}`,
      );
      lines.push(`    ${safeText(entry.reason)}`);
      for (const item of entry.evidence)
        lines.push(`    ${palette.cyan(`“${safeLine(item.quote, 200)}”`)} ${safeLine(item.note, 120)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function summary(log: readonly ValidationEntry[]): string {
  const counts = Map.groupBy(log, (entry) => entry.verdict);
  return [...counts].map(([verdict, entries]) => `${entries.length} ${verdict}`).join(', ');
}
