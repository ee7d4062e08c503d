import { categoryMatches, type VerdictPolicy } from '../../core/report-build/verdict.ts';
import { CATEGORY_IDS } from '../../core/vocabulary/taxonomy.ts';
import { UsageError } from './errors.ts';

export interface VerdictFlags {
  readonly failOn?: readonly string[];
  readonly allowPartial?: boolean;
}

/** Beside the categories: failures that were put right, or did no harm, count as well. */
const FLAWED = 'flawed';

/** What the flags ask for. UsageError for a word that is neither `flawed` nor a category or parent. */
export function policyOf({ failOn: wanted = [], allowPartial = false }: VerdictFlags): VerdictPolicy {
  const failOn = wanted.filter((word) => word !== FLAWED);
  for (const name of failOn) {
    if (!CATEGORY_IDS.some((id) => categoryMatches(id, name))) {
      throw new UsageError(
        `--fail-on: unknown category "${name}"; ids and parents are listed in docs/taxonomy.md, beside "${FLAWED}"`,
      );
    }
  }
  return { failOn, failOnFlawed: failOn.length < wanted.length, allowPartial };
}
