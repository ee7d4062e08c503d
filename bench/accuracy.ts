import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { FileObjectStore } from '../adapters/local/file-object-store.ts';
import { createModel } from '../adapters/models/create-model.ts';
import { ExitCode } from '../cli/shell/exit-codes.ts';
import { canonicalJson, sha256Hex } from '../core/base/hash.ts';
import { readConstraintFile } from '../core/constraints/read-constraints.ts';
import type { Constraint } from '../core/diagnosis/constraint.ts';
import { DEFAULT_OPTIONS, type DiagnosisOptions } from '../core/diagnosis/options.ts';
import { ConfigurationInvalidError } from '../core/errors/errors.ts';
import { makeTokenCounter } from '../core/planning/tokens/make-token-counter.ts';
import { type AccuracyArgs, configurationOf, readAccuracyArgs, USAGE } from './accuracy/args.ts';
import { diagnosisPredictor } from './accuracy/diagnosis-predictor.ts';
import { openJournal } from './accuracy/journal.ts';
import { guardedModel, tellingAnswers } from './accuracy/leak-guard.ts';
import { resultStem, writeResults } from './accuracy/results.ts';
import { measure } from './accuracy/run.ts';
import { accuracyTable } from './accuracy/table.ts';
import { toolErrorLines } from './accuracy/tool-errors.ts';
import { DATASETS } from './datasets/index.ts';
import type { LabelledRun } from './datasets/labelled-run.ts';
import { machineLine, writeDocsSection } from './print/docs-section.ts';

/** What the benchmark touches of the outside; `CliIo` of the command line fits. */
export interface BenchIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  out(text: string): void;
  err(text: string): void;
  readonly errIsTerminal: boolean;
}

export const PROCESS_IO: BenchIo = {
  env: process.env,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  errIsTerminal: process.stderr.isTTY === true,
};

/**
 * `rootspan bench accuracy`, also `npm run bench -- accuracy`: see USAGE. Returns an exit code of design.md:
 * 0 measured, 2 usage, 5 waiting.
 */
export async function benchAccuracy(argv: readonly string[], io: BenchIo = PROCESS_IO): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    io.out(`${USAGE}\n`);
    return ExitCode.Passed;
  }
  const args = readAccuracyArgs(argv);
  if ('wrong' in args) {
    io.err(`${args.wrong}\n${USAGE}\n`);
    return ExitCode.Usage;
  }
  try {
    return await run(args, io);
  } catch (error) {
    if (!(error instanceof ConfigurationInvalidError)) throw error;
    io.err(`${error.message}\n`);
    return ExitCode.Usage;
  }
}

async function run(args: AccuracyArgs, io: BenchIo): Promise<number> {
  const runs = limited(DATASETS[args.dataset](args.path), args.limit);
  const options = optionsOf(args);
  mkdirSync(args.out, { recursive: true });
  const settingsHash = hashOf(args, options, runs);
  const journal = openJournal(`${resultStem(args)}.journal.jsonl`, settingsHash, args.resume);

  const apiKey = io.env.OPENAI_API_KEY;
  const model = await createModel(args.model, {
    cache: new FileObjectStore(path.join(args.out, 'cache')),
    retry: {},
    ...(apiKey === undefined ? {} : { openaiApiKey: apiKey }),
  });
  const counter = makeTokenCounter();
  const clock = { now: () => Date.now() };
  const total = runs.length * args.repeats;
  let finished = journal.done.size;
  const result = await measure(
    runs,
    (run) =>
      diagnosisPredictor({
        model: guardedModel(model, tellingAnswers(run.answers, run.session)),
        counter,
        clock,
        options:
          args['with-reference'] && run.expectedActions !== null
            ? { ...options, expectedActions: run.expectedActions }
            : options,
      }),
    {
      repeats: args.repeats,
      concurrency: args.concurrency ?? (args.model.startsWith('batch:') ? total : 4),
      done: journal.done,
      onResult(key, prediction) {
        journal.append(key, prediction);
        finished += 1;
        if (io.errIsTerminal) io.err(`\r${finished}/${total} runs`);
      },
    },
  );
  if (io.errIsTerminal) io.err('\r');

  if (result.state === 'waiting') {
    io.err(
      `waiting: ${result.waitingRuns} of ${runs.length} runs need answers to ${result.requestHashes.length} request(s). ` +
        'Answer requests.jsonl of the batch folder into responses.jsonl and run the same command with --resume.\n',
    );
    return ExitCode.Waiting;
  }
  const toolErrors = toolErrorLines(runs);
  const labelled = toolErrors.length === 0 ? '' : `\n\n${toolErrors.join('\n')}`;
  const table = `${heading(args, runs)}\n${accuracyTable(result.groups)}${labelled}`;
  const createdAt = new Date(clock.now()).toISOString();
  io.out(`${table}\n`);
  writeResults(args, settingsHash, result.groups, createdAt);
  if (args.docs !== undefined) {
    const title = `Accuracy on ${args.dataset}: ${configurationOf(args)}`;
    const facts = `${createdAt.slice(0, 10)}, ${machineLine()}`;
    writeDocsSection(args.docs, title, `### ${title}\n\n${facts}\n\n\`\`\`\n${table}\n\`\`\``);
  }
  return ExitCode.Passed;
}

function optionsOf(args: AccuracyArgs): DiagnosisOptions {
  return {
    ...DEFAULT_OPTIONS,
    depth: args.depth,
    confidence: args.confidence,
    votes: args.votes,
    protocol: args.protocol,
    synthesis: args.synthesis,
    assumeFailed: !args['no-assume-failed'],
    ...(args.constraints === undefined ? {} : { constraints: readConstraints(args.constraints) }),
  };
}

function readConstraints(file: string): Constraint[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigurationInvalidError(`${file} cannot be read: ${String(error)}`, { cause: error });
  }
  const { accepted, refused } = readConstraintFile(text, file);
  const [first] = refused;
  // A figure for half of the constraints would be taken for the figure of all.
  if (first !== undefined) {
    throw new ConfigurationInvalidError(
      `${file}: ${refused.length} constraint(s) cannot be used, first ${first.name}: ${first.errors.join('; ')}`,
    );
  }
  return accepted.map(({ constraint }) => constraint);
}

function limited(runs: LabelledRun[], limit: number | undefined): LabelledRun[] {
  if (limit === undefined) return runs;
  const seen = new Map<string, number>();
  return runs.filter((run) => {
    const key = `${run.group}/${run.gold === null}`;
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    return count <= limit;
  });
}

/** What decides the predictions: a journal of other settings or other sessions must not be resumed. */
function hashOf(args: AccuracyArgs, options: DiagnosisOptions, runs: readonly LabelledRun[]): string {
  const sessions = runs.map(({ session }) => sha256Hex(canonicalJson(session)));
  const { model, repeats } = args;
  return sha256Hex(canonicalJson({ model, repeats, reference: args['with-reference'], options, sessions }));
}

function heading(args: AccuracyArgs, runs: readonly LabelledRun[]): string {
  const told = args['no-assume-failed'] ? 'not told that runs failed' : 'told which runs failed';
  const reference = args['with-reference']
    ? '\nWITH REFERENCE: the expected actions were given; not to be compared with figures without them'
    : '';
  return (
    `accuracy on ${args.dataset} (${runs.length} runs): ${configurationOf(args)}; ${told}; ` +
    `best constants are chosen on these runs${reference}\n`
  );
}
