import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { o200kPieces } from '../../../../core/planning/tokens/o200k-ranks.ts';
import { pieceEnd } from '../../../../core/planning/tokens/piece-end.ts';

function pieces(text: string): string[] {
  const found: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start);
    found.push(text.slice(start, end));
    start = end;
  }
  return found;
}

/** Few characters, so that every neighbourhood of kinds comes up. */
const dense = fc.string({
  unit: fc.constantFrom(
    ...`aZ19'"/.-_\n\r\t\v sStTmMdDrReEvVlL`,
    ' ',
    'é',
    'ſ',
    '中',
    '\u00a0',
    '\u0301',
    '½',
    '😀',
    '\u0085',
    '\u001f',
  ),
  maxLength: 12,
});

describe('pieces', () => {
  test("are those of the encoding's expression", () => {
    const expression = o200kPieces('gu');
    const same = (text: string): void => {
      expect(pieces(text)).toEqual(text.match(expression) ?? []);
    };
    fc.assert(fc.property(dense, same), { numRuns: 20_000 });
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 30 }), same), { numRuns: 2000 });
    fc.assert(fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 60 }), same), { numRuns: 2000 });
  });
});
