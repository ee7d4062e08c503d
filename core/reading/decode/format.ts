import type { JsonValue } from '../../base/json.ts';
import type { Session, Span, SpanError, SpanFlag, Unread } from '../../session/session.ts';

/**
 * Formats come in two families, and the registry (`registry.ts`) holds both:
 *
 * - a **document format** reads a whole file into sessions (chat lists, Strands Session JSON, Who&When, …);
 * - telemetry is read in two moves: a **envelope** unpacks the file or event into raw records (OTLP/JSON, flat
 *   `aws/spans` records, exports), then a **convention** reads the content of each raw span by its own scope and
 *   attributes; `core/reading/assembly/assemble.ts` joins them to sessions.
 *
 * A new format is one file in `documents/`, `envelopes/` or `conventions/`, its line in the registry and its tests.
 */

/** An OpenTelemetry-like span before its content is understood. Ids are lower-case hex. */
export interface RawSpan {
  readonly type: 'span';
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: string | null;
  readonly startTimeUnixNano: string | null;
  readonly endTimeUnixNano: string | null;
  readonly scope: { readonly name: string; readonly version: string };
  readonly resource: Readonly<Record<string, JsonValue>>;
  readonly attributes: Readonly<Record<string, JsonValue>>;
  readonly events: readonly RawEvent[];
  readonly status: { readonly code: 'ok' | 'error' | 'unset'; readonly message: string | null };
  readonly inProgress: boolean;
}

export interface RawEvent {
  readonly name: string;
  readonly timeUnixNano: string | null;
  readonly attributes: Readonly<Record<string, JsonValue>>;
  readonly body?: JsonValue;
}

/** A log record that belongs to a span (split layout), or an application line. */
export interface RawLog {
  readonly type: 'log';
  readonly traceId: string | null;
  readonly spanId: string | null;
  readonly timeUnixNano: string | null;
  readonly scope: { readonly name: string; readonly version: string };
  readonly resource: Readonly<Record<string, JsonValue>>;
  readonly attributes: Readonly<Record<string, JsonValue>>;
  readonly body: JsonValue;
}

export type RawRecord = RawSpan | RawLog;

export interface ReadResult {
  readonly sessions: readonly Session[];
  readonly unread: readonly Unread[];
}

export type Recognition =
  | { readonly match: 'yes'; readonly sure: number }
  | { readonly match: 'no' }
  /** Known, but not ours to read: refused by name with what to do instead. */
  | { readonly match: 'foreign'; readonly name: string; readonly advice: string };

/** What `rootspan formats` and docs/formats.md say of a format. */
export interface FormatText {
  readonly id: string;
  readonly title: string;
  /** How one knows it. */
  readonly knownBy: string;
  /** From which export, setting or file of the product it comes. */
  readonly from: string;
  /** The version, commit or collection of files that its reader was written by and tried on. */
  readonly checkedOn: string;
}

export interface TranscriptFormat extends FormatText {
  recognise(document: JsonValue): Recognition;
  /**
   * The entries of a document whose format lists parts of sessions (observations, runs, calls): several files of them are
   * read as one list, since a session goes over pages. Absent where each document is whole; `null` where this one is.
   */
  readonly entriesOf?: (document: JsonValue, source: string) => readonly JsonValue[] | null;
  /** `SessionInvalidError` when it looked like ours and is not readable. `source` names the file, for ids and messages. */
  read(document: JsonValue, source: string): ReadResult;
}

export interface Envelope extends FormatText {
  recognise(document: JsonValue): Recognition;
  unpack(document: JsonValue): { readonly records: readonly RawRecord[]; readonly unread: readonly Unread[] };
  /**
   * Whether a list of such entries may be cut after this one and its pieces read apart, so that a long file of lines
   * need not be held. Absent where entries are read in the light of each other.
   */
  readonly mayCutAfter?: (entry: JsonValue) => boolean;
}

/** What a convention understood of one span; assembly adds ids, times, tree and errors of the status. */
export interface SpanContent {
  readonly span: SpanContentByKind;
  readonly errors: readonly SpanError[];
  readonly flags: readonly SpanFlag[];
  readonly agent: string | null;
}

type Base =
  | 'spanId'
  | 'traceId'
  | 'parentSpanId'
  | 'name'
  | 'agent'
  | 'startTimeUnixNano'
  | 'endTimeUnixNano'
  | 'status'
  | 'errors'
  | 'flags'
  | 'sourcePosition';
type Content<T> = T extends Span ? Omit<T, Base> : never;
export type SpanContentByKind = Content<Span>;

export interface Convention extends FormatText {
  /** 0 = not mine; higher wins. Looks at scope and attributes of this span and its logs only. */
  claim(span: RawSpan, logs: readonly RawLog[]): number;
  read(span: RawSpan, logs: readonly RawLog[]): SpanContent;
}
