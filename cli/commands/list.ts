import { DEFAULT_POLICY } from '../../core/report-build/verdict.ts';
import { renderSummaries } from '../../report/summary-table.ts';
import { openStoreToRead } from '../shell/deps.ts';
import { type CliIo, palette } from '../shell/io.ts';
import { formatOf, type OutputFlags, resultWriter, widthOf } from '../shell/output-format.ts';
import { type QueryFlags, queryOf, readSummaries } from '../shell/query.ts';
import { writeResult } from '../shell/write-result.ts';

export interface ListFlags extends QueryFlags, OutputFlags {
  readonly store: string;
  readonly limit: number;
}

/** Text and JSON give a line or two of each; every other format the diagnoses themselves. */
export async function listCommand(flags: ListFlags, io: CliIo): Promise<number> {
  const query = queryOf(flags);
  const store = await openStoreToRead(flags.store);
  try {
    const { items, more } = await readSummaries(store, query, flags.limit);
    if (more) io.err(`rootspan: the newest ${items.length}; there are more: --limit <n>\n`);
    if (items.length === 0) io.err('rootspan: no stored diagnosis matches\n');
    const format = formatOf(flags, io);
    if (format === 'text') {
      await writeResult(
        renderSummaries(items, { palette: palette(io), width: widthOf(io) }),
        flags.output,
        io,
      );
    } else if (format === 'json' || format === 'ndjson') {
      await writeResult(items.map((item) => `${JSON.stringify(item)}\n`).join(''), flags.output, io);
    } else {
      const writer = resultWriter(flags, DEFAULT_POLICY, store, io);
      for (const { sessionId, version } of items) {
        const diagnosis = await store.diagnoses.version(sessionId, version);
        if (diagnosis !== null) writer.add(diagnosis);
      }
      await writer.end();
    }
    return 0;
  } finally {
    await store.close();
  }
}
