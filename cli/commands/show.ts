import { toStrandsJson } from '../../core/report-build/strands.ts';
import { safeLine } from '../../report/escape.ts';
import { renderTerminal } from '../../report/terminal.ts';
import { renderValidationLog } from '../../report/validation-log.ts';
import { type OpenStore, openStore, requireStore } from '../shell/deps.ts';
import { UsageError } from '../shell/errors.ts';
import { type CliIo, palette } from '../shell/io.ts';

export interface ShowFlags {
  readonly store: string;
  readonly json?: boolean;
  readonly versionNumber?: number;
  readonly versions?: boolean;
  readonly log?: boolean;
  readonly as: 'rootspan' | 'strands';
}

/** Showing is not judging: exit code 0 when there is something to show. */
export async function showCommand(given: string, flags: ShowFlags, io: CliIo): Promise<number> {
  const store = requireStore(await openStore(flags.store));
  try {
    const session = await sessionOf(given, store);
    if (flags.versions === true) {
      const versions = await store.diagnoses.versions(session);
      if (versions.length === 0) throw new UsageError(notFound(given, flags.store));
      for (const item of versions) io.out(`${JSON.stringify(item)}\n`);
      return 0;
    }
    const diagnosis =
      flags.versionNumber === undefined
        ? await store.diagnoses.latest(session)
        : await store.diagnoses.version(session, flags.versionNumber);
    if (diagnosis === null) throw new UsageError(notFound(given, flags.store));
    const view = { palette: palette(io), width: Math.min(io.columns, 120) };
    if (flags.log === true)
      io.out(
        flags.json === true
          ? `${JSON.stringify(diagnosis.validationLog, null, 2)}\n`
          : renderValidationLog(diagnosis, view),
      );
    else if (flags.as === 'strands') io.out(`${JSON.stringify(toStrandsJson(diagnosis), null, 2)}\n`);
    else if (flags.json ?? !io.outIsTerminal) io.out(`${JSON.stringify(diagnosis, null, 2)}\n`);
    else io.out(renderTerminal(diagnosis, view));
    return 0;
  } finally {
    await store.close();
  }
}

/** Newest sessions among which the start of an id is looked up. */
const LOOKED_THROUGH = 500;

/** The id itself, or the only one of the newest sessions that begins so. */
async function sessionOf(given: string, { diagnoses }: OpenStore): Promise<string> {
  if ((await diagnoses.versions(given)).length > 0) return given;
  const { items } = await diagnoses.recent({ limit: LOOKED_THROUGH });
  const found = [...new Set(items.map(({ sessionId }) => sessionId))].filter((id) => id.startsWith(given));
  if (found.length > 1) {
    const some = found.slice(0, 5).map((id) => safeLine(id, 100));
    throw new UsageError(
      `"${given}" begins ${found.length} session ids: ${some.join(', ')}${found.length > 5 ? ', …' : ''}`,
    );
  }
  return found[0] ?? given;
}

const notFound = (session: string, store: string): string =>
  `no stored diagnosis of "${session}" in ${store}; \`rootspan list\` shows what there is`;
