/** A place in a model's text where a JSON value may stand. */
export interface JsonSpan {
  readonly text: string;
  /** Offset in the whole text. */
  readonly start: number;
  /** The brackets were never closed: the answer was cut. */
  readonly open: boolean;
  /** It stands in a code fence, so it is meant as a value and not as part of a sentence. */
  readonly fenced: boolean;
}

const OPENERS = '{[';
const CLOSERS = '}]';

/**
 * Every outermost run of balanced brackets, in order: first those inside code fences, then those of the whole text,
 * so an unclosed bracket in the prose before a fence hides nothing. Linear; strings with either quote are respected.
 */
export function findJsonSpans(text: string): JsonSpan[] {
  return [
    ...listFences(text).flatMap(({ inside, offset }) => scanBrackets(inside, offset, true)),
    ...scanBrackets(text, 0, false),
  ];
}

/** Insides of code fences that begin a line; the last may be unclosed. */
function listFences(text: string): { inside: string; offset: number }[] {
  const fences: { inside: string; offset: number }[] = [];
  let offset = 0;
  for (const [index, inside] of text.split(/^```/m).entries()) {
    if (index % 2 === 1) fences.push({ inside, offset });
    offset += inside.length + 3;
  }
  return fences;
}

function scanBrackets(text: string, offset: number, fenced: boolean): JsonSpan[] {
  const spans: JsonSpan[] = [];
  let start = -1;
  let depth = 0;
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (depth === 0) {
      if (OPENERS.includes(char)) {
        start = i;
        depth = 1;
      }
    } else if (quote !== '') {
      if (char === '\\') i++;
      else if (char === quote && (quote === '"' || endsString(text, i))) quote = '';
    } else if (char === '"' || (char === "'" && startsString(text, i))) {
      quote = char;
    } else if (OPENERS.includes(char)) {
      depth++;
    } else if (CLOSERS.includes(char)) {
      depth--;
      if (depth === 0)
        spans.push({ text: text.slice(start, i + 1), start: offset + start, open: false, fenced });
    }
  }
  if (depth > 0) spans.push({ text: text.slice(start), start: offset + start, open: true, fenced });
  return spans;
}

/** An apostrophe opens a string only where a key or value may begin. */
function startsString(text: string, at: number): boolean {
  return '{[,:('.includes(neighbour(text, at, -1));
}

/** An apostrophe inside a single-quoted string ends it only where a key or value may end. */
function endsString(text: string, at: number): boolean {
  return '}],:)'.includes(neighbour(text, at, 1));
}

/** Nearest character that is not white space, looking at most 100 steps; '' at the edge, which `includes` accepts. */
function neighbour(text: string, at: number, step: 1 | -1): string {
  for (let i = at + step, n = 0; i >= 0 && i < text.length && n < 100; i += step, n++) {
    const char = text.charAt(i);
    if (char.trim() !== '') return char;
  }
  return '';
}
