/**
 * Trace text is untrusted: an escape sequence in it could repaint the terminal, hide lines or set the clipboard.
 * Control characters, bidirectional overrides and zero-width characters are shown as what they are.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: naming control characters is the purpose
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** Safe for a terminal; newlines and tabs stay. */
export function safeText(text: string): string {
  return text.replace(UNSAFE, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Safe and on one line, cut by code point with a mark of how much was cut. */
export function safeLine(text: string, limit: number): string {
  // Bound the work before splitting: one code point is at most two UTF-16 units.
  const flat = safeText(text.slice(0, limit * 4).replace(/\s+/gu, ' ')).trim();
  const points = Array.from(flat);
  if (points.length <= limit && text.length <= limit * 4) return flat;
  const shown = Math.min(limit, points.length);
  return `${points.slice(0, shown).join('')}… (+${text.length - shown})`;
}
