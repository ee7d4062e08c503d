import { isJsonObject, type JsonValue } from '../base/json.ts';
import { SessionInvalidError } from '../errors/errors.ts';
import { redactText } from '../redaction/redact-credentials.ts';
import type { Unread } from '../session/session.ts';
import { chooseFormat, hasDocumentsAmong } from './choose-format.ts';
import type { RawRecord, ReadResult, TranscriptFormat } from './decode/format.ts';
import { foreignExports } from './envelopes/foreign-exports.ts';
import { ENVELOPES } from './envelopes/index.ts';
import { sourceStem } from './transcripts/fields.ts';
import { TRANSCRIPTS } from './transcripts/index.ts';

/** What one document holds, before the telemetry in it is put together. */
export interface Parts {
  /** Of document formats: their sessions are whole. */
  readonly results: readonly ReadResult[];
  readonly records: readonly RawRecord[];
  /** Ids of the envelopes that the records came in. */
  readonly envelopes: readonly string[];
  /** Beside the records, and perhaps a part of a session of theirs. */
  readonly unreadRecords: readonly Unread[];
  /** Entries of their own that could not be read. */
  readonly unread: readonly Unread[];
  /** The document's entries, where sessions of its format may go on in other files. */
  readonly list: PartList | null;
}

export interface PartList {
  readonly format: TranscriptFormat;
  readonly entries: readonly JsonValue[];
}

export const NOTHING: Parts = {
  results: [],
  records: [],
  envelopes: [],
  unreadRecords: [],
  unread: [],
  list: null,
};

/**
 * A document by the format that is surest of it, else each entry of a list or map by its own. SessionInvalidError when
 * nothing in it is known, unless `isBeside`: records of the same input stood on lines of their own.
 */
export function takeApart(document: JsonValue, source: string, isBeside = false): Parts {
  const choice = chooseFormat(document);
  switch (choice.kind) {
    case 'transcript':
      return {
        ...NOTHING,
        results: [choice.format.read(document, source)],
        list: listOf(choice.format, document, source),
      };
    case 'envelope': {
      if (Array.isArray(document) && hasDocumentsAmong(document, choice.format))
        return takeEntries(document, source, isBeside);
      const { records, unread } = choice.format.unpack(document);
      return { ...NOTHING, records, envelopes: [choice.format.id], unreadRecords: unread };
    }
    case 'foreign':
      throw new SessionInvalidError(
        `${source}: this is ${choice.name}, which is not a session. ${choice.advice}`,
      );
    case 'none':
      return takeEntries(document, source, isBeside);
  }
}

function listOf(format: TranscriptFormat, document: JsonValue, source: string): PartList | null {
  const entries = format.entriesOf?.(document, source) ?? null;
  return entries === null ? null : { format, entries };
}

function takeEntries(document: JsonValue, source: string, isBeside: boolean): Parts {
  const entries: [string, JsonValue][] = Array.isArray(document)
    ? document.map((entry, index) => [`${sourceStem(source)}#${index}`, entry])
    : isJsonObject(document)
      ? Object.entries(document).map(([key, entry]) => [`${sourceStem(source)}#${key}`, entry])
      : [];
  const results: ReadResult[] = [];
  const records: RawRecord[] = [];
  const envelopes = new Set<string>();
  const unreadRecords: Unread[] = [];
  const unread: Unread[] = [];
  const refusals: SessionInvalidError[] = [];
  let unknown = 0;
  for (const [where, entry] of entries) {
    const choice =
      typeof entry === 'object' && entry !== null ? chooseFormat(entry) : ({ kind: 'none' } as const);
    if (choice.kind === 'none') {
      unknown += 1;
    } else if (choice.kind === 'envelope') {
      const unpacked = choice.format.unpack(entry);
      unreadRecords.push(...unpacked.unread);
      envelopes.add(choice.format.id);
      for (const record of unpacked.records) records.push(record);
    } else {
      try {
        results.push(...takeApart(entry, where).results);
      } catch (error) {
        if (!(error instanceof SessionInvalidError)) throw error;
        refusals.push(error);
        unread.push({ where, reason: error.message, count: 1 });
      }
    }
  }
  if (results.length + records.length === 0 && !isBeside) {
    throw refusals[0] ?? new SessionInvalidError(unknownFormat(document, source));
  }
  if (unknown > 0) unread.push({ where: source, reason: 'entries of no known format', count: unknown });
  return { results, records, envelopes: [...envelopes], unreadRecords, unread, list: null };
}

const unknownFormat = (document: JsonValue, source: string): string =>
  `${source}: no known format – found ${describe(document)}. ` +
  `Expected one of ${[...TRANSCRIPTS, ...ENVELOPES]
    .filter((format) => format !== foreignExports)
    .map((format) => format.id)
    .join(', ')}; ` +
  '`rootspan formats` says how each is recognised.';

function describe(document: JsonValue): string {
  if (Array.isArray(document)) {
    const first = document[0];
    return document.length === 0
      ? 'an empty list'
      : `a list of ${document.length} entries, the first ${describe(first ?? null)}`;
  }
  if (!isJsonObject(document)) return document === null ? 'null' : `a single ${typeof document}`;
  const keys = Object.keys(document);
  const shown = keys.slice(0, 8).map((key) => redactText(key).slice(0, 40));
  return keys.length === 0
    ? 'an empty object'
    : `an object with ${shown.join(', ')}${keys.length > shown.length ? ', …' : ''}`;
}
