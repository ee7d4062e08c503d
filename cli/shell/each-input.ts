import { safeLine } from '../../report/escape.ts';
import { explainError, UsageError } from './errors.ts';
import { ExitCode } from './exit-codes.ts';
import { findInputs } from './find-inputs.ts';
import type { CliIo } from './io.ts';
import { type OpenInput, openInput } from './open-input.ts';

/**
 * Does something with each input that the arguments name: files, folders, globs, members of archives. One that cannot be
 * read is said and told to `onFailure`, and the others go on; when none can be read, that is the command's error.
 *
 * Returns what the failures mean for the exit code: Usage for an argument that names nothing, Unknown for a file that
 * could not be read beside others, Runtime for a defect.
 */
export async function eachInput(
  args: readonly string[],
  io: CliIo,
  work: (input: OpenInput) => Promise<void>,
  onFailure: (source: string, error: unknown) => void = () => undefined,
): Promise<ExitCode[]> {
  const { files, errors, notes } = await findInputs(args);
  for (const note of notes) io.err(`rootspan: ${note}\n`);
  const failures: { readonly source: string | null; readonly error: unknown }[] = errors.map((error) => ({
    source: null,
    error,
  }));
  let read = 0;
  for (const file of files) {
    let inputs: readonly OpenInput[] = [];
    try {
      inputs = await openInput(file, io);
    } catch (error) {
      failures.push({ source: file, error });
    }
    for (const input of inputs) {
      try {
        await work(input);
        read += 1;
      } catch (error) {
        failures.push({ source: input.source, error });
      }
    }
  }
  const [only, ...others] = failures;
  if (read === 0 && only !== undefined && others.length === 0) throw only.error;
  const codes = failures.map(({ source, error }) => {
    const { text, exitCode } = explainError(error);
    const named = source === null || text.includes(source) ? '' : `${safeLine(source, 300)}: `;
    io.err(`rootspan: ${named}${text}\n`);
    if (source === null) return ExitCode.Usage;
    onFailure(source, error);
    return exitCode === ExitCode.Runtime ? exitCode : ExitCode.Unknown;
  });
  if (read === 0 && failures.length > 0)
    throw new UsageError(`none of ${failures.length} inputs could be read`);
  if (failures.length > 0)
    io.err(`rootspan: ${failures.length} of ${read + failures.length} inputs could not be read\n`);
  return codes;
}
