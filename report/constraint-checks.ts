import type { ConstraintCheck, Firing } from '../core/constraints/check-constraints.ts';
import { safeLine, safeText } from './escape.ts';
import type { TerminalView } from './terminal.ts';

/** What `rootspan constraints check` prints: each constraint, how often it applied and fired, what speaks against it. */
export function renderConstraintChecks(
  checks: readonly ConstraintCheck[],
  { palette }: Pick<TerminalView, 'palette'>,
): string {
  const paint = { usable: palette.green, doubtful: palette.yellow, refused: palette.red };
  const lines = checks.flatMap((check) => {
    const { firing, examples } = check;
    const rows = Object.entries(firing).filter(([, { sessions }]) => sessions > 0);
    return [
      `${paint[check.state](check.state.padEnd(8))} ${palette.bold(safeLine(check.name, 80))}`,
      ...(examples.total > 0
        ? [`  ${examples.total - examples.wrong.length} of ${examples.total} examples right`]
        : []),
      ...rows.map(([outcome, of]) => `  ${outcome.padEnd(7)} ${describe(of, check.decidedBy)}`),
      ...check.errors.map((error) => `  ${palette.red('error')} ${safeText(error)}`),
      ...check.warnings.map((warning) => `  ${palette.yellow('doubt')} ${safeText(warning)}`),
    ];
  });
  return `${lines.join('\n')}\n`;
}

function describe(
  { sessions, applied, fired, unclear }: Firing,
  decidedBy: ConstraintCheck['decidedBy'],
): string {
  const undecided = unclear === 0 ? '' : `, undecided in ${unclear}`;
  const outcome = decidedBy === 'model' ? 'left to a model (depth deep)' : `fired in ${fired}`;
  return `applied in ${applied} of ${sessions} sessions, ${outcome}${undecided}`;
}
