import { plural } from '../base/plural.ts';
import type { Diagnosis, Failure } from '../diagnosis/schema.ts';
import { isByChoice, isHarmless } from './outcome.ts';

export interface VerdictPolicy {
  /** Category ids or parents that count as a failed check; empty means all of them. */
  readonly failOn: readonly string[];
  /** Failures that were put right, or did no harm, count too. */
  readonly failOnFlawed: boolean;
  /** What the user chose not to have looked at (no model) is no reason to hold back. */
  readonly allowPartial: boolean;
}

export const DEFAULT_POLICY: VerdictPolicy = { failOn: [], failOnFlawed: false, allowPartial: false };

export interface Verdict {
  /** One line for people. */
  readonly text: string;
  /** What a build makes of it: `unknown` is neither; the command line gives each its exit code. */
  readonly decision: 'pass' | 'fail' | 'unknown';
}

/** `hallucination` covers `hallucination-category-hall-usage`; a full id covers itself. */
export function categoryMatches(category: string, wanted: string): boolean {
  return category === wanted || category.startsWith(`${wanted}-category-`);
}

/**
 * The printed verdict and the decision, from one place so that they cannot disagree.
 *
 * | outcome | decision |
 * |---|---|
 * | FAILED | fail; with `failOn` only if a failure that cost the goal has such a category |
 * | FLAWED | pass; with `failOnFlawed` fail, if `failOn` is empty or one of the failures has such a category |
 * | CLEAN | pass |
 * | UNKNOWN | unknown; with `failOnFlawed` as FLAWED where something was found; with `allowPartial` pass, if all that is missing was the user's choice and each failure found was put right |
 */
export function verdict(diagnosis: Diagnosis, policy: VerdictPolicy = DEFAULT_POLICY): Verdict {
  const { failOn, failOnFlawed } = policy;
  const text = sayVerdict(diagnosis);
  const counting = diagnosis.failures.filter(({ effect }) => failOnFlawed || effect === 'goal-lost');
  if (counting.some((failure) => isWanted(failure, failOn))) return { text, decision: 'fail' };
  const passes =
    diagnosis.coverage.state === 'COMPLETE'
      ? diagnosis.outcome !== 'UNKNOWN'
      : policy.allowPartial && diagnosis.outcome === 'UNKNOWN' && isGreenAsAsked(diagnosis);
  const none = counting.length > 0 ? `, none in ${failOn.join(', ')}` : '';
  return { text: `${text}${none}`, decision: passes ? 'pass' : 'unknown' };
}

const isWanted = ({ category }: Failure, failOn: readonly string[]): boolean =>
  failOn.length === 0 || category.some((id) => failOn.some((wanted) => categoryMatches(id, wanted)));

/** Nothing that was asked for is missing, and nothing that was found stands. */
const isGreenAsAsked = ({ coverage, failures }: Diagnosis): boolean =>
  coverage.state === 'PARTIAL' &&
  coverage.gaps.every(({ reason }) => isByChoice(reason)) &&
  failures.every(({ recovered }) => recovered === 'yes');

function sayVerdict(diagnosis: Diagnosis): string {
  const { coverage, criticalStep, failures, outcome, outcomeReason, turns } = diagnosis;
  const reason = outcomeReason === null ? '' : `: ${outcomeReason}`;
  const looked = `${coverage.spansAnalysed} of ${plural(coverage.spansTotal, 'span')} read by a model`;
  switch (outcome) {
    case 'FAILED': {
      const partial = coverage.state === 'COMPLETE' ? '' : ` (not everything was looked at${reason})`;
      const failed = turns.filter((turn) => turn.outcome === 'FAILED').length;
      const where = turns.length > 1 ? ` in ${failed} of ${turns.length} turns` : '';
      const step = criticalStep === null ? '' : ` at step ${criticalStep.position}`;
      return `failed${where}: the goal was lost${step}${partial}`;
    }
    case 'FLAWED':
      return `goal reached; ${plural(failures.length, 'failure')} put right or harmless, ${looked}`;
    case 'CLEAN':
      return `no failure found, ${looked}`;
    case 'UNKNOWN': {
      if (coverage.state === 'NONE' && failures.length === 0) return `not analysed${reason}`;
      const standing = failures.filter((failure) => !isHarmless(failure)).length;
      const found =
        failures.length === 0
          ? 'nothing found so far'
          : `${plural(failures.length, 'failure')} found so far, ${failures.length - standing} of them put right or harmless`;
      const missing = coverage.state === 'COMPLETE' ? '' : `, and not everything was looked at (${looked})`;
      return `not known whether the goal was reached: ${found}${missing}${reason}`;
    }
  }
}
