import type { Constraint } from '../diagnosis/constraint.ts';
import type { Failure, RootCause } from '../diagnosis/schema.ts';

/**
 * Where a team's own constraint found the failure and no model wrote a fix, its hint is the fix: the team knows what it
 * wants changed, and the usual remedy of a category does not.
 */
export function withTeamHints(
  failures: readonly Failure[],
  rootCauses: readonly RootCause[],
  constraints: readonly Constraint[],
): readonly RootCause[] {
  const hints = new Map(constraints.map(({ name, hint }) => [name, hint]));
  return rootCauses.map((cause, index) => {
    if (cause.source.kind === 'model') return cause;
    const broken = failures[index]?.source.find(({ kind, ref }) => kind === 'constraint' && hints.has(ref));
    const hint = broken === undefined ? undefined : hints.get(broken.ref);
    return hint === undefined ? cause : { ...cause, fix_type: 'OTHERS', fix_recommendation: hint };
  });
}
