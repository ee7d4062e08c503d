import type { JsonValue } from '../base/json.ts';
import { SessionInvalidError, SessionTooLargeError } from '../errors/errors.ts';
import { redactCredentials, redactText, redactUnread } from '../redaction/redact-credentials.ts';
import type { Session, Unread } from '../session/session.ts';
import { assembleSessions } from './assembly/assemble.ts';
import { statedSessionId } from './assembly/ids.ts';
import { isTextLog } from './choose-format.ts';
import { sanitiseJson } from './decode/decode-json.ts';
import { isForeignLine } from './decode/decode-log-event.ts';
import type { RawRecord } from './decode/format.ts';
import { CHANGED, notJson, parseText } from './decode/parse-text.ts';
import { LineReader } from './line-reader.ts';
import { type PartList, type Parts, takeApart } from './take-apart.ts';
import { readTextLines, type TextLines } from './text-lines.ts';
import { sumUnread } from './unread.ts';
import { withoutSecrets } from './without-secrets.ts';

export type SessionInput =
  | { readonly text: string; readonly source: string }
  | { readonly document: JsonValue; readonly source: string };

/** Everything that the inputs held. */
export interface Reading {
  /** `source` is the input that a session stood in whole; `null` for one that was put together from records. */
  readonly sessions: readonly SourcedSession[];
  /** All that could not be read. */
  readonly unread: readonly Unread[];
  /**
   * Those of `unread` that no session bears and that may have been one, or a part of one: with any of them the sessions
   * that were read are not all there is.
   */
  readonly unaccounted: readonly Unread[];
}

export interface SourcedSession {
  readonly session: Session;
  readonly source: string | null;
}

interface Input {
  readonly source: string;
  /** Beside its records, perhaps a part of any session of them. */
  readonly unreadRecords: Unread[];
}

/** In which envelopes and inputs the records of a trace came. */
interface Origin {
  readonly envelopes: Set<string>;
  readonly inputs: Set<Input>;
}

/**
 * Reads inputs one after another. Sessions that a document holds are read at once; telemetry is kept as records, and at
 * the end put together over all inputs, as in the account: spans in one file and their log records in another are one
 * session. What is held is thus records and sessions, never the text that they came in.
 */
export class SessionReader {
  #whole: SourcedSession[] = [];
  readonly #lists: { readonly list: PartList; readonly source: string }[] = [];
  readonly #records: RawRecord[] = [];
  readonly #origins = new Map<string, Origin>();
  readonly #inputs: Input[] = [];
  readonly #unread: Unread[] = [];
  readonly #unaccounted: Unread[] = [];
  /** Inputs that could not be read and looked like telemetry: a part of any session of records. */
  readonly #broken: Unread[] = [];
  readonly #envelopes = new Set<string>();

  /**
   * One input whole. SessionInvalidError when nothing in it can be a session; it then leaves nothing behind, except that
   * sessions of the others know of it where it looked like telemetry.
   */
  add(input: SessionInput): void {
    try {
      withoutSecrets(() => this.#add(input));
    } catch (error) {
      if (error instanceof SessionInvalidError && 'text' in input && LIKE_TELEMETRY.test(input.text))
        this.missing(input.source, 'telemetry that could not be read');
      throw error;
    }
  }

  #add(input: SessionInput): void {
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
    const parts = takeApart(parsed.document, source, lines.records.length > 0);
    this.#take(source, parts, lines, parsed.unread);
  }

  /** One input of many lines, given as they come. */
  lines(source: string): LineReader {
    return new LineReader(source, ({ parts, lines, changed }) => this.#take(source, parts, lines, changed));
  }

  /** An input that could not be read, and may have been telemetry: what was put together may lack a part. */
  missing(source: string, reason: string): void {
    this.#broken.push({ where: redactText(source), reason: redactText(reason), count: 1 });
  }

  #take(source: string, parts: Parts, lines: TextLines, changed: readonly Unread[]): void {
    const input: Input = { source, unreadRecords: [...parts.unreadRecords, ...lines.unread] };
    const records = parts.records.length + lines.records.length;
    let sessions = 0;
    const unread: Unread[] = [...changed];
    const unaccounted: Unread[] = [];
    // A document of lines that one format took whole: lines that are none of its own are a part of it.
    const [only] = parts.results.length === 1 && records === 0 ? parts.results : [];
    if (only !== undefined) unread.push(...lines.unread);
    for (const result of parts.results) {
      const filled = result.sessions.filter(hasSpans);
      sessions += filled.length;
      const beside = only === undefined ? [] : lines.unread.filter(countsAsMissing);
      const [single] = filled.length === 1 ? filled : [];
      for (const entry of result.unread) {
        if (filled.some((session) => session.unread.some(({ reason }) => reason === entry.reason))) continue;
        (single === undefined ? unaccounted : beside).push(entry);
      }
      unread.push(...result.unread);
      for (const session of filled)
        this.#whole.push({ session: { ...session, unread: [...session.unread, ...beside] }, source });
      for (const session of result.sessions.filter((session) => !hasSpans(session)))
        unaccounted.push({
          where: session.sessionId,
          reason: 'a session without any message or span',
          count: 1,
        });
    }
    unaccounted.push(...parts.unread);
    for (const record of parts.records) this.#keep(record, input, parts.envelopes);
    for (const record of lines.records) this.#keep(record, input, parts.envelopes);
    for (const envelope of parts.envelopes) this.#envelopes.add(envelope);
    if (records > 0) unread.push(...input.unreadRecords);
    else unaccounted.push(...parts.unreadRecords, ...(only === undefined ? lines.unread : []));
    // What is only about a session of other files is none by itself.
    if (sessions + records === 0 && parts.list === null)
      throw new SessionInvalidError(noSession(source, [...unread, ...unaccounted]));
    this.#inputs.push(input);
    if (parts.list !== null) this.#lists.push({ list: parts.list, source });
    this.#unread.push(...unread, ...unaccounted.filter((entry) => !unread.includes(entry)));
    this.#unaccounted.push(...unaccounted.filter(countsAsMissing));
  }

  #keep(record: RawRecord, input: Input, envelopes: readonly string[]): void {
    this.#records.push(record);
    const key = record.traceId ?? statedSessionId(record)?.value ?? '';
    let origin = this.#origins.get(key);
    if (origin === undefined) {
      origin = { envelopes: new Set(), inputs: new Set() };
      this.#origins.set(key, origin);
    }
    origin.inputs.add(input);
    for (const envelope of envelopes) origin.envelopes.add(envelope);
  }

  /** SessionInvalidError when the inputs held no session. */
  finish(): Reading {
    return withoutSecrets(() => this.#finish());
  }

  #finish(): Reading {
    this.#joinLists();
    const { sessions: assembled, unread } = this.#assemble();
    const [first, ...others] = this.#inputs;
    const name = first === undefined || others.length > 0 ? 'the input' : first.source;
    const all = [...this.#unread, ...unread];
    const whole = this.#whole.map(({ session, source }) => ({
      session: redactCredentials(session),
      source,
    }));
    const sessions = [...whole, ...assembled.filter(hasSpans).map((session) => ({ session, source: null }))];
    if (sessions.length === 0) throw new SessionInvalidError(noSession(name, all));
    return {
      sessions: withDistinctIds(sessions, others.length === 0),
      unread: redactUnread(sumUnread(all)),
      unaccounted: redactUnread(sumUnread(this.#unaccounted)),
    };
  }

  /** Sessions may go over files, as pages of an API: entries of one format are read again as one list. */
  #joinLists(): void {
    for (const [format, lists] of Map.groupBy(this.#lists, ({ list }) => list.format)) {
      const [first, ...others] = lists;
      if (first === undefined || others.length === 0) continue;
      const sources = new Set<string | null>(lists.map(({ source }) => source));
      const parts = Map.groupBy(
        this.#whole.filter(({ source }) => sources.has(source)),
        ({ session }) => session.sessionId,
      );
      let sessions: readonly Session[];
      try {
        const entries = lists.flatMap(({ list }) => [...list.entries]);
        sessions = format.read(entries, first.source).sessions.filter(hasSpans);
      } catch (error) {
        if (!(error instanceof SessionTooLargeError)) throw error;
        // Each file by itself was not too large, and has been read.
        const reason = `too much to look for sessions that go over several files: ${error.message}`;
        const entry = { where: format.title, reason, count: lists.length };
        this.#unread.push(entry);
        this.#unaccounted.push(entry);
        continue;
      }
      const joined = sessions.map((session): SourcedSession => {
        const [part, ...further] = parts.get(session.sessionId) ?? [];
        const unread = [part, ...further].flatMap((item) => item?.session.unread ?? []);
        return {
          session: { ...session, unread: sumUnread([...session.unread, ...unread]) },
          source: further.length === 0 ? (part?.source ?? null) : null,
        };
      });
      this.#whole = [...this.#whole.filter(({ source }) => !sources.has(source)), ...joined];
    }
  }

  #assemble(): { readonly sessions: readonly Session[]; readonly unread: readonly Unread[] } {
    if (this.#records.length === 0) return { sessions: [], unread: [] };
    const { sessions, unread } = assembleSessions(this.#records, { format: 'log-lines' });
    return { sessions: sessions.map((session) => this.#withOrigin(session)), unread };
  }

  /** What could not be read among a session's records may be a part of any session of them: each says so. */
  #withOrigin(session: Session): Session {
    const origins = [...session.traces.map(({ traceId }) => traceId), session.sessionId, ''].flatMap(
      (key) => this.#origins.get(key) ?? [],
    );
    const envelopes = new Set(origins.flatMap((origin) => [...origin.envelopes]));
    const inputs = new Set(origins.flatMap((origin) => [...origin.inputs]));
    const missing = sumUnread([...inputs].flatMap((input) => input.unreadRecords.filter(countsAsMissing)));
    return {
      ...session,
      format: [...this.#envelopes].filter((id) => envelopes.has(id)).join('+') || session.format,
      unread: [...session.unread, ...redactUnread(missing), ...this.#broken],
    };
  }
}

const LIKE_TELEMETRY = /"(?:trace_?id|resource_?(?:spans|logs)|raw_otel_json|scope_?spans)\b/i;

const hasSpans = (session: Session): boolean => session.traces.some((trace) => trace.spans.length > 0);

/** An application's own lines are no part of a session, and what was only cleaned is not missing. */
const countsAsMissing = ({ reason }: Unread): boolean => !isForeignLine(reason) && reason !== CHANGED;

function noSession(name: string, unread: readonly Unread[]): string {
  const why = unread.map((entry) => `${entry.where}: ${entry.reason} (${entry.count})`).join('; ');
  return (
    `${name}: no session in this input${why === '' ? '' : ` – ${why}`}. ` +
    'Expected at least one message or span; check that the export covers the session.'
  );
}

/**
 * Two sessions of one input must not be stored under one id: later ones get `-2`, `-3`, … Those of different inputs are
 * told apart by who knows the inputs.
 */
function withDistinctIds(sessions: Reading['sessions'], isOneInput: boolean): Reading['sessions'] {
  const taken = new Set<string>();
  const seen = new Map<string, number>();
  return sessions.map(({ session, source }) => {
    const scope = isOneInput ? '' : `${source}\n`;
    let sessionId = session.sessionId;
    let n = seen.get(scope + sessionId) ?? 1;
    while (taken.has(scope + sessionId)) {
      n += 1;
      sessionId = `${session.sessionId}-${n}`;
    }
    seen.set(scope + session.sessionId, n);
    taken.add(scope + sessionId);
    return { session: withSessionId(session, sessionId), source };
  });
}

/** The same session under another id. */
export function withSessionId(session: Session, sessionId: string): Session {
  if (sessionId === session.sessionId) return session;
  return { ...session, sessionId, traces: session.traces.map((trace) => ({ ...trace, sessionId })) };
}
