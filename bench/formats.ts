import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readSessions } from '../core/reading/registry.ts';
import { type Counts, countSessions } from './formats/counts.ts';
import { formatFixtures } from './formats/fixtures.ts';

const HEAD = [
  'format',
  'file',
  'msgs',
  'calls',
  'results',
  'errors',
  'models',
  'tokens in/out',
  'unread',
  'as counted',
];

/** `npm run bench -- formats`: what every format's fixture was read as, beside an independent count of its raw text. */
export async function benchFormats(): Promise<number> {
  const rows: string[][] = [HEAD];
  let wrong = 0;
  for (const fixture of await formatFixtures()) {
    const text = readFileSync(fixture.path, 'utf8');
    const { sessions, unread } = readSessions({ text, source: path.basename(fixture.path) });
    const read = countSessions(sessions);
    const differs = differences(fixture.count(text), read);
    if (differs.length > 0) wrong += 1;
    rows.push([
      fixture.format,
      fixture.file,
      String(read.messages),
      String(read.toolCalls),
      String(read.toolResults),
      String(read.errors),
      read.models.join(' '),
      `${read.inputTokens}/${read.outputTokens}`,
      String(unread.reduce((sum, entry) => sum + entry.count, 0)),
      differs.length === 0 ? 'yes' : `NO: ${differs.join('; ')}`,
    ]);
  }
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  console.log(`\n${rows.length - 1 - wrong} of ${rows.length - 1} files read as counted`);
  return wrong === 0 ? 0 : 1;
}

function differences(counted: Counts, read: Counts): string[] {
  return (Object.keys(counted) as (keyof Counts)[])
    .filter((key) => !isDeepStrictEqual(counted[key], read[key]))
    .map((key) => `${key} counted ${JSON.stringify(counted[key])}, read ${JSON.stringify(read[key])}`);
}
