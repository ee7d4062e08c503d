import { toStrandsJson } from '../../core/diagnosis/strands.ts';
import { renderTerminal } from '../../report/terminal.ts';
import { renderValidationLog } from '../../report/validation-log.ts';
import { openStore, requireStore } from '../deps.ts';
import { UsageError } from '../errors.ts';
import { type CliIo, palette } from '../io.ts';

export interface ShowFlags {
  readonly store: string;
  readonly json?: boolean;
  readonly versionNumber?: number;
  readonly versions?: boolean;
  readonly log?: boolean;
  readonly as: 'rootspan' | 'strands';
}

/** Showing is not judging: exit code 0 when there is something to show. */
export async function showCommand(session: string, flags: ShowFlags, io: CliIo): Promise<number> {
  const store = requireStore(await openStore(flags.store));
  try {
    if (flags.versions === true) {
      const versions = await store.diagnoses.versions(session);
      if (versions.length === 0) throw new UsageError(notFound(session, flags.store));
      for (const item of versions) io.out(`${JSON.stringify(item)}\n`);
      return 0;
    }
    const diagnosis =
      flags.versionNumber === undefined
        ? await store.diagnoses.latest(session)
        : await store.diagnoses.version(session, flags.versionNumber);
    if (diagnosis === null) throw new UsageError(notFound(session, flags.store));
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

const notFound = (session: string, store: string): string =>
  `no stored diagnosis of "${session}" in ${store}; \`rootspan list\` shows what there is`;
