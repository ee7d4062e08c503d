import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import * as z from 'zod';
import { ExitCode } from '../cli/shell/exit-codes.ts';
import { ConfigurationInvalidError } from '../core/errors/errors.ts';
import { makeTokenCounter } from '../core/planning/tokens/make-token-counter.ts';
import { type Session, sessionSpans } from '../core/session/session.ts';
import { strandsJson } from './corpus/strands-json.ts';
import { machineLine } from './print/docs-section.ts';
import { ownTexts } from './reference/own-texts.ts';
import { type StubService, startStubService } from './reference/stub-service.ts';
import { madeSession } from './speed/made-session.ts';

const run = promisify(execFile);

/** A file of 4.6 MB in the reference's shape, whose own texts are a million tokens. */
const SPANS = 1_180;
const WORDS_FACTOR = 8;

/** A model of the window that the reference takes for granted: 200,000 tokens. */
const MODEL = 'claude-sonnet-4-5';

const timesSchema = z.object({
  version: z.string(),
  detectionSeconds: z.number(),
  wholeSeconds: z.number(),
  failures: z.number(),
  rootCauses: z.number(),
});

/**
 * `npm run bench -- reference [--python FILE] [--latency MS]`: the detectors of Strands Evals and Rootspan's command line,
 * side by side, on one made session and a stub that answers every call after the same time. Returns 2 where Python or the
 * package is missing.
 */
export async function benchReference(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      python: { type: 'string', default: process.env.ROOTSPAN_BENCH_PYTHON ?? 'python3' },
      latency: { type: 'string', default: '3000' },
    },
  });
  await requireReference(values.python);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rootspan-reference-'));
  const healthy = madeSession(SPANS, WORDS_FACTOR);
  const failing = sessionSpans(healthy).at(-1)?.spanId ?? '';
  const failed = withRefusedCall(healthy, failing);
  const file = (name: string, session: Session): string => {
    const at = path.join(folder, `${name}.json`);
    writeFileSync(at, strandsJson(session));
    return at;
  };
  const stub = await startStubService(Number(values.latency), failing);
  try {
    const [healthyFile, failedFile] = [file('healthy', healthy), file('failed', failed)];
    const counter = makeTokenCounter();
    const tokensOf = (texts: readonly string[]): number =>
      texts.reduce((sum, text) => sum + counter.count(text), 0);

    const oursDetection = await runOurs(healthyFile, stub);
    const oursWhole = await runOurs(failedFile, stub);
    const { stdout } = await run(
      values.python,
      [path.join(import.meta.dirname, 'reference/run_detectors.py'), failedFile, stub.url],
      { env: { ...process.env, AWS_ACCESS_KEY_ID: 'stub', AWS_SECRET_ACCESS_KEY: 'stub' } },
    );
    const theirs = timesSchema.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
    if (theirs.failures !== 1 || theirs.rootCauses !== 1)
      throw new Error(`the reference did not do its work: ${stdout}`);
    const theirPrompts = stub.takePrompts();

    const floor = tokensOf(ownTexts(failed));
    const megabytes = (statSync(failedFile).size / 1e6).toFixed(1);
    console.log(
      `One session of ${SPANS} spans, ${megabytes} MB as JSON, whose own texts are ${floor.toLocaleString('en')} tokens (o200k_base);\n` +
        `every model call answered after ${Number(values.latency) / 1000} s. ${machineLine()}.\n` +
        'Rootspan: the whole process of the command line, start, reading and checks included. Strands Evals ' +
        `${theirs.version}:\nits functions alone, after imports and reading.\n`,
    );
    const row = (name: string, seconds: number, prompts: readonly string[] | null, ratio: string): string =>
      `${name.padEnd(46)} ${seconds.toFixed(1).padStart(6)} s ${String(prompts?.length ?? '').padStart(5)} ` +
      `${(prompts === null ? '' : tokensOf(prompts).toLocaleString('en')).padStart(13)}  ${ratio}`;
    const times = (a: number, b: number): string => `${(a / b).toFixed(1)} × as fast`;
    console.log(
      [
        `${''.padEnd(46)} ${'wall'.padStart(8)} ${'calls'.padStart(5)} ${'prompt tokens'.padStart(13)}`,
        row('detection, Strands Evals', theirs.detectionSeconds, null, ''),
        row(
          'detection, Rootspan',
          oursDetection.seconds,
          oursDetection.prompts,
          times(theirs.detectionSeconds, oursDetection.seconds),
        ),
        row('detection and root cause, Strands Evals', theirs.wholeSeconds, theirPrompts, ''),
        row(
          'detection, judge and root cause, Rootspan',
          oursWhole.seconds,
          oursWhole.prompts,
          times(theirs.wholeSeconds, oursWhole.seconds),
        ),
        '',
        `Prompt tokens of detection over the session's own texts: Rootspan ${(tokensOf(oursDetection.prompts) / floor).toFixed(2)}`,
        `Prompt tokens of everything over the session's own texts: Rootspan ${(tokensOf(oursWhole.prompts) / floor).toFixed(2)}, ` +
          `Strands Evals ${(tokensOf(theirPrompts) / floor).toFixed(2)}`,
      ].join('\n'),
    );
    return ExitCode.Passed;
  } finally {
    await stub.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function requireReference(python: string): Promise<void> {
  try {
    await run(python, ['-c', 'import strands_evals.detectors']);
  } catch (cause) {
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    throw new ConfigurationInvalidError(
      missing
        ? `no Python at "${python}": name one with --python or ROOTSPAN_BENCH_PYTHON`
        : `"${python}" cannot import strands_evals: \`pip install strands-agents-evals==1.7.0\` in its environment`,
      { cause },
    );
  }
}

/** The last result becomes an error that nothing puts right, which a check finds without a model: there is something to judge. */
function withRefusedCall(session: Session, spanId: string): Session {
  return {
    ...session,
    traces: session.traces.map((trace) => ({
      ...trace,
      spans: trace.spans.map((span) =>
        span.spanId === spanId && span.kind === 'execute_tool'
          ? {
              ...span,
              toolResult: {
                toolCallId: span.toolCall.toolCallId,
                content: "Error: invalid arguments: 'query' is not allowed here",
                isError: true,
              },
            }
          : span,
      ),
    })),
  };
}

async function runOurs(
  file: string,
  stub: StubService,
): Promise<{ readonly seconds: number; readonly prompts: readonly string[] }> {
  const begun = performance.now();
  await run(
    process.execPath,
    [
      path.resolve(import.meta.dirname, '../cli/main.ts'),
      ...['diagnose', file, '--model', `openai:${MODEL}@${stub.url}/v1`, '--store', 'none'],
      ...['--format', 'json', '--exit-zero'],
    ],
    { maxBuffer: 64 * 2 ** 20 },
  );
  return { seconds: (performance.now() - begun) / 1000, prompts: stub.takePrompts() };
}
