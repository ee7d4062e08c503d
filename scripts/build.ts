import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type BuildOptions, build } from 'esbuild';

/**
 * Builds everything that is shipped: one bundle a Lambda step (SDK included: it imports in half the time of the
 * runtime's own), the command line and the library (dependencies stay outside, npm installs them).
 * Without `--quick` it also writes the library's types, prints sizes and what importing each handler costs, and fails over the budget.
 */

/** Process time of importing a handler, over that of bare node. */
const COLD_IMPORT_MS = 200;
const RUNS = 5;

const root = path.resolve(import.meta.dirname, '..');
const dist = path.join(root, 'dist');

const shared: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  minifySyntax: true,
  logLevel: 'warning',
};

// CommonJS packages inside an ES module still call `require` for Node's own modules.
const REQUIRE =
  "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);";

async function buildLambdas(): Promise<string[]> {
  const steps = readdirSync(path.join(root, 'lambdas')).sort();
  await build({
    ...shared,
    target: 'node24',
    minify: true,
    entryPoints: Object.fromEntries(steps.map((step) => [`${step}/index`, `lambdas/${step}/index.ts`])),
    outdir: path.join(dist, 'lambdas'),
    outExtension: { '.js': '.mjs' },
    // The SDK's ES modules are a third smaller than its CommonJS.
    mainFields: ['module', 'main'],
    banner: { js: REQUIRE },
  });
  return steps;
}

/** Split where the source imports late, so that a command loads only what it needs. */
async function buildPackage(): Promise<void> {
  await build({
    ...shared,
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

function processMs(code: string): number {
  const script = `${code}; const { user, system } = process.cpuUsage(); process.stdout.write(String((user + system) / 1000));`;
  const measure = (): number =>
    Number(execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }));
  // The least of several runs: others on the machine can only add to it.
  return Math.min(...Array.from({ length: RUNS }, measure));
}

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
rmSync(dist, { recursive: true, force: true });
const [steps] = await Promise.all([buildLambdas(), buildPackage()]);

if (!values.quick) {
  execFileSync(
    process.execPath,
    [path.join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
  const bare = processMs('');
  const late: string[] = [];
  for (const step of steps) {
    const file = path.join(dist, 'lambdas', step, 'index.mjs');
    const ms = Math.round(processMs(`await import(${JSON.stringify(pathToFileURL(file).href)})`) - bare);
    if (ms > COLD_IMPORT_MS) late.push(step);
    const kb = Math.round(statSync(file).size / 1024);
    console.log(
      `${step.padEnd(16)} ${String(kb).padStart(6)} KB  ${String(ms).padStart(4)} ms cold import over bare node`,
    );
  }
  if (late.length > 0) {
    console.error(`over the budget of ${COLD_IMPORT_MS} ms: ${late.join(', ')}`);
    process.exitCode = 1;
  }
}
