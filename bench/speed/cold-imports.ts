import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { buildLambdas, measureBundles } from '../../scripts/lambda-bundles.ts';
import type { SpeedSection } from './section.ts';

/** The bundles that are shipped, built anew from the tree. `runs` processes a step, the least counts. */
export function coldImportsSection(steps: readonly string[], runs: number): SpeedSection {
  return {
    id: 'cold-imports',
    title: `Lambda handlers: bundle, and importing it in a new process over bare node (CPU time, least of ${runs})`,
    needsCorpus: false,
    async run({ say }) {
      const folder = await mkdtemp(path.join(os.tmpdir(), 'rootspan-bundles-'));
      try {
        say(`building ${steps.length} handlers`);
        await buildLambdas(folder, steps);
        say('importing them');
        const measured = measureBundles(folder, steps, runs);
        return {
          figures: measured.flatMap(({ step, kb, coldImportMs }) => [
            { name: `${step}: bundle`, value: kb, unit: 'KB', better: 'lower' as const },
            { name: `${step}: cold import`, value: coldImportMs, unit: 'ms CPU', better: 'lower' as const },
          ]),
        };
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}
