import { SessionInvalidError } from '../errors/errors.ts';
import { CONVENTIONS } from './conventions/index.ts';
import type { FormatText, ReadResult } from './decode/format.ts';
import { ENVELOPES } from './envelopes/index.ts';
import { type SessionInput, SessionReader } from './session-reader.ts';
import { FOREIGN_PRODUCTS } from './transcripts/foreign-products.ts';
import { TRANSCRIPTS } from './transcripts/index.ts';

export interface FormatLine extends FormatText {
  readonly family: 'transcript' | 'envelope' | 'convention';
}

/** Every format that can be read, for `rootspan formats` and the docs. */
export function listFormats(): readonly FormatLine[] {
  const line =
    (family: FormatLine['family']) =>
    ({ id, title, knownBy, from, checkedOn }: FormatText): FormatLine => ({
      family,
      id,
      title,
      knownBy,
      from,
      checkedOn,
    });
  return [
    ...TRANSCRIPTS.map(line('transcript')),
    ...ENVELOPES.map(line('envelope')),
    ...CONVENTIONS.map(line('convention')),
  ];
}

/** Exports of known products that are refused, each with what to give instead. */
export const listRefused = (): readonly { readonly name: string; readonly advice: string }[] =>
  FOREIGN_PRODUCTS.map(({ name, advice }) => ({ name, advice }));

/**
 * Reads a file or parsed document into its sessions, whatever its format: one document, telemetry in any envelope,
 * JSON lines, a list or a map of sessions, or a mix of these. `source` names the input, for ids and messages.
 *
 * Throws a SessionInvalidError when nothing in it is a session: of a foreign schema by its name, of an unknown one by
 * its shape, of an empty one by saying so. What could not be read beside what could stands in `unread`.
 *
 * Credentials are replaced in everything that comes out, also in reasons and in the error's message.
 */
export function readSessions(input: SessionInput): ReadResult {
  // A caller without types may hand in the bare text.
  if (typeof input !== 'object' || input === null || !('text' in input || 'document' in input))
    throw new SessionInvalidError(
      `readSessions: expected {text, source} or {document, source}, found ${input === null ? 'null' : typeof input}`,
    );
  const reader = new SessionReader();
  reader.add(input);
  const { sessions, unread } = reader.finish();
  return { sessions: sessions.map(({ session }) => session), unread };
}
