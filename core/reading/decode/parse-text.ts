import type { JsonValue } from '../../base/json.ts';
import { SessionInvalidError } from '../../errors/errors.ts';
import type { Unread } from '../../session/session.ts';
import { parseJson } from './decode-json.ts';

export interface ParsedText {
  /** The document of a JSON file, or the list of the lines' values of a JSON-lines file. */
  readonly document: JsonValue;
  /** Lines that are no JSON by themselves; a log prefix may stand before the JSON in them. */
  readonly textLines: readonly string[];
  readonly unread: readonly Unread[];
}

/**
 * Reads a file as one JSON value, else as JSON lines, with or without a byte order mark. An empty text, and one of
 * which no line begins to look like JSON, is a SessionInvalidError that quotes the parser's complaint.
 */
export function parseText(text: string, source: string): ParsedText {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (body.trim() === '') {
    throw new SessionInvalidError(
      `${source}: the input is empty. Expected a session as JSON or JSON lines; check how the file was written.`,
    );
  }
  const whole = parseJson(body);
  if (whole.ok) {
    return {
      document: whole.value,
      textLines: [],
      unread: changed(whole.note === 'changed' ? 1 : 0, source),
    };
  }
  const values: JsonValue[] = [];
  const textLines: string[] = [];
  let changedLines = 0;
  for (const raw of body.split(/\r?\n/)) {
    const line = raw.trim();
    if (line === '') continue;
    const value = /^[{[]/.test(line) ? parseJson(line) : null;
    if (value?.ok === true) {
      values.push(value.value);
      if (value.note === 'changed') changedLines += 1;
    } else textLines.push(line);
  }
  if (values.length === 0 && !textLines.some((line) => line.includes('{'))) {
    throw new SessionInvalidError(notJson(source, whole.reason));
  }
  return { document: values, textLines, unread: changed(changedLines, source) };
}

export function notJson(source: string, complaint: string): string {
  return (
    `${source}: this is neither JSON (${complaint}) nor JSON lines. ` +
    'Expected a session file in one of the formats of `rootspan formats`; export it again.'
  );
}

function changed(count: number, source: string): Unread[] {
  if (count === 0) return [];
  const reason = 'keys that reach object prototypes left out, or broken characters replaced';
  return [{ where: source, reason, count }];
}
