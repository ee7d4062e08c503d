import { plural } from '../base/plural.ts';
import type { Diagnosis } from '../diagnosis/schema.ts';

/** Exit codes of the command-line tool (design.md, Contracts). */
export const ExitCode = {
  Clean: 0,
  FailuresFound: 1,
  Usage: 2,
  Runtime: 3,
  Partial: 4,
  Waiting: 5,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

export interface Verdict {
  /** One line for people. */
  readonly text: string;
  readonly exitCode: ExitCode;
}

export interface VerdictPolicy {
  /** Category ids or parents that count for the exit code; empty means all of them. */
  readonly failOn: readonly string[];
}

const EVERYTHING: VerdictPolicy = { failOn: [] };

/** `hallucination` covers `hallucination-category-hall-usage`; a full id covers itself. */
export function categoryMatches(category: string, wanted: string): boolean {
  return category === wanted || category.startsWith(`${wanted}-category-`);
}

/** The printed verdict and the exit code, from one place so that they cannot disagree. */
export function verdict(diagnosis: Diagnosis, policy: VerdictPolicy = EVERYTHING): Verdict {
  const { coverage, failures, outcome, outcomeReason } = diagnosis;
  const reason = outcomeReason === null ? '' : `: ${outcomeReason}`;
  const looked = `${coverage.spansAnalysed} of ${plural(coverage.spansTotal, 'span')} read by a model`;
  if (failures.length > 0) {
    const incomplete = outcome === 'PARTIAL' || outcome === 'NOT_ANALYSED';
    const partial = incomplete ? ` (partial${reason})` : '';
    const counted =
      policy.failOn.length === 0
        ? failures.length
        : failures.filter((failure) =>
            failure.category.some((id) => policy.failOn.some((wanted) => categoryMatches(id, wanted))),
          ).length;
    const found = `${plural(failures.length, 'failing span')} found${partial}`;
    if (counted > 0) return { text: found, exitCode: ExitCode.FailuresFound };
    const exitCode = incomplete ? ExitCode.Partial : ExitCode.Clean;
    return { text: `${found}, none in ${policy.failOn.join(', ')}`, exitCode };
  }
  switch (outcome) {
    case 'NO_FAILURE_FOUND':
      return { text: `no failure found, ${looked}`, exitCode: ExitCode.Clean };
    case 'PARTIAL':
      return {
        text: `nothing found so far, but not everything was looked at (${looked})${reason}`,
        exitCode: ExitCode.Partial,
      };
    case 'NOT_ANALYSED':
      return { text: `not analysed${reason}`, exitCode: ExitCode.Partial };
    case 'FAILURES_FOUND':
      // A diagnosis that says so and lists none is a defect of ours: never let it read as clean.
      return {
        text: 'failures reported without a failing span (a defect of Rootspan: please report it)',
        exitCode: ExitCode.Runtime,
      };
  }
}

/** What is worst in a run over several sessions decides its exit code. */
const WORST_FIRST: readonly ExitCode[] = [
  ExitCode.Runtime,
  ExitCode.Usage,
  ExitCode.Waiting,
  ExitCode.FailuresFound,
  ExitCode.Partial,
  ExitCode.Clean,
];

export function worstExitCode(codes: readonly ExitCode[]): ExitCode {
  return WORST_FIRST.find((code) => codes.includes(code)) ?? ExitCode.Clean;
}
