import { benchAccuracy } from '../../bench/accuracy.ts';
import { UsageError } from '../shell/errors.ts';
import type { CliIo } from '../shell/io.ts';

/** `rootspan bench accuracy …`: users measure their own model and constraints on their own labelled sessions. */
export async function benchCommand(name: string, args: readonly string[], io: CliIo): Promise<number> {
  if (name === '--help' || name === '-h') return benchAccuracy(['--help'], io);
  if (name !== 'accuracy') {
    throw new UsageError(`unknown benchmark "${name}"; expected accuracy (the others need the source tree)`);
  }
  return benchAccuracy(args, io);
}
