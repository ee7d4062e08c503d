import { SessionInvalidError } from '../errors/errors.ts';
import { redactText } from '../redaction/redact-credentials.ts';

/** Credentials are replaced in the message of an error too. Without the cause: a parser's complaint quotes its input. */
export function withoutSecrets<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SessionInvalidError)) throw error;
    const message = redactText(error.message);
    throw message === error.message ? error : new SessionInvalidError(message);
  }
}
