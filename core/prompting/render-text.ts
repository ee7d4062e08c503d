/**
 * In a rendering a line that begins with `@` and a lower-case letter is ours, and no text of the session can make
 * one: there such a line start is given a backslash (and a backslash already there one more, so that the way back
 * is exact). White space before the `@` does not help: a model may read past it.
 */
const MARK = /@[a-z]/g;

/** All that a reader may take for a line end, ASCII or not. */
const LINE_END = /[\n\r\v\f\u0085\u2028\u2029]/;

export function escapeText(text: string): string {
  return rewrite(text, (backslashes) => `\\${backslashes}`);
}

export function unescapeText(text: string): string {
  return rewrite(text, (backslashes) => backslashes.slice(1));
}

/** Rewrites the backslashes between a line start (and white space) and a mark. Linear: each look back ends at the last. */
function rewrite(text: string, change: (backslashes: string) => string): string {
  let result = '';
  let done = 0;
  for (const { index } of text.matchAll(MARK)) {
    let slash = index;
    while (slash > done && text[slash - 1] === '\\') slash--;
    let space = slash;
    while (space > done && isSpace(text[space - 1])) space--;
    const atLineStart =
      space === 0 || LINE_END.test(text.slice(space, slash)) || LINE_END.test(text[space - 1] ?? '');
    if (atLineStart) {
      result += text.slice(done, slash) + change(text.slice(slash, index));
      done = index;
    }
  }
  return result + text.slice(done);
}

const isSpace = (unit: string | undefined): boolean =>
  unit !== undefined && /[\s\u0085\u200b\u2060]/.test(unit);

/**
 * JSON text without the white space between its tokens (a fifth of the tokens of typical tool results); any other
 * text as it is. Characters are only left out, none is changed: numbers keep their digits, strings their escapes.
 */
export function compactJson(text: string): string {
  if (!/^\s{0,20}[[{]/.test(text)) return text;
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let compact = '';
  let from = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const unit = text[i];
    if (inString) {
      if (unit === '\\') i++;
      else if (unit === '"') inString = false;
    } else if (unit === '"') inString = true;
    else if (unit === ' ' || unit === '\n' || unit === '\t' || unit === '\r') {
      compact += text.slice(from, i);
      from = i + 1;
    }
  }
  return compact + text.slice(from);
}

/** A name of the session (agent, tool) for a header line: plain, or as a JSON string when it could mislead. */
export function renderName(name: string): string {
  return /^[\p{L}\p{N}_<(](?:[\p{L}\p{N} _.,()<>/+-]{0,78}[\p{L}\p{N}_.)>])?$/u.test(name)
    ? name
    : jsonOnOneLine(name);
}

/** Compact JSON; the line separators that JSON leaves as they are get escaped. */
export function jsonOnOneLine(value: unknown): string {
  return (JSON.stringify(value) ?? 'null').replace(
    /[\u0085\u2028\u2029]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** `95 s`, `12 min`, `3 h`: two digits are enough to judge a wait by. */
export function renderSeconds(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

/**
 * Keeps the first two thirds and the last third of a text that is too long, and says on a line of its own, which no
 * text of the session can fake, how much is gone. The result is escaped; `maxBytes` counts UTF-8 without the mark.
 */
export function renderCut(text: string, maxBytes: number): { readonly text: string; readonly cut: boolean } {
  const utf8 = new TextEncoder().encode(text);
  if (utf8.length <= maxBytes) return { text: escapeText(text), cut: false };
  const headBytes = Math.floor((maxBytes * 2) / 3);
  const head = decodeWhole(utf8.subarray(0, headBytes));
  const tail = decodeWhole(utf8.subarray(utf8.length - (maxBytes - headBytes)));
  const gone = codePoints(text) - codePoints(head) - codePoints(tail);
  return { text: `${escapeText(head)}\n@cut ${gone} characters\n${escapeText(tail)}`, cut: true };
}

/** Decodes a slice of UTF-8 without the broken characters at its edges. */
function decodeWhole(utf8: Uint8Array): string {
  let from = 0;
  while (from < utf8.length && ((utf8[from] ?? 0) & 0xc0) === 0x80) from++;
  let to = utf8.length;
  let lead = to - 1;
  while (lead > from && ((utf8[lead] ?? 0) & 0xc0) === 0x80) lead--;
  const first = utf8[lead] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  if (lead + length > to) to = lead;
  return new TextDecoder().decode(utf8.subarray(from, to));
}

export function codePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i + 1 < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      count--;
      i++;
    }
  }
  return count;
}
