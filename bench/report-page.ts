import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ExitCode } from '../cli/shell/exit-codes.ts';
import { ConfigurationInvalidError } from '../core/errors/errors.ts';
import { chromiumPath, openBrowser } from '../test/helpers/browser.ts';
import { machineLine } from './print/docs-section.ts';
import { madeSession } from './speed/made-session.ts';

const SPANS = 10_000;
const RUNS = 5;

/**
 * `npm run bench -- report-page`: from opening the report of 10,000 spans to the last step shown after a key was pressed.
 * Needs Chromium.
 */
export async function benchReportPage(argv: readonly string[]): Promise<number> {
  parseArgs({ args: [...argv], options: {} });
  if (chromiumPath === null)
    throw new ConfigurationInvalidError('no Chromium here: install it or set CHROMIUM');
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rootspan-page-'));
  const [session, file] = [path.join(folder, 'session.json'), path.join(folder, 'report.html')];
  writeFileSync(session, JSON.stringify(madeSession(SPANS)));
  const command = path.resolve(import.meta.dirname, '../cli/main.ts');
  execFileSync(process.execPath, [
    ...[command, 'diagnose', session, '--exit-zero'],
    ...['--store', path.join(folder, 'store'), '-o', file],
  ]);
  const browser = await openBrowser();
  try {
    const times: number[] = [];
    for (let run = 0; run < RUNS; run++) {
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      const begun = performance.now();
      await page.goto(`file://${file}`);
      await page.locator('.rows').focus();
      await page.keyboard.press('End');
      await page.locator('.detail h3', { hasText: `step ${SPANS - 1} ` }).waitFor();
      times.push(performance.now() - begun);
      await page.close();
    }
    const [least = 0] = times.toSorted((a, b) => a - b);
    const [load = 0] = os.loadavg();
    console.log(
      `The report of ${SPANS.toLocaleString('en')} spans, ${(statSync(file).size / 1e6).toFixed(1)} MB: opened, and its last step shown after a key was\n` +
        `pressed, in ${(least / 1000).toFixed(2)} s (least of ${RUNS}; all: ${times.map((ms) => (ms / 1000).toFixed(2)).join(', ')} s). ` +
        `${machineLine()}, load ${load.toFixed(1)}.`,
    );
    return ExitCode.Passed;
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
