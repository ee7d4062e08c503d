import { ExitCode } from '../cli/shell/exit-codes.ts';
import { ConfigurationInvalidError } from '../core/errors/errors.ts';
import { benchAccount } from './account.ts';
import { benchAccuracy } from './accuracy.ts';
import { benchBatch } from './batch.ts';
import { benchChecks } from './checks.ts';
import { benchDeepTokens } from './deep-tokens.ts';
import { benchFormats } from './formats.ts';
import { benchIngest } from './ingest.ts';
import { benchPage } from './page.ts';
import { benchReading } from './reading.ts';
import { benchReference } from './reference.ts';
import { benchReportPage } from './report-page.ts';
import { benchSpeed } from './speed.ts';
import { benchTable } from './table.ts';
import { benchTokens } from './tokens.ts';
import { isParseArgsError } from './usage-error.ts';

/** `npm run bench -- <name>`: each benchmark prints its figures and returns an exit code. */
type Bench = (args: readonly string[]) => number | Promise<number>;
const BENCHES: ReadonlyMap<string, Bench> = new Map<string, Bench>([
  ['account', benchAccount],
  ['accuracy', (args) => benchAccuracy(args)],
  ['batch', benchBatch],
  ['checks', benchChecks],
  ['deep-tokens', benchDeepTokens],
  ['formats', benchFormats],
  ['ingest', benchIngest],
  ['page', (args) => benchPage(args)],
  ['reference', benchReference],
  ['reading', benchReading],
  ['report-page', benchReportPage],
  ['speed', (args) => benchSpeed(args)],
  ['table', benchTable],
  ['tokens', benchTokens],
]);

const [name = '', ...args] = process.argv.slice(2);
const bench = BENCHES.get(name);
if (bench === undefined) {
  console.error(`unknown benchmark "${name}"; one of: ${[...BENCHES.keys()].join(', ')}`);
  process.exitCode = ExitCode.Usage;
} else {
  try {
    process.exitCode = await bench(args);
  } catch (error) {
    // The caller's mistake, such as a folder that is not there: no stack is owed.
    if (!(error instanceof ConfigurationInvalidError || isParseArgsError(error))) throw error;
    console.error(error.message);
    process.exitCode = ExitCode.Usage;
  }
}
