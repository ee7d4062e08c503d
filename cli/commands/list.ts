import type { Outcome } from '../../core/diagnosis/schema.ts';
import { safeLine } from '../../report/escape.ts';
import { openStore, requireStore } from '../shell/deps.ts';
import { UsageError } from '../shell/errors.ts';
import { type CliIo, palette } from '../shell/io.ts';

export interface ListFlags {
  readonly store: string;
  readonly json?: boolean;
  readonly agent?: string;
  readonly service?: string;
  readonly outcome?: Outcome;
  readonly category?: string;
  readonly since?: string;
  readonly limit: number;
}

export async function listCommand(flags: ListFlags, io: CliIo): Promise<number> {
  const given = [flags.agent, flags.service, flags.outcome, flags.category].filter(
    (value) => value !== undefined,
  );
  if (given.length > 1)
    throw new UsageError('give one of --agent, --service, --outcome and --category: each is its own index');
  const store = requireStore(await openStore(flags.store));
  try {
    const { items, next } = await store.diagnoses.recent({
      limit: flags.limit,
      ...(flags.agent === undefined ? {} : { agent: flags.agent }),
      ...(flags.service === undefined ? {} : { service: flags.service }),
      ...(flags.outcome === undefined ? {} : { outcome: flags.outcome }),
      ...(flags.category === undefined ? {} : { category: flags.category }),
      ...(flags.since === undefined ? {} : { since: sinceIso(flags.since, Date.now()) }),
    });
    if (next !== undefined) io.err(`rootspan: the newest ${items.length}; there are more: --limit <n>\n`);
    if (flags.json ?? !io.outIsTerminal) {
      for (const item of items) io.out(`${JSON.stringify(item)}\n`);
      return 0;
    }
    if (items.length === 0) io.err('rootspan: no stored diagnosis matches\n');
    const paint = palette(io);
    for (const item of items) {
      const color =
        item.outcome === 'FAILED' ? paint.red : item.outcome === 'UNKNOWN' ? paint.yellow : paint.green;
      const critical = item.criticalCategory === null ? '' : `  critical: ${item.criticalCategory}`;
      io.out(
        `${item.createdAt.slice(0, 19)}  ${color(item.outcome.padEnd(7))}  ${String(item.failureCount).padStart(3)} failing  ` +
          `${safeLine(item.sessionId, 60)}  v${item.version}${critical}\n`,
      );
    }
    return 0;
  } finally {
    await store.close();
  }
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `24h`, `7d`, `30m`, or an ISO time. */
export function sinceIso(text: string, nowMs: number): string {
  const age = /^(\d{1,6})([mhd])$/.exec(text);
  if (age !== null)
    return new Date(nowMs - Number(age[1]) * UNITS[age[2] as keyof typeof UNITS]).toISOString();
  const time = Date.parse(text);
  if (Number.isNaN(time))
    throw new UsageError(`--since: expected an ISO time or an age such as 24h or 7d, got "${text}"`);
  return new Date(time).toISOString();
}
