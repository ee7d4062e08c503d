import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ExitCode } from '../cli/shell/exit-codes.ts';
import { makeTokenCounter } from '../core/planning/tokens/make-token-counter.ts';
import { measurePromptTokens } from './corpus/prompt-tokens.ts';
import { DEFAULT_CORPUS, readCorpora } from './corpus/read-corpus.ts';

/** `npm run bench -- tokens [--path DIR] [--json FILE]`: prompt tokens of each data set against indented Strands JSON. */
export function benchTokens(argv: readonly string[]): number {
  const { values } = parseArgs({
    args: [...argv],
    options: { path: { type: 'string', default: DEFAULT_CORPUS }, json: { type: 'string' } },
  });
  const rows = measurePromptTokens(readCorpora(values.path), makeTokenCounter());
  console.log('data set                     sessions       ours    Strands JSON   share');
  for (const row of rows) {
    console.log(
      `${row.dataset.padEnd(28)} ${String(row.sessions).padStart(8)} ${String(row.ours).padStart(10)} ` +
        `${String(row.strandsJson).padStart(15)}  ${(row.share * 100).toFixed(1).padStart(5)} %`,
    );
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`);
  return ExitCode.Passed;
}
