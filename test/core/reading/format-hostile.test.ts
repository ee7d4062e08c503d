import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { formatFixtures } from '../../../bench/formats/fixtures.ts';
import { SessionInvalidError } from '../../../core/errors/errors.ts';
import { readSessions } from '../../../core/reading/registry.ts';
import { sessionSchema, sessionSpans } from '../../../core/session/session.ts';

/** Reads into valid sessions with content, or is refused by our own error. */
function survives(text: string): void {
  try {
    for (const session of readSessions({ text, source: 'in.json' }).sessions) {
      expect(sessionSchema.safeParse(session).error).toBeUndefined();
      expect(sessionSpans(session).length).toBeGreaterThan(0);
    }
  } catch (error) {
    if (!(error instanceof SessionInvalidError)) throw error;
  }
}

const WRONG = ['null', '7', '-1e400', '"x"', '[]', '{}', 'true', '[null]', '{"a":{"b":[[]]}}'];
const VALUE = /(?<=":\s{0,4})(?:"(?:[^"\\]|\\.)*"|-?\d[\d.]*|true|false|null|\[\]|\{\})/g;

it.each(await formatFixtures())(
  '$format: $file cut, doubled, and with any value of a wrong type',
  ({ path }) => {
    const text = readFileSync(path, 'utf8');
    for (let part = 1; part < 50; part += 1) survives(text.slice(0, Math.floor((text.length * part) / 50)));
    survives(`${text}\n${text}`);
    const places = [...text.matchAll(VALUE)];
    for (const [n, place] of places.entries()) {
      const wrong = WRONG[n % WRONG.length] ?? 'null';
      survives(text.slice(0, place.index) + wrong + text.slice(place.index + place[0].length));
    }
  },
);
