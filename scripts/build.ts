import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { bundleReportPage, REPORT_PAGES } from '../cli/shell/report-assets.ts';
import {
  BUNDLE,
  buildConstruct,
  buildLambdas,
  COLD_IMPORT_BUDGET_MS,
  lambdaSteps,
  measureBundles,
} from './lambda-bundles.ts';

/**
 * Builds everything that is shipped: one bundle a Lambda step, the command line and the library (dependencies stay
 * outside, npm installs them) with its types; prints the size of each handler, what importing it costs, and which are
 * over the budget. With `--quick` only the Lambda bundles, for `cdk`: what else was built stays.
 */

const RUNS = 5;

const root = path.resolve(import.meta.dirname, '..');
const dist = path.join(root, 'dist');
const bundles = path.join(dist, 'lambdas');

/** The pages of `rootspan report`, beside the command line that fills them. */
async function buildReportPages(): Promise<void> {
  mkdirSync(path.join(dist, 'report'), { recursive: true });
  for (const page of REPORT_PAGES) {
    const { script, style } = await bundleReportPage(page);
    writeFileSync(path.join(dist, 'report', `${page}.js`), script);
    writeFileSync(path.join(dist, 'report', `${page}.css`), style);
  }
}

/** Split where the source imports late, so that a command loads only what it needs. */
async function buildPackage(): Promise<void> {
  await build({
    ...BUNDLE,
    entryPoints: {
      index: 'core/index.ts',
      models: 'adapters/models/create-model.ts',
      'cli/rootspan': 'cli/main.ts',
    },
    outdir: dist,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
    packages: 'external',
  });
}

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const steps = lambdaSteps();
rmSync(values.quick ? bundles : dist, { recursive: true, force: true });
await buildLambdas(bundles, steps);

if (!values.quick) {
  await buildPackage();
  await buildConstruct(dist);
  await buildReportPages();
  execFileSync(
    process.execPath,
    [path.join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
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
