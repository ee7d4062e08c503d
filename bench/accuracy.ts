import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { FileObjectStore } from '../adapters/local/file-object-store.ts';
import { createModel } from '../adapters/models/create-model.ts';
import { ConfigurationInvalidError } from '../core/contracts/errors.ts';
import { canonicalJson, sha256Hex } from '../core/contracts/hash.ts';
import { DEFAULT_OPTIONS } from '../core/diagnosis/options.ts';
import { DEPTHS } from '../core/diagnosis/schema.ts';
import { ExitCode } from '../core/diagnosis/verdict.ts';
import { makeTokenCounter } from '../core/tokens/make-token-counter.ts';
import { diagnosisPredictor } from './accuracy/diagnosis-predictor.ts';
import { openJournal } from './accuracy/journal.ts';
import { guardedModel, tellingAnswers } from './accuracy/leak-guard.ts';
import { type CostPoint, costPicture, tolerancePicture } from './accuracy/pictures.ts';
import { type GroupResult, measure } from './accuracy/run.ts';
import { accuracyTable } from './accuracy/table.ts';
import { DATASETS, type DatasetName } from './datasets/index.ts';
import type { LabelledRun } from './datasets/labelled-run.ts';
import { machineLine, writeDocsSection } from './docs-section.ts';

const USAGE = `usage: rootspan bench accuracy --dataset agentrx|whowhen|labels --path DIR
  --model SPEC       none (default), bedrock:…, openai:…@…, batch:DIR, replay:DIR
  --depth DEPTH      ${DEPTHS.join(' | ')} (default standard)
  --votes N          votes of the judge (default 1)
  --repeats N        diagnose each session N times and measure agreement (default 1)
  --confidence WORD  low (default) | medium | high
  --no-assume-failed do not tell the judge that the labelled runs failed (published figures do)
  --concurrency N    sessions at once (default 4; with batch: all)
  --limit N          only the first N runs of each group, for a look
  --out DIR          results as JSON and SVG (default bench-results)
  --docs FILE        also put the table into this page, e.g. docs/benchmarks.md
  --resume           go on from an interrupted run with the same settings in --out`;

const argsSchema = z.object({
  dataset: z.enum(['agentrx', 'whowhen', 'labels']),
  path: z.string(),
  model: z.string().default('none'),
  depth: z.enum(DEPTHS).default('standard'),
  votes: z.coerce.number().int().min(1).max(25).default(1),
  repeats: z.coerce.number().int().min(1).max(25).default(1),
  confidence: z.enum(['low', 'medium', 'high']).default('low'),
  'no-assume-failed': z.boolean().default(false),
  concurrency: z.coerce.number().int().min(1).optional(),
  limit: z.coerce.number().int().min(1).optional(),
  out: z.string().default('bench-results'),
  resume: z.boolean().default(false),
  docs: z.string().optional(),
});
type Args = z.infer<typeof argsSchema>;

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
  if (argv.includes('--help')) {
    io.out(`${USAGE}\n`);
    return ExitCode.Clean;
  }
  const args = readArgs(argv, io);
  if (args === null) {
    io.err(`${USAGE}\n`);
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

async function run(args: Args, io: BenchIo): Promise<number> {
  const runs = limited(DATASETS[args.dataset](args.path), args.limit);

  mkdirSync(args.out, { recursive: true });
  const stem = path.join(args.out, fileStem(args));
  const settingsHash = hashOf(args, runs);
  const journal = openJournal(`${stem}.journal.jsonl`, settingsHash, args.resume);

  const cache = new FileObjectStore(path.join(args.out, 'cache'));
  const apiKey = io.env.OPENAI_API_KEY;
  const model = await createModel(args.model, {
    cache,
    retry: {},
    ...(apiKey === undefined ? {} : { openaiApiKey: apiKey }),
  });
  const options = {
    ...DEFAULT_OPTIONS,
    depth: args.depth,
    confidence: args.confidence,
    votes: args.votes,
    assumeFailed: !args['no-assume-failed'],
  };
  const counter = makeTokenCounter();
  const clock = { now: () => Date.now() };
  let finished = journal.done.size;
  const total = runs.length * args.repeats;
  const result = await measure(
    runs,
    (one) =>
      diagnosisPredictor({
        model: guardedModel(model, tellingAnswers(one.answers, one.session)),
        counter,
        clock,
        options,
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
  const table = `${heading(args, runs)}\n${accuracyTable(result.groups)}`;
  io.out(`${table}\n`);
  if (args.docs !== undefined) {
    const id = `accuracy ${args.dataset} ${args.model} ${args.depth}`;
    const date = new Date(clock.now()).toISOString().slice(0, 10);
    const title = `### Accuracy on ${args.dataset}, model ${args.model}, depth ${args.depth}`;
    writeDocsSection(args.docs, id, `${title}\n\n${date}, ${machineLine()}\n\n\`\`\`\n${table}\n\`\`\``);
  }
  writeResults(stem, args, settingsHash, result.groups);
  return ExitCode.Clean;
}

function readArgs(argv: readonly string[], io: BenchIo): Args | null {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        dataset: { type: 'string' },
        path: { type: 'string' },
        model: { type: 'string' },
        depth: { type: 'string' },
        votes: { type: 'string' },
        repeats: { type: 'string' },
        confidence: { type: 'string' },
        'no-assume-failed': { type: 'boolean' },
        concurrency: { type: 'string' },
        limit: { type: 'string' },
        out: { type: 'string' },
        resume: { type: 'boolean' },
        docs: { type: 'string' },
      },
    });
    const parsed = argsSchema.safeParse(values);
    if (parsed.success) return parsed.data;
    io.err(`${z.prettifyError(parsed.error)}\n`);
  } catch (error) {
    io.err(`${error instanceof Error ? error.message : String(error)}\n`);
  }
  return null;
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

const slug = (text: string): string => text.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 60);

function fileStem(args: Args): string {
  return `accuracy-${args.dataset}-${slug(args.model)}-${args.depth}`;
}

/** What decides the predictions: a journal of other settings or other sessions must not be resumed. */
function hashOf(args: Args, runs: readonly LabelledRun[]): string {
  const {
    out: _out,
    resume: _resume,
    docs: _docs,
    concurrency: _concurrency,
    path: _path,
    ...deciding
  } = args;
  return sha256Hex(
    canonicalJson({ ...deciding, sessions: runs.map((run) => sha256Hex(canonicalJson(run.session))) }),
  );
}

function heading(args: Args, runs: readonly LabelledRun[]): string {
  const told = args['no-assume-failed'] ? 'not told that runs failed' : 'told which runs failed';
  return (
    `accuracy on ${args.dataset} (${runs.length} runs), model ${args.model}, depth ${args.depth}, ` +
    `${args.votes} vote(s), ${told}; best constants are chosen on these runs\n`
  );
}

const resultFileSchema = z.object({
  dataset: z.string(),
  model: z.string(),
  depth: z.string(),
  groups: z.array(
    z.object({
      group: z.string(),
      metrics: z
        .object({ within: z.array(z.object({ k: z.number(), rate: z.object({ share: z.number() }) })) })
        .nullable(),
      usage: z.object({ costUsd: z.number().nullable() }),
      runs: z.array(z.object({ predictions: z.array(z.unknown()) })),
    }),
  ),
});

function writeResults(stem: string, args: Args, settingsHash: string, groups: readonly GroupResult[]): void {
  const provenance = {
    dataset: args.dataset,
    model: args.model,
    depth: args.depth,
    settings: args,
    settingsHash,
    createdAt: new Date().toISOString(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
  };
  writeFileSync(`${stem}.json`, `${JSON.stringify({ ...provenance, groups }, null, 1)}\n`);
  for (const group of groups) {
    const tolerance = tolerancePicture(group);
    if (tolerance !== null) writeFileSync(`${stem}-${group.group}-tolerance.svg`, tolerance);
    const cost = costPicture(
      `${group.group}: exact step against cost, every configuration measured`,
      costPoints(args.out, args.dataset, group.group),
    );
    if (cost !== null)
      writeFileSync(path.join(args.out, `accuracy-${args.dataset}-${group.group}-cost.svg`), cost);
  }
}

/** All results of the folder on this data set: the picture compares configurations, so it needs their files. */
function costPoints(folder: string, dataset: DatasetName, groupName: string): CostPoint[] {
  return readdirSync(folder)
    .filter((file) => file.startsWith(`accuracy-${dataset}-`) && file.endsWith('.json'))
    .sort()
    .flatMap((file) => {
      const { model, depth, groups } = resultFileSchema.parse(
        JSON.parse(readFileSync(path.join(folder, file), 'utf8')),
      );
      const group = groups.find((entry) => entry.group === groupName);
      const exact = group?.metrics?.within.find(({ k }) => k === 0)?.rate.share;
      if (group === undefined || exact === undefined) return [];
      const runs = group.runs.reduce((sum, run) => sum + run.predictions.length, 0);
      const { costUsd } = group.usage;
      return [
        { label: `${model}, ${depth}`, costUsd: costUsd === null ? null : costUsd / runs, accuracy: exact },
      ];
    });
}
