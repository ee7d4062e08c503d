import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { DynamoDiagnosisStore } from '../adapters/aws/dynamo-diagnosis-store.ts';
import { FileObjectStore } from '../adapters/local/file-object-store.ts';
import { SqliteTable } from '../adapters/local/sqlite-table.ts';
import { sha256Hex } from '../core/base/hash.ts';
import { writeDocsSection } from './print/docs-section.ts';
import { fillTable } from './table/fill.ts';
import { MeteredTable } from './table/metered-table.ts';

/** A command may read so many items for each that it returns, beside what every list asks of each shard. */
const ITEMS_PER_RESULT = 5;
const ITEMS_OF_SHARDS = 16 * 6;

/**
 * `npm run bench -- table [--diagnoses 100000] [--docs docs/querying.md]`: what `list`, `top` and `issues` read of a table with
 * so many diagnoses, written by the product's own writer, in DynamoDB's read units. Fails when a command reads more than in
 * proportion to what it returns.
 */
export async function benchTable(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { diagnoses: { type: 'string', default: '100000' }, docs: { type: 'string' } },
  });
  const diagnoses = Number(values.diagnoses);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rootspan-bench-table-'));
  const clock = { now: () => Date.parse('2026-06-01T00:00:00Z') };
  const sqlite = new SqliteTable(path.join(folder, 'table.sqlite'), clock);
  try {
    const table = new MeteredTable(sqlite);
    const store = new DynamoDiagnosisStore(table, new FileObjectStore(path.join(folder, 'objects')), clock, {
      retentionDays: null,
    });
    await fillTable(store, diagnoses);
    const newest = async (limit: number, query: Parameters<typeof store.recent>[0] = {}): Promise<number> => {
      let found = 0;
      let next: string | undefined;
      do {
        const page = await store.recent({
          ...query,
          limit: Math.min(200, limit - found),
          ...(next === undefined ? {} : { next }),
        });
        found += page.items.length;
        next = page.next;
      } while (next !== undefined && found < limit);
      return found;
    };
    const issue = sha256Hex(sha256Hex('0').slice(0, 16)).slice(0, 16);
    const reads: readonly (readonly [string, () => Promise<number>])[] = [
      ['list', () => newest(20)],
      ['list --agent agent-1', () => newest(20, { agent: 'agent-1' })],
      ['list --outcome FAILED', () => newest(20, { outcome: 'FAILED' })],
      ['list --category hallucination', () => newest(20, { category: 'hallucination' })],
      ['list --issue <id>', () => newest(20, { issue })],
      ['list -n 200', () => newest(200)],
      ['top (newest 1,000)', () => newest(1000)],
      ['issues', async () => (await store.issues.list('open', 20)).length],
      ['issues show <id>', async () => ((await store.issues.get(issue)) === null ? 0 : 1)],
      ['show <session>', async () => ((await store.latest(`session-${diagnoses - 1}`)) === null ? 0 : 1)],
    ];
    const lines = [
      `${diagnoses.toLocaleString('en')} diagnoses in the table; read units of 4 KB by DynamoDB's rules, of each request`,
      '',
      row('command', 'returns', 'items read', 'requests', 'read units'),
    ];
    let sound = true;
    for (const [name, read] of reads) {
      table.reset();
      const returned = await read();
      lines.push(
        row(name, String(returned), String(table.items), String(table.requests), table.units.toFixed(1)),
      );
      if (returned === 0 || table.items > returned * ITEMS_PER_RESULT + ITEMS_OF_SHARDS) sound = false;
    }
    console.log(lines.join('\n'));
    if (values.docs !== undefined)
      writeDocsSection(values.docs, 'table', `\`\`\`text\n${lines.join('\n')}\n\`\`\``);
    if (!sound) console.error('not sound: a command reads more than in proportion to what it returns');
    return sound ? 0 : 1;
  } finally {
    sqlite.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const row = (name: string, ...cells: readonly string[]): string =>
  name.padEnd(32) + cells.map((cell) => cell.padStart(12)).join('');
