import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';

/** What `npm run build` ships for the Lambda steps and `npm run bench -- speed` measures: made and measured here alone. */

const root = path.resolve(import.meta.dirname, '..');

/** Process time of importing a handler, over that of bare node. Said when passed, never fatal: on a busy machine it would be chance. */
export const COLD_IMPORT_BUDGET_MS = 200;

/** Options of every bundle. */
export const BUNDLE: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  minifySyntax: true,
  logLevel: 'warning',
};

// CommonJS packages inside an ES module still call `require` for Node's own modules.
export const REQUIRE =
  "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);";

export function lambdaSteps(): string[] {
  return readdirSync(path.join(root, 'lambdas')).sort();
}

const RANKS = 'js-tiktoken/ranks/o200k_base';
const RANKS_FILE = 'o200k_base.cjs';

/**
 * The tokenizer's ranks are 2.3 MB of text, more than all the rest of a handler: beside the bundle, so that they are
 * parsed when a step first counts and not whenever it starts.
 */
const ranksBeside: Plugin = {
  name: 'ranks-beside',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^js-tiktoken\/ranks\/o200k_base$/ }, ({ path }) => ({ path, namespace: 'ranks' }));
    onLoad({ filter: /.*/, namespace: 'ranks' }, () => ({
      contents: `const ranks = () => require('./${RANKS_FILE}');
        export default { get pat_str() { return ranks().pat_str }, get bpe_ranks() { return ranks().bpe_ranks } };`,
    }));
    onResolve({ filter: /o200k_base\.cjs$/, namespace: 'ranks' }, ({ path }) => ({ path, external: true }));
  },
};

/** One bundle a step, as `<folder>/<step>/index.mjs`. SDK included: it imports in half the time of the runtime's own. */
export async function buildLambdas(folder: string, steps: readonly string[]): Promise<void> {
  await bundle(
    folder,
    Object.fromEntries(steps.map((step) => [`${step}/index`, `lambdas/${step}/index.ts`])),
  );
}

/** Entry points by the path of their bundle in the folder, without the ending; sources from the root. */
export async function bundle(folder: string, entryPoints: Record<string, string>): Promise<void> {
  const { metafile } = await build({
    ...BUNDLE,
    target: 'node24',
    minify: true,
    metafile: true,
    plugins: [ranksBeside],
    entryPoints,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    // The SDK's ES modules are a third smaller than its CommonJS.
    mainFields: ['module', 'main'],
    banner: { js: REQUIRE },
  });
  const ranks = createRequire(import.meta.url).resolve(RANKS);
  for (const [file, { inputs }] of Object.entries(metafile.outputs)) {
    if (Object.keys(inputs).some((input) => input.startsWith('ranks:')))
      copyFileSync(ranks, path.join(root, path.dirname(file), RANKS_FILE));
  }
}

/** The construct, for CDK apps of either module system; beside the bundles that it deploys (dist/lambdas). */
export async function buildConstruct(dist: string): Promise<void> {
  const entry: BuildOptions = { ...BUNDLE, entryPoints: { index: 'lib/index.ts' }, packages: 'external' };
  const outdir = path.join(dist, 'cdk');
  await build({ ...entry, outdir, outExtension: { '.js': '.mjs' } });
  await build({
    ...entry,
    outdir,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    define: { 'import.meta.dirname': '__dirname' },
  });
}

export interface MeasuredBundle {
  readonly step: string;
  readonly kb: number;
  /** Process time (user and system) of importing it in a new process, less that of bare node. */
  readonly coldImportMs: number;
}

/** Each bundle is imported `runs` times, each in a process of its own, and the least counts: others can only add to it. */
export function measureBundles(folder: string, steps: readonly string[], runs: number): MeasuredBundle[] {
  const bare = processMs('', runs);
  return steps.map((step) => {
    const file = path.join(folder, step, 'index.mjs');
    const code = `await import(${JSON.stringify(pathToFileURL(file).href)})`;
    return { step, kb: statSync(file).size / 1024, coldImportMs: processMs(code, runs) - bare };
  });
}

function processMs(code: string, runs: number): number {
  const script = `${code}; const { user, system } = process.cpuUsage(); process.stdout.write(String((user + system) / 1000));`;
  const measure = (): number =>
    Number(execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }));
  return Math.min(...Array.from({ length: runs }, measure));
}
