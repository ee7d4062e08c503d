import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { fleetView } from '../../report/html/fleet-view.ts';
import { page } from '../../report/html/page.ts';
import { type OpenStore, openStoreToRead } from '../shell/deps.ts';
import { findDiagnosis } from '../shell/find-diagnosis.ts';
import type { CliIo } from '../shell/io.ts';
import { openInBrowser } from '../shell/open-in-browser.ts';
import { type QueryFlags, queryOf, readSummaries } from '../shell/query.ts';
import { reportAsset } from '../shell/report-assets.ts';
import { sessionReport } from '../shell/session-report.ts';
import { writeResult } from '../shell/write-result.ts';

export interface ReportFlags extends Pick<QueryFlags, 'agent' | 'since'> {
  readonly store: string;
  readonly output?: string;
  readonly open?: boolean;
}

/** Newest diagnoses that a page over all sessions holds: what a browser still counts at once. */
const FLEET_LIMIT = 10_000;

/** A page for people: of the sessions named, or over all of them. */
export async function reportCommand(
  sessions: readonly string[],
  flags: ReportFlags,
  io: CliIo,
): Promise<number> {
  const output =
    flags.output ?? (io.outIsTerminal || flags.open === true ? 'rootspan-report.html' : undefined);
  const store = await openStoreToRead(flags.store);
  try {
    if (sessions.length === 0) await writeResult(await fleetReport(flags, store), output, io);
    else {
      const diagnoses: Diagnosis[] = [];
      for (const session of sessions) diagnoses.push(await findDiagnosis(session, store, flags.store));
      await writeResult(await sessionReport(diagnoses, store), output, io);
    }
  } finally {
    await store.close();
  }
  if (flags.open === true && output !== undefined) await openInBrowser(output, io);
  return 0;
}

async function fleetReport(flags: ReportFlags, store: OpenStore): Promise<string> {
  const query = queryOf(flags);
  const { items, more } = await readSummaries(store, query, FLEET_LIMIT);
  const view = fleetView(items, { since: query.since ?? null, madeAt: new Date().toISOString(), more });
  return page('Sessions – Rootspan', view, await reportAsset('fleet'));
}
