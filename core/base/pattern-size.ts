const REPEAT = /\{(\d{1,5})(?:,(\d{0,5}))?\}/y;
const CLASS_NAME = /\\[pP](?:\{[^}]{0,40}\}|.)/y;

/** A group that is still open: what it holds so far, and its last item, which a repeat would copy. */
interface Group {
  done: number;
  last: number;
}

/**
 * About how many instructions a regular expression compiles to, without compiling it: RE2 writes every `{n}` out, and
 * that takes a second for `a{1000}` thirty times. Linear in the pattern. Where it errs (quoted text, flags) it errs
 * upwards; what is no regular expression at all is left to the compiler.
 */
export function estimatePatternSize(source: string): number {
  const open: Group[] = [];
  let group: Group = { done: 0, last: 0 };
  let at = 0;
  const item = (size: number, length: number): void => {
    group = { done: group.done + group.last, last: size };
    at += length;
  };
  while (at < source.length) {
    const character = source[at];
    REPEAT.lastIndex = at;
    const repeat = character === '{' ? REPEAT.exec(source) : null;
    if (repeat !== null) {
      const [whole, least = '', most = ''] = repeat;
      group.last *= Math.max(1, Number(least), Number(most)) + (whole.endsWith(',}') ? 1 : 0);
      at += whole.length;
    } else if (character === '(') {
      open.push(group);
      group = { done: 0, last: 2 };
      at += 1;
    } else if (character === ')') {
      const size = group.done + group.last;
      group = open.pop() ?? { done: 0, last: 0 };
      item(size, 1);
    } else if (character === '[') item(1, classLength(source, at));
    else if (character === '\\') {
      CLASS_NAME.lastIndex = at;
      item(1, CLASS_NAME.exec(source)?.[0].length ?? 2);
    } else if (character === '*' || character === '+' || character === '?') {
      group.last += 1;
      at += 1;
    } else item(1, 1);
  }
  return [...open, group].reduce((sum, { done, last }) => sum + done + last, 0);
}

/** From `[` to the `]` that ends it; one that stands first is a member. */
function classLength(source: string, start: number): number {
  let at = start + (source[start + 1] === '^' ? 2 : 1);
  if (source[at] === ']') at += 1;
  while (at < source.length && source[at] !== ']') at += source[at] === '\\' ? 2 : 1;
  return at + 1 - start;
}
