import { parse as parseLossless } from 'lossless-json';
import { SessionInvalidError } from '../contracts/errors.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { Unread } from '../session/model.ts';
import { cleanJson } from './clean-json.ts';

/** 16 digits and more can exceed 2^53; only such texts pay for the slower exact parser. */
const LONG_INTEGER = /[0-9]{16}/;

export interface ParsedText {
  /** The document of a JSON file, or the list of the lines' values of a JSON-lines file. */
  readonly document: JsonValue;
  readonly layout: 'json' | 'lines';
  readonly unread: readonly Unread[];
}

/**
 * JSON text in which integers that a double cannot hold (nanosecond times) stay exact, as decimal strings.
 * Throws a SyntaxError as JSON.parse does.
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!LONG_INTEGER.test(text)) return value;
  return parseLossless(text, null, {
    parseNumber: (digits: string) => {
      const number = Number(digits);
      return Number.isInteger(number) && !Number.isSafeInteger(number) && /^-?[0-9]+$/.test(digits)
        ? digits
        : number;
    },
    // As JSON.parse does: the last one wins.
    onDuplicateKey: ({ newValue }: { newValue: unknown }) => newValue,
  });
}

/**
 * Reads a file as one JSON value, else as JSON lines. `decodeLine` gets the lines that are not JSON by themselves
 * (a log prefix before the JSON); what it cannot read is counted as unread. A text of which nothing can be read is
 * a SessionInvalidError that quotes the parser's complaint.
 */
export function parseText(
  text: string,
  source: string,
  decodeLine: (line: string) => unknown | undefined,
): ParsedText {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (body.trim() === '') {
    throw new SessionInvalidError(
      `${source}: the input is empty. Expected a session as JSON or JSON lines; check how the file was written.`,
    );
  }
  let complaint: string;
  try {
    return finish(parseExactJson(body), 'json', 0, source);
  } catch (error) {
    if (error instanceof SessionInvalidError) throw error;
    complaint = error instanceof Error ? error.message : String(error);
  }
  const values: unknown[] = [];
  let failed = 0;
  for (const raw of body.split(/\r?\n/)) {
    const line = raw.trim();
    if (line === '') continue;
    const value = parseLine(line, decodeLine);
    if (value === undefined) failed += 1;
    else values.push(value);
  }
  if (values.length === 0) {
    throw new SessionInvalidError(
      `${source}: this is neither JSON (${complaint}) nor JSON lines. ` +
        'Expected a session file in one of the formats of `rootspan formats`; export it again.',
    );
  }
  return finish(values, 'lines', failed, source);
}

function parseLine(line: string, decodeLine: (line: string) => unknown | undefined): unknown | undefined {
  if (line.startsWith('{') || line.startsWith('[')) {
    try {
      return parseExactJson(line);
    } catch {
      // Not JSON by itself: the decoder below has its own second try.
    }
  }
  const decoded = decodeLine(line);
  return typeof decoded === 'object' && decoded !== null ? decoded : undefined;
}

function finish(
  value: unknown,
  layout: ParsedText['layout'],
  failedLines: number,
  source: string,
): ParsedText {
  const { value: document, refusedKeys } = cleanJson(value, source);
  const unread: Unread[] = [];
  if (failedLines > 0) unread.push({ where: source, reason: 'lines that are not JSON', count: failedLines });
  if (refusedKeys > 0) {
    unread.push({ where: source, reason: 'keys that reach object prototypes', count: refusedKeys });
  }
  return { document, layout, unread };
}
