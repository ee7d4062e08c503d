import { checkConstraints, type TrialSession } from '../../core/constraints/check-constraints.ts';
import { renderConstraintChecks } from '../../report/constraint-checks.ts';
import { UsageError } from '../shell/errors.ts';
import { ExitCode } from '../shell/exit-codes.ts';
import { type CliIo, palette, readInput } from '../shell/io.ts';
import { readSessionFiles } from '../shell/read-sessions.ts';

export interface ConstraintsCheckFlags {
  readonly against?: readonly string[];
  readonly healthy?: readonly string[];
  readonly failed?: readonly string[];
  readonly json?: boolean;
}

/** Exit codes: 0 all usable, 1 some doubtful, 2 some refused (or no such file). Asks no model. */
export async function constraintsCheckCommand(
  file: string,
  flags: ConstraintsCheckFlags,
  io: CliIo,
): Promise<number> {
  const sessions = [
    ...(await trialSessions(flags.against, 'unknown', io)),
    ...(await trialSessions(flags.healthy, 'healthy', io)),
    ...(await trialSessions(flags.failed, 'failed', io)),
  ];
  const checks = checkConstraints(await readInput(file, io), file, sessions);
  if (flags.json ?? !io.outIsTerminal) io.out(`${JSON.stringify(checks, null, 2)}\n`);
  else io.out(renderConstraintChecks(checks, { palette: palette(io) }));
  const states = new Set(checks.map(({ state }) => state));
  if (states.has('refused')) return ExitCode.Usage;
  return states.has('doubtful') ? ExitCode.Failed : ExitCode.Passed;
}

/** Sessions of files with what the user says about how they went. */
export async function trialSessions<T extends TrialSession['outcome']>(
  files: readonly string[] | undefined,
  outcome: T,
  io: CliIo,
): Promise<readonly (TrialSession & { readonly outcome: T })[]> {
  if (files === undefined || files.length === 0) return [];
  const { sessions, failed } = await readSessionFiles(files, io);
  if (failed > 0) throw new UsageError(`${failed} of the inputs could not be read`);
  return sessions.map(({ session }) => ({ session, outcome }));
}
