import { o200kPieces } from './o200k-ranks.ts';

/** Kinds of ASCII characters as the encoding's expression tells them apart. */
const OTHER = 0;
const UPPER = 1;
const LOWER = 2;
const DIGIT = 3;
const SPACE = 4;
const NEWLINE = 5;
/** Beyond ASCII: the expression itself decides. */
const WIDE = 6;
const END = 7;

const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const unit = String.fromCharCode(code);
  if (/[A-Z]/.test(unit)) return UPPER;
  if (/[a-z]/.test(unit)) return LOWER;
  if (/[0-9]/.test(unit)) return DIGIT;
  if (/[\r\n]/.test(unit)) return NEWLINE;
  return /\s/.test(unit) ? SPACE : OTHER;
});
const SLASH = 47;
const APOSTROPHE = 39;
const BLANK = 32;

let atIndex: RegExp | undefined;

/**
 * Where the encoding's piece that begins at `start` ends. Does by hand what the expression does on ASCII, at twice its
 * speed (no match objects), and asks the expression as soon as another character could play a part.
 */
export function pieceEnd(text: string, start: number): number {
  const end = asciiPieceEnd(text, start);
  if (end !== null) return end;
  atIndex ??= o200kPieces('uy');
  atIndex.lastIndex = start;
  // Every character begins some piece; should that fail, one unit is the way on.
  return atIndex.test(text) ? atIndex.lastIndex : start + 1;
}

function kindAt(text: string, index: number): number {
  if (index >= text.length) return END;
  const code = text.charCodeAt(index);
  return code < 128 ? (KINDS[code] ?? OTHER) : WIDE;
}

function asciiPieceEnd(text: string, start: number): number | null {
  const kind = kindAt(text, start);
  if (kind === WIDE) return null;
  if (kind === UPPER || kind === LOWER) return wordEnd(text, start);
  if (kind === DIGIT) {
    let end = start + 1;
    while (end < start + 3 && kindAt(text, end) === DIGIT) end++;
    return end < start + 3 && kindAt(text, end) === WIDE ? null : end;
  }
  const next = kindAt(text, start + 1);
  if (next === WIDE) return null;
  if (kind !== NEWLINE && (next === UPPER || next === LOWER)) return wordEnd(text, start + 1);
  if (kind === OTHER) return signsEnd(text, start);
  if (next === OTHER && text.charCodeAt(start) === BLANK) return signsEnd(text, start + 1);
  return spaceEnd(text, start);
}

/** Upper-case then lower-case letters, and an English contraction. */
function wordEnd(text: string, start: number): number | null {
  let end = start;
  while (kindAt(text, end) === UPPER) end++;
  while (kindAt(text, end) === LOWER) end++;
  if (kindAt(text, end) === WIDE) return null;
  if (text.charCodeAt(end) !== APOSTROPHE) return end;
  const first = (text[end + 1] ?? '').toLowerCase();
  if (kindAt(text, end + 1) === WIDE || kindAt(text, end + 2) === WIDE) return null;
  if (first === 's' || first === 't' || first === 'm' || first === 'd') return end + 2;
  const both = text.slice(end + 1, end + 3).toLowerCase();
  return both === 're' || both === 've' || both === 'll' ? end + 3 : end;
}

/** Signs, then line ends and slashes. */
function signsEnd(text: string, start: number): number | null {
  let end = start;
  while (kindAt(text, end) === OTHER) end++;
  if (kindAt(text, end) === WIDE) return null;
  while (kindAt(text, end) === NEWLINE || text.charCodeAt(end) === SLASH) end++;
  return end;
}

/** To the last line end of the white space; else all but the blank that belongs to what follows. */
function spaceEnd(text: string, start: number): number | null {
  let end = start;
  let afterNewline = -1;
  for (;;) {
    const kind = kindAt(text, end);
    if (kind !== SPACE && kind !== NEWLINE) break;
    end++;
    if (kind === NEWLINE) afterNewline = end;
  }
  const kind = kindAt(text, end);
  if (kind === WIDE) return null;
  if (afterNewline !== -1) return afterNewline;
  return kind === END || end - start === 1 ? end : end - 1;
}
