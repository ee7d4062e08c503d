import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportAsset } from '../../cli/shell/report-assets.ts';
import { summarise } from '../../core/diagnosis/summary.ts';
import { fleetView } from '../../report/html/fleet-view.ts';
import { page as document } from '../../report/html/page.ts';
import { aDiagnosis } from '../helpers/a-diagnosis.ts';
import { chromiumPath, openBrowser } from '../helpers/browser.ts';
import { scratchFolder } from '../helpers/cli.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describe.skipIf(chromiumPath === null)('the page over many sessions', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it.each([
    { width: 1280, scheme: 'light' as const },
    { width: 390, scheme: 'dark' as const },
  ])(
    '$scheme, $width pixels: asks for nothing, axe finds nothing serious, a number leads to its sessions',
    async ({ width, scheme }) => {
      const items = Array.from({ length: 120 }, (_, index) => ({
        ...summarise(
          aDiagnosis({
            sessionId: index === 0 ? '<img src=x onerror=alert(1)>' : `session-${index}`,
            diagnosisId: `d-${index}`,
            createdAt: new Date(Date.UTC(2026, 2, 1 + (index < 60 ? 7 : 0) + (index % 7), 12)).toISOString(),
            agent: index % 3 === 0 ? 'rare' : 'usual',
            release: index < 60 ? 'v2' : 'v1',
            ...(index % 2 === 0
              ? {}
              : { outcome: 'CLEAN', failures: [], rootCauses: [], criticalStep: null }),
          }),
        ),
        issues:
          index % 2 === 0
            ? [
                {
                  issue: '0123456789abcdef',
                  category: 'execution-error-category-timeout',
                  place: 'tool book',
                  cause: 'no answer <b>in</b> <n> s',
                },
              ]
            : [],
        superseded: index === 119,
      }));
      const view = fleetView(items, { since: null, madeAt: '2026-03-09T00:00:00.000Z', more: false });
      const file = path.join(scratchFolder(), 'fleet.html');
      writeFileSync(file, document('sessions', view, await reportAsset('fleet')));
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme });
      const trouble: string[] = [];
      page.on('pageerror', (error) => trouble.push(error.message));
      page.on('console', (message) => trouble.push(message.text()));
      page.on('dialog', (dialog) => {
        trouble.push(dialog.message());
        void dialog.dismiss();
      });
      page.on('request', (request) => {
        if (request.url() !== `file://${file}`) trouble.push(request.url());
      });
      await page.goto(`file://${file}`);
      await page.locator('canvas').waitFor();
      expect(await page.locator('#sessions h2').innerText()).toBe('Sessions (119)');
      await page.locator('#by-agent .group', { hasText: 'rare' }).click();
      expect(await page.locator('#sessions h2').innerText()).toBe('Sessions (40)');
      expect(await page.locator('.filters').innerText()).toContain('Only rare');
      await page.locator('.filters button').click();
      // A cause is told in words, never by its hash.
      expect(await page.locator('#by-cause .group-name').allInnerTexts()).toEqual([
        'execution error: timeout · tool book · no answer <b>in</b> <n> s',
      ]);
      expect(await page.locator('body').innerText()).not.toContain('0123456789abcdef');
      // What began with a release: one is of the newest week alone, one of the week before.
      const releases = await page.locator('#by-release .group').allInnerTexts();
      expect(releases.map((text) => text.replace(/\s+/gu, ' '))).toEqual([
        'v2 ▲ 0 → 60 60',
        'v1 ▼ 59 → 0 59',
      ]);
      await page.locator('#by-release .group', { hasText: 'v2' }).click();
      expect(await page.locator('#sessions h2').innerText()).toBe('Sessions (60)');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      await page.evaluate(AXE);
      const serious: unknown = await page.evaluate(
        "axe.run({resultTypes:['violations']}).then((r) => r.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical').map((v) => v.id + ': ' + v.nodes[0].html))",
      );
      expect(serious).toEqual([]);
      expect(trouble).toEqual([]);
      await page.close();
    },
  );
});
