import path from 'node:path';
import * as z from 'zod';
import { ConfigurationInvalidError } from '../../core/errors/errors.ts';
import { readSessions } from '../../core/reading/registry.ts';
import type { LoadSettings } from './agentrx.ts';
import type { Group, LabelledRun } from './labelled-run.ts';
import { listFiles, readJson } from './read-json.ts';
import { stripAnswers, WHO_WHEN_ANSWERS } from './strip-answers.ts';

const labelSchema = z.object({
  mistake_agent: z.string(),
  /** 0-based, a string, and in some records beyond the history: kept as it is, nothing can then hit it. */
  mistake_step: z.coerce.number().int().nonnegative(),
});

/** The Who&When data as published: `Hand-Crafted/*.json` and `Algorithm-Generated/*.json` at or below `folder`. */
export function loadWhoWhen(folder: string, settings: LoadSettings = {}): LabelledRun[] {
  const runs = listFiles(folder).flatMap((file): LabelledRun[] => {
    const group = groupOf(path.resolve(folder, file));
    return group === null ? [] : [loadRun(folder, file, group, settings)];
  });
  if (runs.length === 0) {
    throw new ConfigurationInvalidError(
      `${folder}: no Who&When data here. Expected Hand-Crafted/*.json or Algorithm-Generated/*.json.`,
    );
  }
  // Names are numbers: "9" before "10".
  return runs.sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
}

function groupOf(file: string): Group | null {
  if (!file.endsWith('.json')) return null;
  switch (path.basename(path.dirname(file))) {
    case 'Hand-Crafted':
      return 'hand-crafted';
    case 'Algorithm-Generated':
      return 'algorithm-generated';
    default:
      return null;
  }
}

function loadRun(folder: string, file: string, group: Group, settings: LoadSettings): LabelledRun {
  const raw = readJson(path.join(folder, file));
  const label = labelSchema.safeParse(raw);
  if (!label.success) {
    throw new ConfigurationInvalidError(
      `${file}: a label of another shape: ${z.prettifyError(label.error)}`,
      {
        cause: label.error,
      },
    );
  }
  const { record, answers } = stripAnswers(raw, settings.answerPaths ?? WHO_WHEN_ANSWERS);
  const [session] = (settings.read ?? readSessions)({
    document: record,
    // Both halves number their files from 1.
    source: `${group}-${path.basename(file)}`,
  }).sessions;
  if (session === undefined) throw new ConfigurationInvalidError(`${file}: a run without a session`);
  const critical = {
    position: label.data.mistake_step,
    category: null,
    agent: label.data.mistake_agent,
  };
  return {
    id: session.sessionId,
    group,
    session,
    gold: { critical, failures: [critical] },
    expectedActions: null,
    answers,
  };
}
