import type { Diagnosis } from './schema.ts';

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

const plural = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;

/** The printed verdict and the exit code, from one place so that they cannot disagree. */
export function verdict(diagnosis: Diagnosis): Verdict {
  const { coverage, failures, outcome, outcomeReason } = diagnosis;
  const reason = outcomeReason === null ? '' : `: ${outcomeReason}`;
  const looked = `${coverage.spansAnalysed} of ${plural(coverage.spansTotal, 'span')} analysed by a model`;
  if (failures.length > 0) {
    const partial = outcome === 'PARTIAL' ? ` (partial${reason})` : '';
    return {
      text: `${plural(failures.length, 'failing span')} found${partial}`,
      exitCode: ExitCode.FailuresFound,
    };
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
        text: 'failures reported without a failing span (a defect: please report it)',
        exitCode: ExitCode.Runtime,
      };
  }
}
