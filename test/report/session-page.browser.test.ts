import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noneModel } from '../../adapters/models/none.ts';
import { reportAsset } from '../../cli/shell/report-assets.ts';
import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { diagnoseSession } from '../../core/library.ts';
import { readSessions } from '../../core/reading/registry.ts';
import type { Session } from '../../core/session/session.ts';
import { page as document } from '../../report/html/page.ts';
import { sessionView } from '../../report/html/session-view.ts';
import { chromiumPath, openBrowser } from '../helpers/browser.ts';
import { scratchFolder } from '../helpers/cli.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const examples = path.resolve(import.meta.dirname, '../../examples');

const diagnosed = async (session: Session): Promise<Diagnosis> =>
  diagnoseSession(session, { model: noneModel, now: new Date(1_772_000_000_000) });

const exampleFiles = readdirSync(examples).filter((file) => /\.jsonl?$/u.test(file));
const readExample = (file: string): Session => {
  const { sessions } = readSessions({ text: readFileSync(path.join(examples, file), 'utf8'), source: file });
  const [session] = sessions;
  if (session === undefined) throw new Error(`${file} holds no session`);
  return session;
};

/** A chat of so many messages; every text is `text(index)`. */
const chat = (length: number, text: (index: number) => string): Session =>
  readSessions({
    document: {
      messages: Array.from({ length }, (_, index) => ({
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: text(index),
      })),
    },
    source: 'chat.json',
  }).sessions[0] as Session;

describe.skipIf(chromiumPath === null)('the page of a session', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  /** The page as a file on disk; whatever it asks for or complains about is in `trouble`. */
  async function open(
    views: readonly { session: Session; diagnosis: Diagnosis }[],
    options: { width?: number; dark?: boolean } = {},
  ): Promise<{ page: Page; trouble: string[] }> {
    const file = path.join(scratchFolder(), 'report.html');
    const sessions = views.map(({ session, diagnosis }) => sessionView(diagnosis, session));
    writeFileSync(file, document('a report', { sessions }, await reportAsset('session')));
    const page = await browser.newPage({
      viewport: { width: options.width ?? 1280, height: 900 },
      colorScheme: options.dark === true ? 'dark' : 'light',
    });
    const trouble: string[] = [];
    page.on('pageerror', (error) => trouble.push(`error ${error.message}`));
    page.on('console', (message) => trouble.push(`console ${message.text()}`));
    page.on('dialog', (dialog) => {
      trouble.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      if (request.url() !== `file://${file}`) trouble.push(`request ${request.url()}`);
    });
    await page.goto(`file://${file}`);
    await page.locator('main').waitFor();
    return { page, trouble };
  }

  const openExample = async (file: string, options: { width?: number; dark?: boolean } = {}) => {
    const session = readExample(file);
    const diagnosis = await diagnosed(session);
    return { ...(await open([{ session, diagnosis }], options)), session, diagnosis };
  };

  async function seriousFaults(page: Page): Promise<string[]> {
    // The page's own policy lets no script in: the debugger may all the same.
    await page.evaluate(AXE);
    const found: unknown = await page.evaluate(
      "axe.run({resultTypes:['violations']}).then((r) => r.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical').map((v) => v.id + ': ' + v.nodes[0].html))",
    );
    return found as string[];
  }

  it.each(exampleFiles)(
    '%s opens without an error or a request, its critical step in view, and axe finds nothing serious',
    async (file) => {
      const { page, trouble, diagnosis } = await openExample(file);
      const selected = page.locator('.row.is-selected');
      if (diagnosis.criticalStep !== null) {
        expect(await page.locator('#critical .critical-place').isVisible()).toBe(true);
        expect(await selected.innerText()).toContain('point of no return');
        const inside = await selected.evaluate((row) => {
          const list = row.closest('.rows')?.getBoundingClientRect();
          const own = row.getBoundingClientRect();
          return list !== undefined && own.top >= list.top && own.bottom <= list.bottom;
        });
        expect(inside).toBe(true);
      }
      expect(await seriousFaults(page)).toEqual([]);
      expect(trouble).toEqual([]);
      await page.close();
    },
  );

  it.each([
    { width: 390, dark: false },
    { width: 1280, dark: true },
  ])(
    'has no serious fault at $width pixels, dark: $dark, and nothing wider than the screen',
    async (options) => {
      const { page } = await openExample('airline-refund.json', options);
      expect(await seriousFaults(page)).toEqual([]);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect(width).toBeLessThanOrEqual(options.width);
      await page.close();
    },
  );

  it('a click on a quote lands on its span, with the quote marked and in view', async () => {
    const { page } = await openExample('airline-refund.json');
    const quote = page.locator('#failures .failure').nth(1).locator('.quote');
    await quote.click();
    expect(await page.locator('.detail h3').innerText()).toContain('step 17');
    const marked = page.locator('.detail mark');
    expect(await marked.first().innerText()).toContain('unknown tool reverse_refund');
    const box = await marked.first().boundingBox();
    expect(box === null || box.y < 0 || box.y > 900).toBe(false);
    await page.close();
  });

  it('can be gone through by keyboard alone', async () => {
    const { page } = await openExample('airline-refund.json');
    await page.locator('.rows').focus();
    await page.keyboard.press('Home');
    expect(await page.locator('.detail h3').innerText()).toContain('step 0');
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('.detail h3').innerText()).toContain('step 1 ');
    await page.keyboard.press('n');
    expect(await page.locator('.row.is-selected .mark').count()).toBeGreaterThan(0);
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H3');
    await page.close();
    // Every quote is a button in the order of the page.
    const { page: denied } = await openExample('strands-access-denied.json');
    await denied.locator('#critical .quote').first().focus();
    await denied.keyboard.press('Enter');
    expect(await denied.locator('.detail h3').innerText()).toContain('step 2');
    await denied.close();
  });

  it('draws of ten thousand spans only those in view, and finds one by a search', async () => {
    const session = chat(10_000, (index) => `message number ${index} of many`);
    const { page, trouble } = await open([{ session, diagnosis: await diagnosed(session) }]);
    expect(await page.locator('.row').count()).toBeLessThan(80);
    await page.locator('.rows').focus();
    await page.keyboard.press('End');
    expect(await page.locator('.detail h3').innerText()).toContain('step 9999');
    await page.locator('input[type=search]').fill('number 4321 of');
    await page.locator('.row').first().click();
    expect(await page.locator('.detail h3').innerText()).toContain('step 4321');
    expect(trouble).toEqual([]);
    await page.close();
  });

  it('runs and loads nothing of a session full of scripts, handlers and hostile addresses', async () => {
    const hostile = [
      '<script>alert(1)</script>',
      '</script><script>alert(2)</script>',
      '<img src=x onerror=alert(3)>',
      '<svg onload=alert(4)>',
      '[click](javascript:alert(5))',
      '<!--<script>alert(6)</script>',
      '"><iframe src="http://attacker.example/"></iframe>',
      '<style>@import url(http://attacker.example/x.css)</style>',
      '\u2028\u2029</title><base href="http://attacker.example/">',
      '<link rel=stylesheet href=//attacker.example/a.css><form action=//attacker.example><input name=q>',
    ];
    const session = {
      ...chat(20, (index) => hostile[index % hostile.length] ?? ''),
      sessionId: '<img src=x onerror=alert(7)>',
      goal: '<script>alert(8)</script>',
      agent: '"onmouseover="alert(9)',
    };
    const diagnosis: Diagnosis = {
      ...(await diagnosed(session)),
      outcomeReason: '<script>alert(10)</script>',
      recommendations: [{ fixType: 'OTHERS', text: '<b onclick=alert(11)>x</b>', failureSpanIds: [] }],
    };
    const { page, trouble } = await open([{ session, diagnosis }]);
    for (let row = 0; row < 10; row++) {
      await page.locator('.row').nth(row).click();
      expect(await page.locator('.detail pre').first().innerText()).not.toBe('');
    }
    const made = await page.evaluate(
      "document.querySelectorAll('#app script, #app img, #app iframe, #app style, #app link, #app form, #app svg, base').length",
    );
    expect(made).toBe(0);
    expect(trouble).toEqual([]);
    await page.close();
  });

  it('a session of several requests says how each went, and leads to each', async () => {
    const session = readExample('airline-refund.json');
    const diagnosis = await diagnosed(session);
    const spans = session.traces.flatMap((trace) => trace.spans.map(({ spanId }) => spanId));
    const turn = (index: number, from: number, to: number, outcome: Diagnosis['outcome'], goal: string) => ({
      index,
      firstSpanId: spans[from] ?? '',
      lastSpanId: spans[to] ?? '',
      spanIds: spans.slice(from, to + 1),
      goal,
      outcome,
      criticalStep: null,
    });
    const turns = [
      turn(0, 1, 10, 'UNKNOWN', 'My money back'),
      turn(1, 11, 19, 'FAILED', '<b onclick=alert(1)>and both tickets</b>'),
    ];
    const { page, trouble } = await open([{ session, diagnosis: { ...diagnosis, turns } }]);
    const items = page.locator('#turns li');
    expect(await items.allInnerTexts()).toEqual([
      expect.stringMatching(/^1\s+UNKNOWN\s+My money back/u),
      expect.stringMatching(/^2\s+FAILED\s+<b onclick=alert\(1\)>/u),
    ]);
    await items.nth(1).locator('button').first().click();
    expect(await page.locator('.detail h3').innerText()).toContain('step 11');
    expect(await seriousFaults(page)).toEqual([]);
    expect(trouble).toEqual([]);
    await page.close();
    const { page: single } = await openExample('airline-refund.json');
    expect(await single.locator('#turns').count()).toBe(0);
    await single.close();
  });

  it('shows several sessions, one by its address', async () => {
    const views = await Promise.all(
      ['airline-refund.json', 'order-status-healthy.json'].map(async (file) => {
        const session = readExample(file);
        return { session, diagnosis: await diagnosed(session) };
      }),
    );
    const { page } = await open(views);
    expect(await page.locator('h1').innerText()).toContain('airline-refund');
    await page.locator('.sessions select').selectOption({ index: 1 });
    await page.locator('h1', { hasText: 'order-status-healthy' }).waitFor();
    expect(page.url()).toContain('#session=order-status-healthy');
    await page.close();
  });
});
