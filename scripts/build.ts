import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
  REQUIRE,
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

/**
 * Command line and library, split where the source imports late, so that a command loads only what it needs. What they
 * use is inside, but zod, whose types are part of the library's: an install is a third of what the packages would be.
 */
async function buildPackage(): Promise<void> {
  const { metafile } = await build({
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
    minifyWhitespace: true,
    legalComments: 'none',
    mainFields: ['module', 'main'],
    banner: { js: REQUIRE },
    external: ['zod', 'esbuild'],
    metafile: true,
  });
  writeFileSync(path.join(dist, 'third-party-licenses.txt'), licensesOf(Object.keys(metafile.inputs)));
}

/** The licence of each package that the bundles hold, as its authors ask. */
function licensesOf(inputs: readonly string[]): string {
  const folders = inputs.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/u.exec(file)?.[0] ?? []);
  return [...new Set(folders)]
    .sort()
    .map((folder) => {
      const licence = readdirSync(path.join(root, folder)).find((file) => /^licen[cs]e/iu.test(file));
      const { name, version, license } = JSON.parse(
        readFileSync(path.join(root, folder, 'package.json'), 'utf8'),
      );
      const text = licence === undefined ? '' : readFileSync(path.join(root, folder, licence), 'utf8');
      return `${name} ${version} (${license})\n\n${text}`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
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
  const shipped = readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0);
  console.log(
    `package          ${(shipped / 1e6).toFixed(1).padStart(6)} MB in dist; an install adds zod and the expression parser`,
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
