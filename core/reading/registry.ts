import { isJsonObject, type JsonValue } from '../base/json.ts';
import { SessionInvalidError } from '../errors/errors.ts';
import { redactCredentials, redactText, redactUnread } from '../redaction/redact-credentials.ts';
import type { Session, Unread } from '../session/session.ts';
import { assembleSessions } from './assembly/assemble.ts';
import { CONVENTIONS } from './conventions/index.ts';
import { sanitiseJson } from './decode/decode-json.ts';
import { decodeLogEventMessage, isForeignLine } from './decode/decode-log-event.ts';
import type { Envelope, RawRecord, ReadResult, TranscriptFormat } from './decode/format.ts';
import { notJson, parseText } from './decode/parse-text.ts';
import { foreignExports } from './envelopes/foreign-exports.ts';
import { ENVELOPES } from './envelopes/index.ts';
import { sourceStem } from './transcripts/fields.ts';
import { recogniseForeign } from './transcripts/foreign.ts';
import { foreignProduct } from './transcripts/foreign-products.ts';
import { TRANSCRIPTS } from './transcripts/index.ts';

export type SessionInput =
  | { readonly text: string; readonly source: string }
  | { readonly document: JsonValue; readonly source: string };

export interface FormatLine {
  readonly family: 'transcript' | 'envelope' | 'convention';
  readonly id: string;
  readonly title: string;
  readonly knownBy: string;
}

/** Every format that can be read, for `rootspan formats` and the docs. */
export function listFormats(): readonly FormatLine[] {
  const line =
    (family: FormatLine['family']) => (format: { id: string; title: string; knownBy: string }) => ({
      family,
      id: format.id,
      title: format.title,
      knownBy: format.knownBy,
    });
  return [
    ...TRANSCRIPTS.map(line('transcript')),
    ...ENVELOPES.map(line('envelope')),
    ...CONVENTIONS.map(line('convention')),
  ];
}

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
  try {
    const { sessions, unread } = readAll(input);
    return { sessions: sessions.map(redactCredentials), unread: redactUnread(unread) };
  } catch (error) {
    if (!(error instanceof SessionInvalidError)) throw error;
    const message = redactText(error.message);
    // Without the cause: a parser's complaint quotes its input too.
    throw message === error.message ? error : new SessionInvalidError(message);
  }
}

/** Set-up noise may stand before a log's own lines; a text beyond this is told by its head. */
const LOG_HEAD = 200_000;

/** Whether a text that is no JSON is a log in a format of its own. */
function isTextLog(text: string): boolean {
  const head = text.slice(0, LOG_HEAD);
  return !/^\s{0,64}\{/.test(head) && TRANSCRIPTS.some((format) => format.recognise(head).match === 'yes');
}

function readAll(input: SessionInput): ReadResult {
  // A caller without types may hand in the bare text.
  if (typeof input !== 'object' || input === null || !('text' in input || 'document' in input))
    throw new SessionInvalidError(
      `readSessions: expected {text, source} or {document, source}, found ${input === null ? 'null' : typeof input}`,
    );
  const { source } = input;
  const parsed =
    'text' in input
      ? parseText(input.text, source, isTextLog)
      : { document: sanitiseJson(input.document), textLines: [], unread: [] };
  const lines = readTextLines(parsed.textLines, source);
  if (Array.isArray(parsed.document) && parsed.document.length === 0 && lines.records.length === 0) {
    const [first] = lines.unread;
    if (first !== undefined) throw new SessionInvalidError(notJson(source, first.reason));
  }
  const read = readAny(parsed.document, source, lines);
  const unread = [...parsed.unread, ...lines.unread, ...read.unread];
  const hasSpans = (session: Session): boolean => session.traces.some((trace) => trace.spans.length > 0);
  const sessions = read.sessions.filter(hasSpans);
  for (const session of read.sessions) {
    if (hasSpans(session)) continue;
    unread.push({ where: session.sessionId, reason: 'a session without any message or span', count: 1 });
  }
  if (sessions.length === 0) {
    const why = unread.map((entry) => `${entry.where}: ${entry.reason} (${entry.count})`).join('; ');
    throw new SessionInvalidError(
      `${source}: no session in this input${why === '' ? '' : ` – ${why}`}. ` +
        'Expected at least one message or span; check that the export covers the session.',
    );
  }
  return { sessions: withDistinctIds(sessions), unread };
}

type Choice =
  | { readonly kind: 'transcript'; readonly format: TranscriptFormat }
  | { readonly kind: 'envelope'; readonly format: Envelope }
  | { readonly kind: 'foreign'; readonly name: string; readonly advice: string }
  | { readonly kind: 'none' };

/** The surest format; on a tie a document format before an envelope, and the earlier in its list. */
function choose(document: JsonValue): Choice {
  const product = foreignProduct(document);
  if (product !== undefined) return { kind: 'foreign', name: product.name, advice: product.advice };
  const candidates = [
    ...TRANSCRIPTS.map(
      (format) => ({ kind: 'transcript', format, seen: format.recognise(document) }) as const,
    ),
    ...ENVELOPES.map((format) => ({ kind: 'envelope', format, seen: format.recognise(document) }) as const),
  ];
  let best: Choice = { kind: 'none' };
  let sure = 0;
  for (const candidate of candidates) {
    if (candidate.seen.match !== 'yes' || candidate.seen.sure <= sure) continue;
    sure = candidate.seen.sure;
    best = candidate;
  }
  if (best.kind !== 'none') return best;
  const known = recogniseForeign(document);
  const foreign =
    known.match === 'foreign'
      ? known
      : candidates.find((candidate) => candidate.seen.match === 'foreign')?.seen;
  return foreign?.match === 'foreign'
    ? { kind: 'foreign', name: foreign.name, advice: foreign.advice }
    : best;
}

interface Lines {
  readonly records: readonly RawRecord[];
  readonly unread: readonly Unread[];
}
const NO_LINES: Lines = { records: [], unread: [] };

/** `further`: telemetry of the same input that stood on lines of its own. */
function readAny(document: JsonValue, source: string, further: Lines): ReadResult {
  const choice = choose(document);
  switch (choice.kind) {
    case 'transcript':
      return joined(
        [choice.format.read(document, source), ...assembled(further.records, 'log-lines', further.unread)],
        [],
      );
    case 'envelope': {
      if (Array.isArray(document) && hasDocumentsAmong(document, choice.format)) {
        return readParts(document, source, further);
      }
      const { records, unread } = choice.format.unpack(document);
      return joined(
        assembled([...records, ...further.records], choice.format.id, [...unread, ...further.unread]),
        unread,
      );
    }
    case 'foreign':
      throw new SessionInvalidError(
        `${source}: this is ${choice.name}, which is not a session. ${choice.advice}`,
      );
    case 'none':
      return readParts(document, source, further);
  }
}

/** Whether a list that an envelope takes holds whole documents too, which it would only count as unread. */
function hasDocumentsAmong(entries: readonly JsonValue[], envelope: Envelope): boolean {
  return entries.some(
    (entry) =>
      isJsonObject(entry) &&
      envelope.recognise([entry]).match !== 'yes' &&
      TRANSCRIPTS.some((format) => format.recognise(entry).match === 'yes'),
  );
}

/** What could not be read among a session's records may be a part of any session of them: each says so. */
function assembled(
  records: readonly RawRecord[],
  format: string,
  unread: readonly Unread[] = [],
): ReadResult[] {
  if (records.length === 0) return [];
  const read = assembleSessions(records, { format });
  const missing = unread.filter(({ reason }) => !isForeignLine(reason));
  const sessions = read.sessions.map((session) => ({ ...session, unread: [...session.unread, ...missing] }));
  return [{ sessions, unread: read.unread }];
}

/** Lines that are no JSON by themselves: telemetry behind a text prefix, else counted by the reason. */
function readTextLines(lines: readonly string[], source: string): { records: RawRecord[]; unread: Unread[] } {
  const records: RawRecord[] = [];
  const reasons = new Map<string, number>();
  for (const line of lines) {
    const decoded = decodeLogEventMessage(line);
    if (Array.isArray(decoded)) for (const record of decoded) records.push(record);
    else reasons.set(decoded.reason, (reasons.get(decoded.reason) ?? 0) + 1);
  }
  return { records, unread: [...reasons].map(([reason, count]) => ({ where: source, reason, count })) };
}

/** A list or map that no format takes whole: each entry by its own format, all telemetry of it joined together. */
function readParts(document: JsonValue, source: string, further: Lines): ReadResult {
  const parts: [string, JsonValue][] = Array.isArray(document)
    ? document.map((part, index) => [`${sourceStem(source)}#${index}`, part])
    : isJsonObject(document)
      ? Object.entries(document).map(([key, part]) => [`${sourceStem(source)}#${key}`, part])
      : [];
  const results: ReadResult[] = [];
  const records: RawRecord[] = [...further.records];
  const unreadRecords: Unread[] = [...further.unread];
  const envelopes = new Set<string>();
  const unread: Unread[] = [];
  const refusals: SessionInvalidError[] = [];
  let unknown = 0;
  for (const [where, part] of parts) {
    const choice = typeof part === 'object' && part !== null ? choose(part) : ({ kind: 'none' } as const);
    if (choice.kind === 'none') {
      unknown += 1;
    } else if (choice.kind === 'envelope') {
      const unpacked = choice.format.unpack(part);
      unread.push(...unpacked.unread);
      unreadRecords.push(...unpacked.unread);
      envelopes.add(choice.format.id);
      for (const record of unpacked.records) records.push(record);
    } else {
      try {
        results.push(readAny(part, where, NO_LINES));
      } catch (error) {
        if (!(error instanceof SessionInvalidError)) throw error;
        refusals.push(error);
        unread.push({ where, reason: error.message, count: 1 });
      }
    }
  }
  // Spans and their log records may come in different envelopes of one file and still belong together.
  results.push(...assembled(records, [...envelopes].join('+') || 'log-lines', unreadRecords));
  if (results.length === 0) {
    throw (
      refusals[0] ??
      new SessionInvalidError(
        `${source}: no known format – found ${describe(document)}. ` +
          `Expected one of ${[...TRANSCRIPTS, ...ENVELOPES]
            .filter((format) => format !== foreignExports)
            .map((format) => format.id)
            .join(', ')}; ` +
          '`rootspan formats` says how each is recognised.',
      )
    );
  }
  if (unknown > 0) unread.push({ where: source, reason: 'entries of no known format', count: unknown });
  return joined(results, unread);
}

function joined(results: readonly ReadResult[], unread: readonly Unread[]): ReadResult {
  return {
    sessions: results.flatMap((result) => result.sessions),
    unread: [...results.flatMap((result) => result.unread), ...unread],
  };
}

/** Two sessions of one input must not be stored under one id: later ones get `-2`, `-3`, … */
function withDistinctIds(sessions: readonly Session[]): Session[] {
  const taken = new Set<string>();
  const seen = new Map<string, number>();
  return sessions.map((session) => {
    let sessionId = session.sessionId;
    let n = seen.get(sessionId) ?? 1;
    while (taken.has(sessionId)) {
      n += 1;
      sessionId = `${session.sessionId}-${n}`;
    }
    seen.set(session.sessionId, n);
    taken.add(sessionId);
    if (sessionId === session.sessionId) return session;
    return { ...session, sessionId, traces: session.traces.map((trace) => ({ ...trace, sessionId })) };
  });
}

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
