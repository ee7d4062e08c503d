import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Chromium of the system: `CHROMIUM`, else where Debian and others put it. `.ci/run` installs it. */
export const chromiumPath: string | null =
  [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
    (file) => file !== undefined && existsSync(file),
  ) ?? null;

if (chromiumPath === null)
  process.stderr.write(
    'skipped: no Chromium here, so no page is opened (apt-get install chromium, or set CHROMIUM)\n',
  );

export function openBrowser(): Promise<Browser> {
  if (chromiumPath === null) throw new Error('no Chromium: tests that open pages are to be skipped');
  return chromium.launch({
    executablePath: chromiumPath,
    // Tests run as root in containers; the pages are our own.
    args: ['--no-sandbox', '--disable-gpu'],
  });
}
