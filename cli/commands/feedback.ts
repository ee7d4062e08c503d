import { safeLine } from '../../report/escape.ts';
import { openStoreToRead } from '../shell/deps.ts';
import { UsageError } from '../shell/errors.ts';
import { findDiagnosis } from '../shell/find-diagnosis.ts';
import type { CliIo } from '../shell/io.ts';

export interface FeedbackFlags {
  readonly store: string;
  readonly note?: string;
}

/** Keeps what a person says of a failure; a rejected one's issue is left out of later diagnoses. */
export async function feedbackCommand(
  reference: string,
  failure: string,
  word: 'confirm' | 'reject',
  flags: FeedbackFlags,
  io: CliIo,
): Promise<number> {
  const store = await openStoreToRead(flags.store);
  try {
    const diagnosis = await findDiagnosis(reference, store, flags.store);
    const { failures, suppressed, sessionId } = diagnosis;
    // What was left out can be named by its span, to take the rejection back.
    const spanId =
      [...failures.map(({ span_id }) => span_id), ...suppressed.map((each) => each.spanId)].find(
        (id) => id === failure,
      ) ?? failures[Number(failure) - 1]?.span_id;
    if (spanId === undefined)
      throw new UsageError(
        `no failure "${safeLine(failure, 100)}" in ${safeLine(sessionId, 100)}: name one by its number, as \`rootspan show\` counts them, or by its span id`,
      );
    const verdict = word === 'confirm' ? 'confirmed' : 'rejected';
    const issues = await store.diagnoses.giveFeedback(diagnosis, {
      spanId,
      verdict,
      at: new Date().toISOString(),
      note: flags.note ?? null,
    });
    const after =
      word === 'confirm'
        ? 'it is reported as before'
        : 'later diagnoses leave it out and say so; `confirm` takes that back';
    io.err(
      issues.length === 0
        ? `rootspan: ${verdict}; the diagnosis is older than issues are, so nothing later is left out: diagnose the session again first\n`
        : `rootspan: ${verdict}; of issue ${issues.join(', ')}: ${after}\n`,
    );
    return 0;
  } finally {
    await store.close();
  }
}
