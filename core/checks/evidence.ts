import type { Evidence } from '../diagnosis/check-report.ts';

/** The contract's bound for a quote (`Evidence.quote`), in UTF-16 units. */
export const QUOTE_LENGTH = 300;

/** How far a cut moves inwards to stand between two words. */
const WORD = 30;

/**
 * The part of `text` that shows `[start, end)`, word for word, at most 300 characters. Cuts stand between words
 * where one ends near by, and never split a surrogate pair, so that the quote stays well-formed and is found again
 * in the text.
 */
export function quoteAround(text: string, start = 0, end = start): string {
  const room = Math.max(0, QUOTE_LENGTH - (end - start));
  const before = Math.min(start, Math.floor(room / 3), 60);
  let from = Math.max(0, start - before);
  let to = Math.min(text.length, from + QUOTE_LENGTH);
  if (from > 0) {
    const gap = text.slice(from - 1, Math.min(start, from + WORD)).search(/\s/u);
    if (gap > 0) from += gap;
  }
  if (to < text.length && to - WORD > end) {
    const gap = text.slice(to - WORD, to + 1).search(/\s\S*$/u);
    if (gap >= 0) to = to - WORD + gap;
  }
  if (isLowSurrogate(text, from)) from += 1;
  if (isLowSurrogate(text, to)) to -= 1;
  return text.slice(from, to);
}

export function evidence(spanId: string, quote: string, note: string): Evidence {
  return { spanId, quote, note };
}

function isLowSurrogate(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/**
 * Long texts are looked at in their head and tail: errors, counts and refusals stand there, and work on one
 * text stays bounded. Pieces are slices of the text, so quotes stay verbatim.
 */
export const SCAN_LENGTH = 100_000;

export function scannedPieces(text: string): readonly string[] {
  if (text.length <= 2 * SCAN_LENGTH) return [text];
  return [text.slice(0, SCAN_LENGTH), text.slice(-SCAN_LENGTH)];
}
