import { codePoints } from '../prompting/render-text.ts';
import type { TokenCounter } from './tokens/counter.ts';

/** A range of code points of a text, with the tokens it takes. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
  readonly tokens: number;
}

/** Code points counted at a time: small against any sensible budget, large enough that the seams do not show. */
const BLOCK = 1024;

/**
 * Cuts a text into ranges of at most `budget` tokens each, without a hole, between code points. `cost` counts a
 * range as it will stand in the prompt. A range of one code point may exceed the budget: nothing can be smaller.
 */
export function splitText(
  text: string,
  budget: number,
  counter: TokenCounter,
  cost: (slice: string, from: number, to: number) => number,
): TextRange[] {
  const block = Math.max(1, Math.min(BLOCK, Math.floor(budget / 8)));
  // Where each block begins, in code points and in UTF-16 units.
  const marks: { point: number; unit: number }[] = [{ point: 0, unit: 0 }];
  const length = codePoints(text);
  let unit = 0;
  for (let point = 0; point < length; ) {
    const next = Math.min(point + block, length);
    for (; point < next; point++) unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
    marks.push({ point, unit });
  }
  const sizes = marks.slice(1).map((mark, i) => counter.count(text.slice(marks[i]?.unit, mark.unit)));

  const ranges: TextRange[] = [];
  for (let first = 0; first < sizes.length; ) {
    let end = first + 1;
    for (let sum = sizes[first] ?? 0; end < sizes.length; end++) {
      sum += sizes[end] ?? 0;
      if (sum > budget) break;
    }
    // Blocks counted apart and together differ by a few tokens, and the range's own line costs some.
    for (;;) {
      const from = marks[first] ?? { point: 0, unit: 0 };
      const to = marks[end] ?? { point: length, unit: text.length };
      const tokens = cost(text.slice(from.unit, to.unit), from.point, to.point);
      if (tokens <= budget || end === first + 1) {
        ranges.push({ from: from.point, to: to.point, tokens });
        first = end;
        break;
      }
      end--;
    }
  }
  return ranges;
}
