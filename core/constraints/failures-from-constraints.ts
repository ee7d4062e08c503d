import type { Constraint } from '../diagnosis/constraint.ts';
import { CONFIDENCE } from '../diagnosis/options.ts';
import { cutText } from '../diagnosis/quarantine.ts';
import { UNKNOWN_RECOVERY } from '../diagnosis/recovery.ts';
import type { Failure, ValidationEntry } from '../diagnosis/schema.ts';
import { CRITICAL_CATEGORIES, failureCategoryOf } from '../vocabulary/critical-categories.ts';
import { CATEGORY_IDS, type CategoryId } from '../vocabulary/taxonomy.ts';

/**
 * Violations that stand in the diagnosis as failures by themselves: those of the team's own constraints, unless they
 * are marked low. What a model wrote is evidence for the judge and never a failure by itself.
 */
export function failuresFromConstraints(
  constraints: readonly Constraint[],
  log: readonly ValidationEntry[],
): readonly Failure[] {
  const byName = new Map(constraints.map((constraint) => [constraint.name, constraint]));
  return log.flatMap((entry): readonly Failure[] => {
    const constraint = byName.get(entry.constraint);
    const [target] = constraint?.targets ?? [];
    const isTeamRule = entry.origin === 'user' || entry.origin === 'semantic';
    if (target === undefined || !isTeamRule || entry.verdict !== 'violated' || entry.severity === 'low')
      return [];
    const [proof] = entry.evidence;
    // The values that were compared are the proof; the quote alone only says where.
    const shown = proof === undefined ? '' : ` — "${proof.quote}" ${cutText(proof.note, 200)}`;
    return [
      {
        span_id: entry.spanId,
        category: [asFailureCategory(target)],
        confidence: [CONFIDENCE[entry.severity]],
        evidence: [`${entry.reason}${shown}`.trim()],
        source: [{ kind: 'constraint', ref: entry.constraint }],
        ...UNKNOWN_RECOVERY,
      },
    ];
  });
}

function asFailureCategory(target: Constraint['targets'][number]): CategoryId {
  const critical = CRITICAL_CATEGORIES.find((id) => id === target);
  if (critical !== undefined) return failureCategoryOf(critical);
  return CATEGORY_IDS.find((id) => id === target) ?? 'other';
}
