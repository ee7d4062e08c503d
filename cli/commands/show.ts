import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { DEFAULT_POLICY } from '../../core/report-build/verdict.ts';
import { type StepView, sessionView } from '../../report/html/session-view.ts';
import { renderTerminal } from '../../report/terminal.ts';
import { renderValidationLog } from '../../report/validation-log.ts';
import { type OpenStore, openStoreToRead } from '../shell/deps.ts';
import { UsageError } from '../shell/errors.ts';
import { findDiagnosis, findSession, notFound } from '../shell/find-diagnosis.ts';
import { frozenSessionOf } from '../shell/frozen-sessions.ts';
import { type CliIo, palette } from '../shell/io.ts';
import { formatOf, type OutputFlags, resultWriter, widthOf } from '../shell/output-format.ts';
import { writeResult } from '../shell/write-result.ts';

export interface ShowFlags extends OutputFlags {
  readonly store: string;
  readonly versionNumber?: number;
  readonly versions?: boolean;
  readonly log?: boolean;
  /** Steps before and after the critical one. */
  readonly context?: number;
}

/** Showing is not judging: exit code 0 when there is something to show. */
export async function showCommand(reference: string, flags: ShowFlags, io: CliIo): Promise<number> {
  const store = await openStoreToRead(flags.store);
  try {
    if (flags.versions === true) {
      const versions = await store.diagnoses.versions(await findSession(reference, store));
      if (versions.length === 0) throw new UsageError(notFound(reference, flags.store));
      for (const item of versions) io.out(`${JSON.stringify(item)}\n`);
      return 0;
    }
    const diagnosis = await findDiagnosis(reference, store, flags.store, flags.versionNumber);
    const view = { palette: palette(io), width: widthOf(io) };
    if (flags.log === true) {
      io.out(
        flags.json === true
          ? `${JSON.stringify(diagnosis.validationLog, null, 2)}\n`
          : renderValidationLog(diagnosis, view),
      );
      return 0;
    }
    if (flags.context !== undefined && formatOf(flags, io) === 'text') {
      const around = await stepsAround(diagnosis, flags.context, store, flags.store);
      await writeResult(renderTerminal(diagnosis, { ...view, around }), flags.output, io);
      return 0;
    }
    const writer = resultWriter(flags, DEFAULT_POLICY, store, io);
    writer.add(diagnosis);
    await writer.end();
    return 0;
  } finally {
    await store.close();
  }
}

async function stepsAround(
  diagnosis: Diagnosis,
  context: number,
  store: OpenStore,
  where: string,
): Promise<readonly StepView[]> {
  const { criticalStep, sessionId } = diagnosis;
  if (criticalStep === null)
    throw new UsageError(`--context: ${sessionId} has no critical step to show around`);
  const session = await frozenSessionOf(diagnosis, store.objects);
  if (session === null)
    throw new UsageError(`--context: the session of ${sessionId} is not kept in ${where}: diagnose it again`);
  const { steps } = sessionView(diagnosis, session);
  const at = steps.findIndex(({ spanId }) => spanId === criticalStep.spanId);
  return steps.slice(Math.max(0, at - context), at + context + 1);
}
