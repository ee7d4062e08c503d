import type { Verdict } from '../../core/report-build/verdict.ts';

/** Exit codes of the command line: a contract with every script that calls it. */
export const ExitCode = {
  /** CLEAN or FLAWED, or what `--exit-zero`, `--allow-partial` and `--fail-on` make of the rest. */
  Passed: 0,
  /** FAILED. */
  Failed: 1,
  Usage: 2,
  Runtime: 3,
  /** UNKNOWN: something could not be looked at, and no failure that cost the goal is known. */
  Unknown: 4,
  /** Batch answers are still to come. */
  Waiting: 5,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

const OF_DECISION: Readonly<Record<Verdict['decision'], ExitCode>> = {
  pass: ExitCode.Passed,
  fail: ExitCode.Failed,
  unknown: ExitCode.Unknown,
};

/** The code of a printed verdict: both come from one decision. */
export const exitCodeOf = ({ decision }: Verdict): ExitCode => OF_DECISION[decision];

/** What is worst in a run over several sessions decides its exit code. */
const WORST_FIRST: readonly ExitCode[] = [
  ExitCode.Runtime,
  ExitCode.Usage,
  ExitCode.Waiting,
  ExitCode.Failed,
  ExitCode.Unknown,
  ExitCode.Passed,
];

export function worstExitCode(codes: readonly ExitCode[]): ExitCode {
  return WORST_FIRST.find((code) => codes.includes(code)) ?? ExitCode.Passed;
}
