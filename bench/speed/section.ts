/** One measured number. `name` is stable, so that two versions can be compared. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Which direction is better; `same` for figures that should not move (sizes of the input). */
  readonly better: 'higher' | 'lower' | 'same';
}

export interface SpeedResult {
  readonly figures: readonly Figure[];
  /** Growth curves, as SVG by file name. */
  readonly pictures?: readonly { readonly file: string; readonly svg: string }[];
}

export interface SpeedContext {
  /** Folder of benchmark runs, for sections that need real text. */
  readonly corpusPath: string;
  /** Progress, to stderr. */
  readonly say: (line: string) => void;
}

/** A part of the speed benchmark: one file in this folder, one line in `sections.ts`. */
export interface SpeedSection {
  readonly id: string;
  /** Says what the numbers are of, and whether of CPU or wall time. */
  readonly title: string;
  /** Cannot be measured without benchmark runs at `corpusPath`. */
  readonly needsCorpus: boolean;
  run(context: SpeedContext): SpeedResult | Promise<SpeedResult>;
}
