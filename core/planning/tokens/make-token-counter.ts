import { countMerges } from './count-merges.ts';
import type { TokenCounter } from './counter.ts';
import { o200kRanks } from './o200k-ranks.ts';
import { pieceEnd } from './piece-end.ts';

/**
 * A longer unbroken run is counted in cuts of this many UTF-16 units, because merging is quadratic. Words of no
 * language are as long; the error on a run is under one token a cut.
 */
const LONGEST_PIECE = 128;

/** Entries of one generation of the memo; two are kept, about 10 MB together. */
const MEMO_ENTRIES = 50_000;

/**
 * From this length on V8 makes a piece a view of its whole text, which a memo would keep alive; there a decoded copy
 * is remembered instead.
 */
const SLICED_FROM = 13;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Counts as js-tiktoken's o200k_base does, with special tokens as plain text. Text is cut into the encoding's own
 * pieces and each piece's count is remembered: traces say the same words over and over. The ranks (0.2 s, 40 MB)
 * are decoded at the first count and shared; the memo is the counter's own, so keep one counter.
 */
export function makeTokenCounter(): TokenCounter {
  let recent = new Map<string, number>();
  let older = new Map<string, number>();

  const countPiece = (piece: string): number => {
    const known = recent.get(piece) ?? older.get(piece);
    if (known !== undefined) return known;
    const utf8 = isAscii(piece) ? null : encoder.encode(piece);
    const count = countMerges(utf8 === null ? piece : String.fromCharCode(...utf8), o200kRanks());
    if (recent.size >= MEMO_ENTRIES) {
      older = recent;
      recent = new Map();
    }
    recent.set(piece.length < SLICED_FROM ? piece : decoder.decode(utf8 ?? encoder.encode(piece)), count);
    return count;
  };

  return {
    count(text) {
      let tokens = 0;
      const wellFormed = text.toWellFormed();
      for (let start = 0; start < wellFormed.length; ) {
        const end = pieceEnd(wellFormed, start);
        const piece = wellFormed.slice(start, end);
        start = end;
        if (piece.length <= LONGEST_PIECE) tokens += countPiece(piece);
        else for (const cut of cuts(piece)) tokens += countPiece(cut);
      }
      return tokens;
    },
    bounds(text) {
      const bytes = utf8Length(text);
      return { low: Math.floor(bytes / 8), high: Math.ceil(bytes / 1.4) };
    },
  };
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}

/** Pieces of at most LONGEST_PIECE units, no surrogate pair cut. */
function* cuts(piece: string): Generator<string> {
  for (let from = 0; from < piece.length; ) {
    let to = Math.min(from + LONGEST_PIECE, piece.length);
    const last = piece.charCodeAt(to - 1);
    if (to < piece.length && last >= 0xd800 && last <= 0xdbff) to--;
    yield piece.slice(from, to);
    from = to;
  }
}

/** Length of the text in UTF-8 bytes, without encoding it. Lone surrogates count as U+FFFD. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // A surrogate pair is 4 bytes in 2 units, so 1 more for each; a lone one is 3 bytes in 1 unit.
    if (unit < 0x800) bytes += 1;
    else if (unit < 0xd800 || unit > 0xdfff) bytes += 2;
    else if (unit < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      bytes += 2;
      i++;
    } else bytes += 2;
  }
  return bytes;
}
