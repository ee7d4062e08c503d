import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, type Metafile } from 'esbuild';
import { bundleReportPage, REPORT_PAGES } from '../cli/shell/report-assets.ts';
import { BUNDLE, REQUIRE } from './lambda-bundles.ts';

/** What the package holds beside the Lambda steps and the construct: command line, library, their types, report pages. */

const root = path.resolve(import.meta.dirname, '..');

/** The pages of `rootspan report`, beside the command line that fills them. */
export async function buildReportPages(dist: string): Promise<void> {
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
 * Returns what went into which file.
 */
export async function buildPackage(dist: string): Promise<Metafile> {
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
  return metafile;
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

/** Declarations of everything that the library exports, under `<dist>/types`. */
export function buildTypes(dist: string): void {
  execFileSync(
    process.execPath,
    [
      path.join(root, 'node_modules/typescript/bin/tsc'),
      ...['-p', 'tsconfig.build.json', '--outDir', path.join(dist, 'types')],
    ],
    { cwd: root, stdio: 'inherit' },
  );
}

/** What an install may take. */
export const INSTALL_BUDGET_MB = 40;

/** MB (10^6 bytes) that an install of the package takes on disk, by what is in it: its own `dist` and its dependencies. */
export function installSizes(dist: string): ReadonlyMap<string, number> {
  const { dependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  return new Map([
    ['rootspan', sizeOf(dist)],
    ...Object.keys(dependencies).map((name): [string, number] => [
      name,
      sizeOf(path.join(root, 'node_modules', name)),
    ]),
  ]);
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size / 1e6, 0);
}
