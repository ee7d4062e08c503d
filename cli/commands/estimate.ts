import { plural } from '../../core/base/plural.ts';
import { DEFAULT_OPTIONS } from '../../core/diagnosis/options.ts';
import { CAPABILITIES_AS_OF, capabilitiesOfSpec, limitsOf } from '../../core/model/capabilities.ts';
import { addUsage, NO_USAGE } from '../../core/model/port.ts';
import { NO_TOKENS, priceUsage } from '../../core/model/price-usage.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { sessionSpans } from '../../core/session/session.ts';
import { preflight } from '../../core/stages/pipeline.ts';
import { safeLine } from '../../report/escape.ts';
import { ExitCode, worstExitCode } from '../shell/exit-codes.ts';
import type { CliIo } from '../shell/io.ts';
import { readSessionFiles } from '../shell/read-sessions.ts';

/** Answers of detection and root causes are short; measured prompts cap them, so the estimate is an upper bound. */
const OUTPUT_TOKENS_PER_CALL = 2_000;

/** What a diagnosis at depth `standard` would take. An estimate: the model's own tokeniser counts otherwise. */
export async function estimateCommand(
  files: readonly string[],
  flags: { readonly model: string; readonly json?: boolean },
  io: CliIo,
): Promise<number> {
  const { sessions, codes } = await readSessionFiles(files, io);
  const capabilities = capabilitiesOfSpec(flags.model);
  const counter = makeTokenCounter();
  const rows = sessions.map(({ session }) => {
    const { plan, notAnalysed } = preflight(session, DEFAULT_OPTIONS, {
      counter,
      limits: limitsOf(capabilities),
      modelSpec: flags.model,
    });
    // One call a chunk, then one for the judge and the root causes over the whole session; each is priced alone,
    // because price tiers go by the prompt of one call.
    const prompts =
      notAnalysed === null ? [...plan.chunks.map((chunk) => chunk.tokens), plan.totalTokens] : [];
    const calls = prompts.map((tokens) =>
      priceUsage(
        {
          ...NO_TOKENS,
          inputTokens: Math.ceil((tokens + plan.settings.promptTokens) * capabilities.tokenFactor),
          outputTokens: OUTPUT_TOKENS_PER_CALL,
        },
        capabilities,
        flags.model.startsWith('batch:') ? 'batch' : 'online',
      ),
    );
    const usage = calls.reduce(addUsage, NO_USAGE);
    return {
      sessionId: session.sessionId,
      spans: sessionSpans(session).length,
      sessionTokens: plan.totalTokens,
      mode: plan.mode,
      chunks: plan.chunks.length,
      calls: usage.calls,
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      costUsd: usage.costUsd,
      notAnalysed,
    };
  });
  if (flags.json ?? !io.outIsTerminal) {
    for (const row of rows) io.out(`${JSON.stringify(row)}\n`);
  } else {
    for (const row of rows) {
      const cost =
        row.costUsd === null
          ? 'no price on file'
          : `about USD ${row.costUsd.toFixed(4)} at list prices of ${CAPABILITIES_AS_OF}`;
      const why = row.notAnalysed === null ? '' : ` (${row.notAnalysed})`;
      io.out(
        `${safeLine(row.sessionId, 80)}: ${plural(row.spans, 'span')}, ${plural(row.sessionTokens, 'token')}, ${row.mode}, ` +
          `${plural(row.chunks, 'chunk')}, ${plural(row.calls, 'call')}, ${cost}${why}\n`,
      );
    }
  }
  // A session of which a part is missing takes more than this: that is not known.
  if (sessions.some(({ session }) => session.unread.length > 0)) codes.push(ExitCode.Unknown);
  return worstExitCode(codes);
}
