import { openLocalStores } from '../../adapters/local/open-stores.ts';
import { listQuarantined, type Quarantined, textOf } from '../../core/ingest/quarantine.ts';
import { retryQuarantined } from '../../core/ingest/retry-quarantined.ts';
import type { IngestDeps } from '../../core/ingest/store-events.ts';
import { safeLine, safeText } from '../../report/escape.ts';
import {
  type OpenStore,
  openAccountIngest,
  openStoreToRead,
  requireStore,
  systemClock,
} from '../shell/deps.ts';
import { UsageError } from '../shell/errors.ts';
import { ExitCode } from '../shell/exit-codes.ts';
import type { CliIo } from '../shell/io.ts';
import { openLocalIngest, settle } from './ingest.ts';

export interface QuarantineFlags {
  readonly store: string;
  readonly json?: boolean;
  readonly all?: boolean;
}

const SHOWN_ID = 12;

/** What ingest could not read and kept, oldest first. */
export async function quarantineListCommand(flags: QuarantineFlags, io: CliIo): Promise<number> {
  return withStore(flags, async (store) => {
    const items = await itemsOf(store, flags.all === true);
    if (flags.json ?? !io.outIsTerminal) {
      for (const { raw, ...item } of items)
        io.out(`${JSON.stringify({ ...item, bytes: Buffer.byteLength(raw, 'base64') })}\n`);
      return ExitCode.Passed;
    }
    if (items.length === 0) io.out('nothing in quarantine\n');
    for (const item of items) {
      const place = item.event === null ? 'envelope' : `${item.event.logGroup} ${item.event.logStream}`;
      const state = item.resolvedAt === null ? '' : ' (resolved)';
      io.out(
        `${item.id.slice(0, SHOWN_ID)}  ${item.quarantinedAt}  ${safeLine(place, 80)}  ${safeLine(item.reason, 200)}${state}\n`,
      );
    }
    return ExitCode.Passed;
  });
}

/** One item whole: its reason on standard error, its bytes as they came on standard output. */
export async function quarantineShowCommand(id: string, flags: QuarantineFlags, io: CliIo): Promise<number> {
  return withStore(flags, async (store) => {
    const item = choose(await itemsOf(store, true), id);
    if (flags.json === true) {
      io.out(`${JSON.stringify(item, null, 2)}\n`);
      return ExitCode.Passed;
    }
    io.err(`rootspan: ${item.id} of ${item.quarantinedAt}: ${safeLine(item.reason, 200)}\n`);
    // An envelope's payload is compressed: shown as it came, in base64.
    const content = item.event === null ? item.raw : textOf(item.raw);
    io.out(`${io.outIsTerminal ? safeText(content) : content}\n`);
    return ExitCode.Passed;
  });
}

/**
 * Tries again, all or some. What can be read now becomes part of its session: locally the next `rootspan ingest`
 * diagnoses it, in an account the deployed pipeline does.
 */
export async function quarantineRetryCommand(
  ids: readonly string[],
  flags: QuarantineFlags,
  io: CliIo,
): Promise<number> {
  if (flags.store.startsWith('table:')) {
    const account = await openAccountIngest(flags.store);
    try {
      return await retry(ids, account.ingest, io, 'their sessions are diagnosed when they have been silent');
    } finally {
      await account.close();
    }
  }
  if (flags.store === 'none') requireStore(null);
  const stores = await openLocalStores(flags.store, systemClock);
  try {
    const local = openLocalIngest(stores);
    const code = await retry(ids, local, io, '`rootspan ingest` without files diagnoses what changed');
    const { codes } = await settle(local, io);
    return codes.length > 0 ? ExitCode.Runtime : code;
  } finally {
    await stores.close();
  }
}

async function retry(ids: readonly string[], deps: IngestDeps, io: CliIo, then: string): Promise<ExitCode> {
  const open = await itemsOf(deps, false);
  const chosen = ids.length === 0 ? open : ids.map((id) => choose(open, id));
  const result = await retryQuarantined(chosen, deps, ids.length > 0);
  const further = result.resolved.length > 0 ? `; ${then}` : '';
  io.err(`rootspan: ${result.resolved.length} of ${chosen.length} could be read now${further}\n`);
  return result.open.length > 0 ? ExitCode.Unknown : ExitCode.Passed;
}

async function withStore(
  flags: QuarantineFlags,
  work: (store: OpenStore) => Promise<number>,
): Promise<number> {
  const store = await openStoreToRead(flags.store);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function itemsOf({ objects }: Pick<OpenStore, 'objects'>, all: boolean): Promise<Quarantined[]> {
  const items: Quarantined[] = [];
  for await (const item of listQuarantined(objects)) if (all || item.resolvedAt === null) items.push(item);
  return items.sort((a, b) => (a.quarantinedAt < b.quarantinedAt ? -1 : 1));
}

function choose(items: readonly Quarantined[], id: string): Quarantined {
  const found = items.filter((item) => item.id.startsWith(id));
  const [only] = found;
  if (only === undefined)
    throw new UsageError(
      `nothing in quarantine begins with "${id}"; \`rootspan quarantine list\` shows the ids`,
    );
  if (found.length > 1) throw new UsageError(`${found.length} items begin with "${id}": give more of the id`);
  return only;
}
