import type { Clock } from '../base/clock.ts';
import { forEachConcurrently } from '../base/for-each-concurrently.ts';
import { settleAll } from '../base/settle-all.ts';
import { chunkNotAnalysed, reasonForFault } from '../detection/chunk-not-analysed.ts';
import type { DiagnosisOptions } from '../diagnosis/options.ts';
import type { Diagnosis } from '../diagnosis/schema.ts';
import type { ChunkResult, Constrained, ConstraintsDeps, Merged, Prepared } from '../diagnosis/stages.ts';
import {
  BudgetExhaustedError,
  ModelPendingError,
  ModelThrottledError,
  ModelUnavailableError,
} from '../errors/errors.ts';
import { CALLS_AT_ONCE, type Model } from '../model/port.ts';
import type { TokenCounter } from '../planning/tokens/counter.ts';
import type { Session } from '../session/session.ts';
import { analyzeChunk } from './analyze-chunk.ts';
import { constraintsWithoutModel, evaluateConstraints, foldConstraints } from './constraints.ts';
import { mergeChunks } from './merge.ts';
import { preflight } from './preflight.ts';
import { findRootCauses, rootCausesUnavailable } from './root-cause.ts';

/** The stages, as the state machine runs them; `diagnose` below composes them in process. */
export {
  analyzeChunk,
  constraintsWithoutModel,
  evaluateConstraints,
  findRootCauses,
  foldConstraints,
  mergeChunks,
  preflight,
  rootCausesUnavailable,
};

export interface Progress {
  readonly stage: 'preflight' | 'analyze-chunks' | 'merge' | 'constraints' | 'root-cause';
  readonly done: number;
  readonly total: number;
}

export interface DiagnoseDeps {
  readonly model: Model;
  readonly counter: TokenCounter;
  readonly clock: Clock;
  /** Chunks analysed at once. Default: as many as the model's limits say. */
  readonly concurrency?: number;
  /** Sessions known to be good, to weigh constraints by. */
  readonly healthy?: NonNullable<ConstraintsDeps['healthy']>;
  readonly onProgress?: (progress: Progress) => void;
}

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
  progress({ stage: 'preflight', done: 0, total: 1 });
  const prepared = preflight(session, options, {
    counter: deps.counter,
    limits: deps.model.limits,
    modelSpec: deps.model.spec,
  });
  progress({ stage: 'preflight', done: 1, total: 1 });
  const detecting = analyzeChunks(prepared, deps);
  // Beside detection unless its findings decide whether to ask: a batch model then answers both in one round.
  const early = options.deepRule === 'on-findings' ? null : constrainOrSayWhy(prepared, null, deps);
  await settleAll<unknown>(early === null ? [detecting] : [detecting, early]);
  const merged = mergeChunks(prepared, await detecting);
  progress({ stage: 'merge', done: 1, total: 1 });
  const constrained = await (early ?? constrainOrSayWhy(prepared, merged, deps));
  progress({ stage: 'constraints', done: 1, total: 1 });
  progress({ stage: 'root-cause', done: 0, total: 1 });
  const { validationLog } = constrained;
  const folded = foldConstraints(prepared, merged, constrained);
  const diagnosis = await explainOrSayWhy(prepared, folded, validationLog, deps);
  progress({ stage: 'root-cause', done: 1, total: 1 });
  return diagnosis;
}

/** All chunks of the plan, a few at a time. None when no model is to be asked. */
export async function analyzeChunks(
  prepared: Prepared,
  deps: Omit<DiagnoseDeps, 'clock'>,
): Promise<readonly ChunkResult[]> {
  const progress = deps.onProgress ?? (() => {});
  const indexes = prepared.notAnalysed === null ? prepared.plan.chunks.map(({ index }) => index) : [];
  const total = indexes.length;
  const results: ChunkResult[] = [];
  const open: string[] = [];
  // A fault that somebody must fix ends it: no further call is begun or paid for.
  await forEachConcurrently(
    indexes,
    deps.concurrency ?? deps.model.limits.callsAtOnce ?? CALLS_AT_ONCE,
    async (index) => {
      try {
        results.push(await analyzeChunk(prepared, index, deps.model, deps.counter));
      } catch (error) {
        // A batch model answers later: the other chunks' requests must still be written down.
        if (error instanceof ModelPendingError) open.push(...error.requestHashes);
        else if (isEndOfStage(error)) results.push(chunkNotAnalysed(prepared, index, reasonOf(error)));
        else throw error;
      }
      progress({ stage: 'analyze-chunks', done: results.length + open.length, total });
    },
  );
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
    return await evaluateConstraints(prepared, merged, deps.model, deps);
  } catch (error) {
    if (!isEndOfStage(error)) throw error;
    return constraintsWithoutModel(prepared, merged, reasonOf(error), deps.model, deps);
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
    return await findRootCauses(prepared, merged, validationLog, deps.model, {
      counter: deps.counter,
      nowIso,
    });
  } catch (error) {
    if (!isEndOfStage(error)) throw error;
    return rootCausesUnavailable(prepared, merged, validationLog, reasonOf(error), nowIso);
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
