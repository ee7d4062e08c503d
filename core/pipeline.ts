import type { Clock } from './contracts/ports.ts';
import type { AnalyzeChunk, Explain, MergeChunks, Prepare } from './contracts/stages.ts';
import type { DiagnosisOptions } from './diagnosis/options.ts';
import type { Diagnosis } from './diagnosis/schema.ts';
import type { Model } from './model/port.ts';
import type { Session } from './session/model.ts';
import type { TokenCounter } from './tokens/counter.ts';

export interface Progress {
  readonly stage: 'prepare' | 'detect' | 'merge' | 'explain';
  readonly done: number;
  readonly total: number;
}

export interface DiagnoseDeps {
  readonly model: Model;
  readonly counter: TokenCounter;
  readonly clock: Clock;
  /** Chunks analysed at once. Default 4. */
  readonly concurrency?: number;
  readonly onProgress?: (progress: Progress) => void;
}

const notYet = (what: string): never => {
  throw new Error(`${what} is being built`);
};

export const prepare: Prepare = () => notYet('prepare');
export const analyzeChunk: AnalyzeChunk = () => notYet('analyzeChunk');
export const mergeChunks: MergeChunks = () => notYet('mergeChunks');
export const explain: Explain = () => notYet('explain');
export const diagnose = (
  _session: Session,
  _options: DiagnosisOptions,
  _deps: DiagnoseDeps,
): Promise<Diagnosis> => notYet('diagnose');
