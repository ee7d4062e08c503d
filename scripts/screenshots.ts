import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { noneModel } from '../adapters/models/none.ts';
import { reportAsset } from '../cli/shell/report-assets.ts';
import { summarise } from '../core/diagnosis/summary.ts';
import { diagnoseSession } from '../core/library.ts';
import { readSessions } from '../core/reading/registry.ts';
import type { Session } from '../core/session/session.ts';
import { fleetView } from '../report/html/fleet-view.ts';
import { page as document } from '../report/html/page.ts';
import { sessionView } from '../report/html/session-view.ts';
import { openBrowser } from '../test/helpers/browser.ts';

/** Pictures of both reports for docs/pictures, light, dark and on a phone (`npm run screenshots`; needs Chromium). */

const root = path.resolve(import.meta.dirname, '..');
const pictures = path.join(root, 'docs/pictures');
const DAY_MS = 86_400_000;
const DAYS = 10;
const MONDAY = Date.UTC(2026, 2, 16, 9);

const examples = readdirSync(path.join(root, 'examples'))
  .filter((file) => /\.jsonl?$/u.test(file))
  .flatMap((file) => {
    const text = readFileSync(path.join(root, 'examples', file), 'utf8');
    return readSessions({ text, source: file }).sessions;
  });
const diagnose = (session: Session, at: number) =>
  diagnoseSession(session, { model: noneModel, now: new Date(at) });

async function sessionPage(): Promise<string> {
  const session = examples.find(({ sessionId }) => sessionId === 'airline-refund');
  if (session === undefined) throw new Error('examples/airline-refund.json is gone');
  const sessions = [sessionView(await diagnose(session, MONDAY), session)];
  return document('airline-refund', { sessions }, await reportAsset('session'));
}

/** Ten days in which the examples happened again and again, on some days more of them; a release on the seventh. */
async function fleetPage(): Promise<string> {
  const items = [];
  for (let day = 0; day < DAYS; day++) {
    for (const [index, session] of examples.entries()) {
      if ((index * 3 + day * 5) % 4 === 0) continue;
      const sessionId = `${session.sessionId}-${day + 1}`;
      const at = MONDAY + day * DAY_MS + index * 600_000;
      const diagnosis = await diagnose({ ...session, sessionId }, at);
      items.push({
        ...summarise({
          ...diagnosis,
          release: day < 6 ? '2026.11.4' : '2026.12.0',
          endedAt: new Date(at - 960_000).toISOString(),
        }),
        issues: diagnosis.faults.map(({ fingerprint, category, place, cause }) => ({
          issue: fingerprint,
          category,
          place,
          cause,
        })),
        superseded: false,
      });
    }
  }
  const view = fleetView(items.toReversed(), {
    since: new Date(MONDAY - DAY_MS / 3).toISOString(),
    madeAt: new Date(MONDAY + DAYS * DAY_MS).toISOString(),
    more: false,
  });
  return document('Sessions', view, await reportAsset('fleet'));
}

const LOOKS = [
  { look: 'light', scheme: 'light', width: 1280, height: 1000 },
  { look: 'dark', scheme: 'dark', width: 1280, height: 1000 },
  { look: 'phone', scheme: 'light', width: 390, height: 844 },
] as const;

const folder = mkdtempSync(path.join(tmpdir(), 'rootspan-pictures-'));
const browser = await openBrowser();
try {
  mkdirSync(pictures, { recursive: true });
  for (const [name, html] of [
    ['session', await sessionPage()],
    ['fleet', await fleetPage()],
  ] as const) {
    const file = path.join(folder, `${name}.html`);
    writeFileSync(file, html);
    for (const { look, scheme, width, height } of LOOKS) {
      const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme });
      await page.goto(`file://${file}`);
      await page.locator('main').waitFor();
      await page.screenshot({ path: path.join(pictures, `${name}-${look}.png`) });
      if (name === 'session' && look === 'light') {
        await page.locator('#session').scrollIntoViewIfNeeded();
        await page.locator('#session').screenshot({ path: path.join(pictures, 'session-timeline.png') });
      }
      await page.close();
      console.log(`docs/pictures/${name}-${look}.png`);
    }
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
