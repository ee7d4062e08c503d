import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { safeLine } from '../../report/escape.ts';
import type { OpenStore } from './deps.ts';
import { UsageError } from './errors.ts';

/** Newest sessions among which the start of an id is looked up. */
const LOOKED_THROUGH = 500;

/** The id itself, or the only one of the newest sessions that begins so. */
export async function findSession(reference: string, { diagnoses }: OpenStore): Promise<string> {
  if ((await diagnoses.versions(reference)).length > 0) return reference;
  const { items } = await diagnoses.recent({ limit: LOOKED_THROUGH });
  const found = [...new Set(items.map(({ sessionId }) => sessionId))].filter((id) =>
    id.startsWith(reference),
  );
  if (found.length > 1) {
    const some = found.slice(0, 5).map((id) => safeLine(id, 100));
    throw new UsageError(
      `"${reference}" begins ${found.length} session ids: ${some.join(', ')}${found.length > 5 ? ', …' : ''}`,
    );
  }
  return found[0] ?? reference;
}

/** The newest diagnosis of a session, or the version asked for. UsageError when there is none. */
export async function findDiagnosis(
  reference: string,
  store: OpenStore,
  where: string,
  version?: number,
): Promise<Diagnosis> {
  const session = await findSession(reference, store);
  const diagnosis =
    version === undefined
      ? await store.diagnoses.latest(session)
      : await store.diagnoses.version(session, version);
  if (diagnosis === null) throw new UsageError(notFound(reference, where));
  return diagnosis;
}

export const notFound = (session: string, store: string): string =>
  `no stored diagnosis of "${session}" in ${store}; \`rootspan list\` shows what there is`;
