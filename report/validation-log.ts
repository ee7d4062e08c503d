import wrapAnsi from 'wrap-ansi';
import type { Diagnosis, ValidationEntry } from '../core/diagnosis/schema.ts';
import { safeLine, safeText } from './escape.ts';
import type { TerminalView } from './terminal.ts';

/** What needs a reader first stands first: in the summary, and among the entries of one step. */
const ORDER: readonly ValidationEntry['verdict'][] = [
  'violated',
  'error',
  'unclear',
  'not-evaluated',
  'satisfied',
  'not-applicable',
];

const rank = ({ verdict }: ValidationEntry): number => ORDER.indexOf(verdict);

/**
 * The validation log on its own: by step what was asked there; then, since they belong to no step, constraints that
 * cannot be used, what could not be evaluated and why, and what held or did not apply in the whole session.
 */
export function renderValidationLog(diagnosis: Diagnosis, { palette, width }: TerminalView): string {
  const log = diagnosis.validationLog;
  if (log.length === 0) {
    return `No constraint was evaluated for ${safeLine(diagnosis.sessionId, 100)} (depth ${diagnosis.provenance.depth}).\n`;
  }
  const paint = (verdict: ValidationEntry['verdict']) =>
    verdict === 'violated' || verdict === 'error'
      ? palette.red
      : verdict === 'satisfied'
        ? palette.green
        : palette.yellow;
  const full = (entry: ValidationEntry): readonly string[] => {
    const rate =
      entry.healthyFiringRate === null
        ? ''
        : palette.dim(` (fires on ${(entry.healthyFiringRate * 100).toFixed(0)} % of healthy runs)`);
    return [
      `  ${paint(entry.verdict)(entry.verdict.padEnd(14))} ${safeLine(entry.constraint, 80)} [${entry.origin}, ${entry.severity}]${rate}`,
      `    ${safeText(entry.reason)}`,
      ...entry.evidence.map(
        (item) => `    ${palette.cyan(`“${safeLine(item.quote, 200)}”`)} ${safeLine(item.note, 120)}`,
      ),
    ];
  };
  const lines = [palette.bold(`Validation log of ${safeLine(diagnosis.sessionId, 100)}: ${summary(log)}`)];
  const steps = Map.groupBy(
    log.filter((entry) => !isOfWholeSession(entry)),
    (entry) => entry.position,
  );
  for (const [position, entries] of [...steps].sort(([a], [b]) => a - b)) {
    lines.push('', palette.bold(`step ${position} · span ${safeLine(entries[0]?.spanId ?? '', 60)}`));
    lines.push(...entries.toSorted((a, b) => rank(a) - rank(b)).flatMap(full));
  }
  const whole = Map.groupBy(log.filter(isOfWholeSession), (entry) => entry.verdict);
  if (whole.size > 0) lines.push('', palette.bold('the whole session'));
  for (const verdict of ORDER) {
    const entries = whole.get(verdict) ?? [];
    if (verdict === 'satisfied' && entries.length > 0) {
      const names = entries.map((entry) => safeLine(entry.constraint, 80)).join(', ');
      lines.push(
        `  ${paint(verdict)(verdict.padEnd(14))} nothing found in this session`,
        ...wrapAnsi(names, Math.max(20, width - 4))
          .split('\n')
          .map((line) => `    ${line}`),
      );
    } else lines.push(...entries.flatMap(full));
  }
  return `${lines.join('\n')}\n`;
}

/** Entries that stand at the first span only because an entry needs one. */
function isOfWholeSession({ origin, verdict }: ValidationEntry): boolean {
  if (verdict === 'error' || verdict === 'not-applicable') return true;
  return origin === 'built-in' && verdict !== 'violated';
}

function summary(log: readonly ValidationEntry[]): string {
  const counts = Map.groupBy(log, (entry) => entry.verdict);
  return ORDER.flatMap((verdict) => {
    const count = counts.get(verdict)?.length ?? 0;
    return count === 0 ? [] : [`${count} ${verdict}`];
  }).join(', ');
}
