import { ErrorName } from '../../core/errors/error-names.ts';
import { RootspanError } from '../../core/errors/errors.ts';
import { safeText } from '../../report/escape.ts';
import { ExitCode } from './exit-codes.ts';

/** A mistake in how the command was called: said in one line, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What a person reads, and the exit code, for anything that was thrown. Messages may quote untrusted input. */
export function explainError(error: unknown): { text: string; exitCode: ExitCode } {
  const { text, exitCode } = explain(error);
  return { text: safeText(text), exitCode };
}

function explain(error: unknown): { text: string; exitCode: ExitCode } {
  if (error instanceof UsageError) return { text: error.message, exitCode: ExitCode.Usage };
  if (error instanceof RootspanError) {
    if (error.name === ErrorName.ModelPending) return { text: error.message, exitCode: ExitCode.Waiting };
    const usage = error.fault === 'input' || error.name === ErrorName.ConfigurationInvalid;
    return { text: `${error.name}: ${error.message}`, exitCode: usage ? ExitCode.Usage : ExitCode.Runtime };
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    text: `unexpected error (a defect of Rootspan: please report it)\n${text}`,
    exitCode: ExitCode.Runtime,
  };
}
