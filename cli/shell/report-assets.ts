import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PageAsset } from '../../report/html/page.ts';

/** Pages of report/client: one entry each. */
export const REPORT_PAGES = ['session', 'fleet'] as const;
export type ReportPage = (typeof REPORT_PAGES)[number];

/**
 * Script and style of a page. The build puts them beside the command line (dist/report); from the sources, where nothing
 * generated is kept, they are bundled when a report is asked for, which takes a tenth of a second.
 */
export async function reportAsset(page: ReportPage): Promise<PageAsset> {
  if (import.meta.url.endsWith('.ts')) return bundleReportPage(page);
  const at = (extension: string): string =>
    fileURLToPath(new URL(`../report/${page}.${extension}`, import.meta.url));
  const [script, style] = await Promise.all([readFile(at('js'), 'utf8'), readFile(at('css'), 'utf8')]);
  return { script, style };
}

/** esbuild is a dependency of the repository, not of the package. */
export async function bundleReportPage(page: ReportPage): Promise<PageAsset> {
  const { build } = await import('esbuild');
  const root = path.resolve(import.meta.dirname, '../..');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [`report/client/${page}.tsx`],
    outdir: 'dist/report',
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfigRaw: {},
    logLevel: 'silent',
  });
  const text = (extension: string): string =>
    outputFiles.find((file) => file.path.endsWith(extension))?.text.trim() ?? '';
  return { script: text('.js'), style: text('.css') };
}
