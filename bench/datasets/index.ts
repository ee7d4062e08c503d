import { loadAgentRx } from './agentrx.ts';
import type { LabelledRun } from './labelled-run.ts';
import { loadLabels } from './labels.ts';
import { loadWhoWhen } from './who-when.ts';

/** Loaders by the name that `--dataset` takes. */
export const DATASETS = {
  agentrx: loadAgentRx,
  whowhen: loadWhoWhen,
  labels: loadLabels,
} as const satisfies Record<string, (folder: string) => LabelledRun[]>;
