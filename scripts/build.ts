import { rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import {
  buildConstruct,
  buildLambdas,
  COLD_IMPORT_BUDGET_MS,
  lambdaSteps,
  measureBundles,
} from './lambda-bundles.ts';
import {
  buildPackage,
  buildReportPages,
  buildTypes,
  INSTALL_BUDGET_MB,
  installSizes,
} from './package-bundles.ts';

/**
 * Builds everything that is shipped: one bundle a Lambda step, the command line and the library (dependencies stay
 * outside, npm installs them) with its types; prints the size of each handler, what importing it costs, and which are
 * over the budget. With `--quick` only the Lambda bundles, for `cdk`: what else was built stays.
 */

const RUNS = 5;

const root = path.resolve(import.meta.dirname, '..');
const dist = path.join(root, 'dist');
const bundles = path.join(dist, 'lambdas');

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const steps = lambdaSteps();
rmSync(values.quick ? bundles : dist, { recursive: true, force: true });
await buildLambdas(bundles, steps);

if (!values.quick) {
  await buildPackage(dist);
  await buildConstruct(dist);
  await buildReportPages(dist);
  buildTypes(dist);
  const sizes = installSizes(dist);
  const all = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const parts = [...sizes].map(([name, size]) => `${name} ${size.toFixed(1)}`).join(', ');
  console.log(`an install takes ${all.toFixed(1)} MB of at most ${INSTALL_BUDGET_MB} (${parts})`);
  const measured = measureBundles(bundles, steps, RUNS);
  for (const { step, kb, coldImportMs } of measured) {
    console.log(
      `${step.padEnd(16)} ${String(Math.round(kb)).padStart(6)} KB  ${String(Math.round(coldImportMs)).padStart(4)} ms cold import over bare node`,
    );
  }
  const late = measured.filter(({ coldImportMs }) => coldImportMs > COLD_IMPORT_BUDGET_MS);
  if (late.length > 0)
    console.log(`over the budget of ${COLD_IMPORT_BUDGET_MS} ms: ${late.map(({ step }) => step).join(', ')}`);
}
