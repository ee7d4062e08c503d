import {
  BudgetExhaustedError,
  ModelPendingError,
  ModelThrottledError,
  ModelUnavailableError,
} from './contracts/errors.ts';
import type { Clock } from './contracts/ports.ts';
import type { ChunkResult, ConstrainDeps, Constrained, Merged, Prepared } from './contracts/stages.ts';
import { chunkNotAnalysed, reasonForFault } from './detection/chunk-not-analysed.ts';
import type { DiagnosisOptions } from './diagnosis/options.ts';
import type { Diagnosis } from './diagnosis/schema.ts';
import type { Model } from './model/port.ts';
import { settleAll } from './model/settle-all.ts';
import type { Session } from './session/model.ts';
import { analyzeChunk } from './stages/analyze-chunk.ts';
import { constrain, constrainWithoutModel, foldConstraints } from './stages/constrain.ts';
import { explain, explainUnavailable } from './stages/explain.ts';
import { mergeChunks } from './stages/merge-chunks.ts';
import { prepare } from './stages/prepare.ts';
import type { TokenCounter } from './tokens/counter.ts';

/** The stages, as the state machine runs them; `diagnose` below composes them in process. */
export {
  analyzeChunk,
  constrain,
  constrainWithoutModel,
  explain,
  explainUnavailable,
  foldConstraints,
  mergeChunks,
  prepare,
};

export interface Progress {
  readonly stage: 'prepare' | 'detect' | 'constrain' | 'merge' | 'explain';
  readonly done: number;
  readonly total: number;
}

export interface DiagnoseDeps {
  readonly model: Model;
  readonly counter: TokenCounter;
  readonly clock: Clock;
  /** Chunks analysed at once. Default 4. */
  readonly concurrency?: number;
  /** Sessions known to be good, to weigh constraints by. */
  readonly healthy?: NonNullable<ConstrainDeps['healthy']>;
  readonly onProgress?: (progress: Progress) => void;
}

const CONCURRENCY = 4;

/**
 * The whole diagnosis in process: the same functions that the state machine runs, in the same order.
 *
 * The model adapter has its own retries; when they are used up, throttling, outage and an empty budget become gaps,
 * as the state machine's `Catch` makes them. Rejects with ModelPendingError (all open requests, after every
 * independent one was started) and with configuration faults.
 */
export async function diagnose(
  session: Session,
  options: DiagnosisOptions,
  deps: DiagnoseDeps,
): Promise<Diagnosis> {
  const progress = deps.onProgress ?? (() => {});
  progress({ stage: 'prepare', done: 0, total: 1 });
  const prepared = prepare(session, options, {
    counter: deps.counter,
    limits: deps.model.limits,
    modelSpec: deps.model.spec,
  });
  progress({ stage: 'prepare', done: 1, total: 1 });
  const detecting = detectAll(prepared, deps);
  // Beside detection unless its findings decide whether to ask: a batch model then answers both in one round.
  const early = options.deepRule === 'on-findings' ? null : constrainOrSayWhy(prepared, null, deps);
  await settleAll<unknown>(early === null ? [detecting] : [detecting, early]);
  const merged = mergeChunks(prepared, await detecting);
  progress({ stage: 'merge', done: 1, total: 1 });
  const constrained = await (early ?? constrainOrSayWhy(prepared, merged, deps));
  progress({ stage: 'constrain', done: 1, total: 1 });
  progress({ stage: 'explain', done: 0, total: 1 });
  const { validationLog } = constrained;
  const folded = foldConstraints(prepared, merged, constrained);
  const diagnosis = await explainOrSayWhy(prepared, folded, validationLog, deps);
  progress({ stage: 'explain', done: 1, total: 1 });
  return diagnosis;
}

/** All chunks of the plan, a few at a time. None when no model is to be asked. */
export async function detectAll(
  prepared: Prepared,
  deps: Omit<DiagnoseDeps, 'clock'>,
): Promise<readonly ChunkResult[]> {
  const progress = deps.onProgress ?? (() => {});
  const indexes = prepared.notAnalysed === null ? prepared.plan.chunks.map(({ index }) => index) : [];
  const total = indexes.length;
  const results: ChunkResult[] = [];
  const open: string[] = [];
  const queue = [...indexes];
  const work = async (): Promise<void> => {
    for (let index = queue.shift(); index !== undefined; index = queue.shift()) {
      try {
        results.push(await analyzeChunk(prepared, index, deps.model, deps.counter));
      } catch (error) {
        // A batch model answers later: the other chunks' requests must still be written down.
        if (error instanceof ModelPendingError) open.push(...error.requestHashes);
        else if (isEndOfStage(error)) results.push(chunkNotAnalysed(prepared, index, reasonOf(error)));
        else {
          // A fault that somebody must mend: no further call is paid for.
          queue.length = 0;
          throw error;
        }
      }
      progress({ stage: 'detect', done: results.length + open.length, total });
    }
  };
  await Promise.all(Array.from({ length: Math.min(deps.concurrency ?? CONCURRENCY, total) }, work));
  if (open.length > 0) {
    const hashes = [...new Set(open)].sort();
    throw new ModelPendingError(`${hashes.length} requests wait for their answers`, hashes);
  }
  return results;
}

async function constrainOrSayWhy(
  prepared: Prepared,
  merged: Merged | null,
  deps: DiagnoseDeps,
): Promise<Constrained> {
  try {
    return await constrain(prepared, merged, deps.model, deps);
  } catch (error) {
    if (!isEndOfStage(error)) throw error;
    return constrainWithoutModel(prepared, merged, reasonOf(error), deps.model, deps);
  }
}

async function explainOrSayWhy(
  prepared: Prepared,
  merged: Merged,
  validationLog: Constrained['validationLog'],
  deps: DiagnoseDeps,
): Promise<Diagnosis> {
  const nowIso = new Date(deps.clock.now()).toISOString();
  try {
    return await explain(prepared, merged, validationLog, deps.model, { counter: deps.counter, nowIso });
  } catch (error) {
    if (!isEndOfStage(error)) throw error;
    return explainUnavailable(prepared, merged, validationLog, reasonOf(error), nowIso);
  }
}

/** Faults that end a stage but not the diagnosis. */
function isEndOfStage(error: unknown): error is Error {
  return (
    error instanceof ModelThrottledError ||
    error instanceof ModelUnavailableError ||
    error instanceof BudgetExhaustedError
  );
}

const reasonOf = (error: Error): string => reasonForFault(error.name, error.message);
