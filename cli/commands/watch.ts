import { setTimeout as delay } from 'node:timers/promises';
import { summaryLines } from '../../report/summary-table.ts';
import { openStoreToRead } from '../shell/deps.ts';
import { type CliIo, palette } from '../shell/io.ts';
import { widthOf } from '../shell/output-format.ts';
import { type QueryFlags, queryOf, readSummaries } from '../shell/query.ts';

export interface WatchFlags extends QueryFlags {
  readonly store: string;
  readonly json?: boolean;
  /** Seconds between looks. */
  readonly interval: number;
}

/** Most new diagnoses that one look shows. */
const PER_LOOK = 500;

/** Prints diagnoses as they come, until Ctrl-C. Starts with those of the time given, without one with what comes next. */
export async function watchCommand(flags: WatchFlags, io: CliIo): Promise<number> {
  const store = await openStoreToRead(flags.store);
  const stop = new AbortController();
  const release = io.onInterrupt(() => stop.abort());
  try {
    const query = queryOf(flags);
    let since = query.since ?? new Date().toISOString();
    const seen = new Set<string>();
    while (!stop.signal.aborted) {
      const { items } = await readSummaries(store, { ...query, since }, PER_LOOK);
      for (const item of items.toReversed()) {
        const id = `${item.sessionId}\0${item.version}`;
        if (seen.has(id)) continue;
        seen.add(id);
        if (item.createdAt > since) since = item.createdAt;
        io.out(
          (flags.json ?? !io.outIsTerminal)
            ? `${JSON.stringify(item)}\n`
            : summaryLines(item, { palette: palette(io), width: widthOf(io) }),
        );
      }
      await delay(flags.interval * 1000, undefined, { signal: stop.signal }).catch(() => undefined);
    }
    return 0;
  } finally {
    release();
    await store.close();
  }
}
