import type { JsonValue } from '../../base/json.ts';
import { SessionInvalidError } from '../../errors/errors.ts';
import type { Unread } from '../../session/session.ts';
import { type Decoded, parseJson } from './decode-json.ts';
import { jsonSequence } from './json-sequence.ts';

export interface ParsedText {
  /** The document of a JSON file, or the list of the lines' values of a JSON-lines file. */
  readonly document: JsonValue;
  /** Lines that are no JSON by themselves; a log prefix may stand before the JSON in them. */
  readonly textLines: readonly string[];
  readonly unread: readonly Unread[];
}

/**
 * Reads a file as one JSON value, else as JSON values one after another (JSON lines, or each printed over several lines,
 * also among other text), with or without a byte order mark. An empty text, and one of
 * which no line begins to look like JSON, is a SessionInvalidError that quotes the parser's complaint. A text that is
 * itself a log (`isTextLog`) is the document, as a string.
 */
export function parseText(
  text: string,
  source: string,
  isTextLog: (text: string) => boolean = () => false,
): ParsedText {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (body.trim() === '') {
    throw new SessionInvalidError(
      `${source}: the input is empty. Expected a session as JSON or JSON lines; check how the file was written.`,
    );
  }
  const whole = parseWithoutNumbers(body);
  if (whole.ok) {
    return {
      document: whole.value,
      textLines: [],
      unread: changed(whole.note === 'changed' ? 1 : 0, source),
    };
  }
  if (isTextLog(body)) return { document: body, textLines: [], unread: [] };
  const values: JsonValue[] = [];
  const textLines: string[] = [];
  let changedLines = 0;
  refuseConsoleText(body, source);
  for (const raw of jsonSequence(body.split(/\r?\n/), (part) => parseWithoutNumbers(part).ok)) {
    const line = raw.trim();
    if (line === '') continue;
    const value = parseLine(line);
    if (value !== null) {
      values.push(value.value);
      if (value.note === 'changed') changedLines += 1;
    } else textLines.push(line);
  }
  if (values.length === 0 && !textLines.some((line) => line.includes('{'))) {
    throw new SessionInvalidError(notJson(source, whole.reason));
  }
  return { document: values, textLines, unread: changed(changedLines, source) };
}

/** The value of a line without white space around it; `null` when it is no JSON object or list by itself. */
export function parseLine(line: string): (Decoded & { readonly ok: true }) | null {
  const value = /^[{[]/.test(line) ? parseWithoutNumbers(line) : null;
  return value?.ok === true ? value : null;
}

/** Python writes NaN and Infinity into JSON, which has no such numbers: each is unknown, not a broken file. */
function parseWithoutNumbers(text: string): Decoded {
  const strict = parseJson(text);
  if (strict.ok || !/\b(?:NaN|Infinity)\b/.test(text)) return strict;
  return parseJson(
    text.replace(/"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g, (found) =>
      found.startsWith('"') ? found : 'null',
    ),
  );
}

/** What `console.dir` prints of the JavaScript SDK's spans looks like JSON and is none: keys without quotes, `[Object]`. */
function refuseConsoleText(body: string, source: string): void {
  const head = body.slice(0, 4000);
  if (!/^\s{0,8}resource: \{$/m.test(head) || !/^\s{0,8}traceId: '[0-9a-f]{32}',$/m.test(head)) return;
  throw new SessionInvalidError(
    `${source}: this is what OpenTelemetry's ConsoleSpanExporter for JavaScript prints, which is no JSON and is cut at three levels. ` +
      'Use an OTLP/JSON exporter (@opentelemetry/exporter-trace-otlp-http through a collector’s file exporter), or write JSON.stringify of each span.',
  );
}

export function notJson(source: string, complaint: string): string {
  return (
    `${source}: this is neither JSON (${complaint}) nor JSON lines. ` +
    'Expected a session file in one of the formats of `rootspan formats`; export it again.'
  );
}

/** Cleaned, and nothing missing for it. */
export const CHANGED = 'keys that reach object prototypes left out, or broken characters replaced';

const changed = (count: number, source: string): Unread[] =>
  count === 0 ? [] : [{ where: source, reason: CHANGED, count }];
