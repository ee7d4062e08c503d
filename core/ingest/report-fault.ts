import { timerSchema } from '../ports/ingest-ports.ts';
import { idHash } from '../ports/object-keys.ts';
import { redactText } from '../redaction/redact-credentials.ts';

const MAX_MESSAGE = 4000;

/** The line of a message that could not be served, without credentials, and with the hash of the session's id for the id. */
export function faultLine(body: string, error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const sessionId = sessionOf(body);
  const shown = sessionId === null ? text : text.replaceAll(sessionId, idHash(sessionId));
  return JSON.stringify({
    level: 'ERROR',
    session: sessionId === null ? null : idHash(sessionId),
    error: redactText(shown).slice(0, MAX_MESSAGE),
  });
}

function sessionOf(body: string): string | null {
  try {
    return timerSchema.safeParse(JSON.parse(body)).data?.sessionId ?? null;
  } catch {
    return null;
  }
}
