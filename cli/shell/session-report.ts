import path from 'node:path';
import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { page } from '../../report/html/page.ts';
import { type SessionView, sessionView } from '../../report/html/session-view.ts';
import type { OpenStore } from './deps.ts';
import { frozenSessionOf } from './frozen-sessions.ts';
import { reportAsset } from './report-assets.ts';

/** The page of one or several diagnosed sessions. Without a store it shows what the diagnoses themselves quote. */
export async function sessionReport(
  diagnoses: readonly Diagnosis[],
  store: OpenStore | null,
): Promise<string> {
  const sessions: SessionView[] = [];
  for (const diagnosis of diagnoses)
    sessions.push(
      sessionView(diagnosis, store === null ? null : await frozenSessionOf(diagnosis, store.objects)),
    );
  const title =
    diagnoses.length === 1
      ? `${diagnoses[0]?.sessionId}: ${diagnoses[0]?.outcome}`
      : `${diagnoses.length} sessions`;
  return page(`${title} – Rootspan`, { sessions }, await reportAsset('session'));
}

/** Where `--open` puts its page: beside the store, so that it is found again; else in the folder where the user stands. */
export const pageOf = (store: string, sessionId: string): string =>
  path.join(
    store === 'none' || store.startsWith('table:') ? '.' : path.join(store, 'reports'),
    `${sessionId.replace(/[^A-Za-z0-9._-]+/gu, '-').slice(0, 80)}.html`,
  );
