import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { countSessions } from '../../../bench/formats/counts.ts';
import { formatFixtures } from '../../../bench/formats/fixtures.ts';
import { readSessions } from '../../../core/reading/registry.ts';
import { sessionSchema } from '../../../core/session/session.ts';

/** Each fixture's counts come from a script over its raw text; the reader must come to the same. */
it.each(await formatFixtures())('$format: $file is read as counted', ({ format, path: file, count }) => {
  const text = readFileSync(file, 'utf8');
  const { sessions } = readSessions({ text, source: path.basename(file) });
  for (const session of sessions) expect(sessionSchema.safeParse(session).error).toBeUndefined();
  expect([...new Set(sessions.map((session) => session.format))]).toEqual([format]);
  expect(countSessions(sessions)).toEqual(count(text));
});
