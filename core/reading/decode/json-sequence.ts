/**
 * Finds JSON values that are written over several lines among other lines of text, as consoles and exporters print them
 * one after another.
 */

/** How often a value that never ends may be looked for: each time costs a pass over the rest of the text. */
const MAX_FAILED = 8;

/** A line with which a printed value begins; `[INFO] …` is a logger's. */
const BEGINS = /^\s{0,200}[{[]\s{0,8}(?:$|["{[])/;

/**
 * The lines of a text, where a value over several lines is one entry. Whether an entry is JSON is for the caller to
 * find out.
 */
export function jsonSequence(lines: readonly string[], isJson: (text: string) => boolean): string[] {
  const out: string[] = [];
  let failed = 0;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const end = failed < MAX_FAILED && isOpening(line) ? endOfValue(lines, at) : at;
    const value = end === null || end === at ? line : lines.slice(at, end + 1).join('\n');
    if (end === null || (end !== at && !isJson(value))) {
      failed += 1;
      out.push(line);
      continue;
    }
    out.push(value);
    at = end;
  }
  return out;
}

/** Lines of JSON lines end with the bracket that they began with, so they cost no search. */
const isOpening = (line: string): boolean => BEGINS.test(line) && !/[}\]]\s{0,8}$/.test(line.slice(-9));

/** Index of the line on which what begins at `from` is closed. Brackets in strings do not count; no string spans lines. */
function endOfValue(lines: readonly string[], from: number): number | null {
  let open = 0;
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    // Printed values are indented inside: a bare bracket at the margin begins another one, so the first broke off.
    if (at > from && /^[{[]\s{0,8}$/.test(line)) return null;
    let inString = false;
    for (let i = 0; i < line.length; i += 1) {
      const char = line[i];
      if (inString && char === '\\') i += 1;
      else if (char === '"') inString = !inString;
      else if (inString) continue;
      else if (char === '{' || char === '[') open += 1;
      else if (char === '}' || char === ']') open -= 1;
    }
    if (open === 0) return at;
    if (open < 0) return null;
  }
  return null;
}
