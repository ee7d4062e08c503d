/**
 * Trace text is untrusted: an escape sequence in it could repaint the terminal, hide lines or set the clipboard.
 * Control and format characters (bidirectional overrides, zero-width characters, invisible tags) are shown as what they
 * are.
 */
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Safe for a terminal; newlines and tabs stay. */
export function safeText(text: string): string {
  return text.replace(UNSAFE, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Safe and on one line, cut by code point with a mark of how many were cut. */
export function safeLine(text: string, limit: number): string {
  // One code point is at most two UTF-16 units, and white space may fold: four times the limit is enough to fill it.
  const flat = Array.from(safeText(text.slice(0, limit * 4).replace(/\s+/gu, ' ')).trim());
  if (flat.length <= limit && text.length <= limit * 4) return flat.join('');
  const shown = Math.min(limit, flat.length);
  let total = 0;
  for (const _ of text) total += 1;
  return `${flat.slice(0, shown).join('')}… (+${total - shown})`;
}
